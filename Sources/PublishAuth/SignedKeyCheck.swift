import LibAV
import MediaTypes
package import PipelineSpec
package import RTMP

/// Checks stream keys that another service issues for one room, one user and a limited time. The service and the worker
/// share a secret, so neither has to ask the other.
///
/// The path of a signed address names the source, by uid or `uid/sub`; the query contains the rest. A key may be used
/// again until it expires, so that an encoder can reconnect with the same address; see ``UsedKeyStore`` for single-use
/// keys. Pure: the time is a parameter.
package struct SignedKeyCheck: Sendable {
    /// The signature scheme of a key.
    package typealias Form = Pipeline.Auth.Kind

    package enum Verdict: Sendable, Hashable {
        /// The signature is valid and the key has not expired.
        ///
        /// - Parameters:
        ///   - nonce: The part that makes the key unique.
        ///   - expiry: Unix time in seconds.
        case valid(nonce: String, expiry: Int64)
        /// The query has no signature of the configured scheme.
        case absent
        /// The signature is right, but the key has expired.
        case expired
        /// The signature does not fit, or the expiry cannot be read.
        case wrong
    }

    package var form: Form
    /// Secrets that may sign keys. All of them are tried, so that a new secret can be introduced before the old one is
    /// removed.
    package var secrets: [String]
    package var room: String
    /// Application name of the listener, part of what Alibaba's form signs.
    package var app: String
    /// Maximum difference between the clocks of the key's issuer and of the worker, in seconds.
    package var skew: Int64 = 30
    /// Validity of a key of `Form.alibaba`, in seconds from the time in it.
    package var validity: Int64 = 86_400

    package init(form: Form, secrets: [String], room: String, app: String) {
        self.form = form
        self.secrets = secrets
        self.room = room
        self.app = app
    }

    /// Checks the signature and the expiry of the key in an address.
    ///
    /// - Parameters:
    ///   - name: The path of `address` after the app, as sent.
    ///   - now: Unix time in seconds.
    package func verdict(on address: StreamAddress, name: String, now: Int64) -> Verdict {
        func value(_ key: String) -> String? { address.query.first { $0.name == key }?.value }
        switch self.form {
        case .hmac:
            guard let expiry = value("e"), let nonce = value("n"), let signature = value("s") else { return .absent }
            let offered = Array(signature.utf8.prefix { $0 != UInt8(ascii: "=") })
            return self.verdict(Int64(decimal: expiry), nonce, now) { secret in
                let signature = self.signature(name: name, expiry: expiry, nonce: nonce, secret: secret)
                return ConstantTime.isEqual(Array(signature.utf8), offered)
            }
        case .tencent:
            guard let expiry = value("txTime"), let digest = value("txSecret") else { return .absent }
            let offered = Array(digest.utf8).map(\.lowercase)
            // The digest is compared in lower case, because hexadecimal letters of both cases are the same key.
            return self.verdict(Int64(hexadecimal: expiry), String(decoding: offered, as: UTF8.self), now) { secret in
                let text = Array("\(secret)\(name)\(expiry)".utf8)
                // Both digests are always computed, so that the time does not tell whether the signature was right.
                let isMD5 = ConstantTime.isEqual(Hexadecimal.encode(Digest.md5(of: text)), offered)
                let isSHA256 = ConstantTime.isEqual(Hexadecimal.encode(Digest.sha256(of: text)), offered)
                return isMD5 || isSHA256
            }
        case .alibaba:
            guard let key = value("auth_key") else { return .absent }
            let parts = key.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 4 else { return .wrong }
            let offered = Array(parts[3].utf8).map(\.lowercase)
            let stamped = parts[..<3].joined(separator: "-")
            let expiry = Int64(decimal: parts[0]).flatMap { time -> Int64? in
                let sum = time.addingReportingOverflow(self.validity)
                return sum.overflow ? nil : sum.partialValue
            }
            // The nonce is all signed parts except the name, because most issuers write 0 for RAND and UID.
            return self.verdict(expiry, stamped, now) { secret in
                let text = Array("/\(self.app)/\(name)-\(stamped)-\(secret)".utf8)
                return ConstantTime.isEqual(Hexadecimal.encode(Digest.md5(of: text)), offered)
            }
        }
    }

    /// Returns the signature of `Form.hmac`, in base64url without padding.
    ///
    /// - Parameters:
    ///   - name: The source's name as written in the address.
    ///   - expiry: The expiry in decimal, as written in the address.
    func signature(name: String, expiry: String, nonce: String, secret: String) -> String {
        let text = "rtmp1|\(self.room)|\(name)|\(expiry)|\(nonce)"
        let code = MessageAuthentication.hmacSHA256(key: Array(secret.utf8), message: Array(text.utf8))
        return String(decoding: Base64URL.encode(code), as: UTF8.self)
    }

    private func verdict(
        _ expiry: Int64?, _ nonce: String, _ now: Int64, _ isRight: (String) -> Bool
    ) -> Verdict {
        var isSigned = false
        // All secrets are tried, even after a match, so that the time does not depend on which one matches.
        for secret in self.secrets where !secret.isEmpty { isSigned = isRight(secret) || isSigned }
        guard isSigned, let expiry else { return .wrong }
        return now &- self.skew > expiry ? .expired : .valid(nonce: nonce, expiry: expiry)
    }
}

extension SignedKeyCheck: CustomStringConvertible, CustomReflectable {
    package var description: String { "SignedKeyCheck(\(self.form.rawValue), \(self.secrets.count) secrets)" }

    /// Hides the secrets from `dump` and from the description of values that contain this one.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>(), displayStyle: .struct) }
}

enum Base64URL {
    /// Encodes bytes as base64url without padding. Spec: RFC 4648 §5.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        Base64.encode(bytes).utf8.compactMap { digit in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: digit
            }
        }
    }
}

extension UInt8 {
    fileprivate var lowercase: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }
}

extension Int64 {
    /// Reads a decimal number of at most 12 digits; nil for any other text.
    fileprivate init?(decimal text: some StringProtocol) {
        guard (1...12).contains(text.utf8.count), text.isDigits else { return nil }
        self.init(text)
    }

    /// Reads a hexadecimal time of at most eight digits, which reach up to the year 2106. `SignedKeyCheck.Form.tencent`
    /// signs name and expiry without a separator. With more digits, a key for the name `1001` would also be one for
    /// `100`, with the last 1 as part of its expiry.
    fileprivate init?(hexadecimal text: String) {
        guard (1...8).contains(text.utf8.count), text.utf8.allSatisfy({ $0 != 0x2b && $0 != 0x2d }) else { return nil }
        self.init(text, radix: 16)
    }
}
