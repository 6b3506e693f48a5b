import LibAV
import MediaTypes

/// Signs HTTP requests for AWS and compatible services.
///
/// Spec: AWS Signature Version 4, "Create a signed AWS API request", header form. A pure value.
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

    /// Keeps the secret key out of debug output.
    package var customMirror: Mirror { Mirror(self, children: ["region": self.region, "service": self.service]) }

    /// Returns the value of the `authorization` header field.
    ///
    /// - Parameters:
    ///   - path: Path as it is sent: percent-encoded, with a leading slash.
    ///   - query: Names and values that are not percent-encoded yet.
    ///   - fields: All signed header fields, including `host` and `x-amz-date`; names in lower case.
    ///   - payloadHash: SHA-256 of the body in hexadecimal digits.
    ///   - time: The value of `x-amz-date`, see ``date(_:)``.
    package func authorization(
        method: String, path: String, query: [(name: String, value: String)] = [],
        fields: [(name: String, value: String)], payloadHash: String, time: String
    ) -> String {
        let sorted = fields.sorted { $0.name < $1.name }
        let names = sorted.map(\.name).joined(separator: ";")
        let parameters = query.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }.sorted {
            $0 < $1
        }
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

    /// Returns the SHA-256 hash of bytes in hexadecimal digits.
    package static func hash(_ bytes: [UInt8]) -> String { Hexadecimal.text(Digest.sha256(of: bytes)) }

    /// Removes spaces at both ends and reduces consecutive spaces to one, as the canonical request requires.
    private static func trimmed(_ value: String) -> String { value.split(separator: " ").joined(separator: " ") }

    /// Formats a time in ISO 8601 basic format, in UTC.
    ///
    /// - Parameter seconds: Seconds since the Unix epoch.
    package static func date(_ seconds: Int64) -> String {
        let date = CivilDate(daysSinceEpoch: seconds / 86_400)
        let time = seconds % 86_400
        return "\(date.year)\(date.month.padded(2))\(date.day.padded(2))T"
            + "\((time / 3_600).padded(2))\((time / 60 % 60).padded(2))\((time % 60).padded(2))Z"
    }
}
