import LibAV
import MediaTypes

/// Signs requests for Amazon's services and compatible ones.
///
/// Spec: AWS Signature Version 4, "Create a signed AWS API request", header form. Pure.
package struct SignatureV4: Sendable, Hashable, CustomReflectable {
    package let accessKey: String
    private let secretKey: String
    package let region: String
    package let service: String

    package init(accessKey: String, secretKey: String, region: String, service: String) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.region = region
        self.service = service
    }

    /// Keeps the secret out of dumps.
    package var customMirror: Mirror { Mirror(self, children: ["region": self.region, "service": self.service]) }

    /// The value of `authorization`.
    ///
    /// - Parameters:
    ///   - path: Begins with a slash; percent-encoded as it is sent.
    ///   - query: Names and values, not encoded.
    ///   - fields: All signed fields, including `host` and `x-amz-date`; names in lower case.
    ///   - payloadHash: SHA-256 of the body in hex.
    ///   - time: The value of `x-amz-date`, see ``date(_:)``.
    package func authorization(
        method: String, path: String, query: [(name: String, value: String)] = [],
        fields: [(name: String, value: String)], payloadHash: String, time: String
    ) -> String {
        let sorted = fields.sorted { $0.name < $1.name }
        let names = sorted.map(\.name).joined(separator: ";")
        let parameters = query.map { (Self.encoded($0.name), Self.encoded($0.value)) }.sorted { $0 < $1 }
        let canonical = [
            method, path, parameters.map { "\($0)=\($1)" }.joined(separator: "&"),
            sorted.map { "\($0.name):\(Self.trimmed($0.value))\n" }.joined(), names, payloadHash,
        ].joined(separator: "\n")
        let day = String(time.prefix(8))
        let scope = "\(day)/\(self.region)/\(self.service)/aws4_request"
        let text = ["AWS4-HMAC-SHA256", time, scope, Self.hash(Array(canonical.utf8))].joined(separator: "\n")
        var key = Array("AWS4\(self.secretKey)".utf8)
        for word in [day, self.region, self.service, "aws4_request"] { key = Self.code(word, key) }
        return "AWS4-HMAC-SHA256 Credential=\(self.accessKey)/\(scope),SignedHeaders=\(names),"
            + "Signature=\(Hexadecimal.text(Self.code(text, key)))"
    }

    private static func code(_ text: String, _ key: [UInt8]) -> [UInt8] {
        MessageAuthentication.hmacSHA256(key: key, message: Array(text.utf8))
    }

    /// SHA-256 in hex.
    package static func hash(_ bytes: [UInt8]) -> String { Hexadecimal.text(Digest.sha256(of: bytes)) }

    /// Consecutive spaces become one.
    private static func trimmed(_ value: String) -> String { value.split(separator: " ").joined(separator: " ") }

    /// Percent-encodes everything but unreserved characters, in upper case. Spec: RFC 3986 §2.3.
    ///
    /// - Parameter slashes: Leaves slashes as they are.
    package static func encoded(_ text: String, slashes: Bool = false) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: bytes.append(byte)
            case 0x2f where slashes: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// ISO 8601 basic format, in UTC.
    ///
    /// - Parameter seconds: Since the Unix epoch.
    package static func date(_ seconds: Int64) -> String {
        let (days, time) = (seconds / 86_400, seconds % 86_400)
        // Civil date from a day number: eras of 400 years that begin in March, so that the leap day is the last day of
        // a year.
        let shifted = days + 719_468
        let (era, day) = (shifted / 146_097, shifted % 146_097)
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let civil = (
            year: year + era * 400 + (month >= 10 ? 1 : 0), month: month < 10 ? month + 3 : month - 9,
            day: dayOfYear - (153 * month + 2) / 5 + 1
        )
        return "\(civil.year)\(two(civil.month))\(two(civil.day))T"
            + "\(two(time / 3_600))\(two(time / 60 % 60))\(two(time % 60))Z"
    }
}
