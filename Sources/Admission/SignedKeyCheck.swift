import LibAV
import MediaTypes
package import PipelineSpec
package import RTMP

/// Checks stream keys that somebody else makes out for one room, one user and a time: the worker and whoever makes them share
/// a secret, and neither has to ask the other.
///
/// The path of a signed address names the source, by uid or `uid/sub`; the query holds the rest. A key may be used again until
/// it expires, so that an encoder that lost its network comes back with the address it has; see ``NonceStore`` for keys that
/// may not. Pure: time comes in.
package struct SignedKeyCheck: Sendable {
    /// Which signature a key has.
    package typealias Form = Pipeline.Auth.Kind

    package enum Verdict: Sendable, Hashable {
        /// - Parameters:
        ///   - nonce: What makes the key differ from all others.
        ///   - expiry: Unix time in seconds.
        case valid(nonce: String, expiry: Int64)
        /// There is no signature of this form.
        case absent
        /// The signature is right, and its time is over.
        case expired
        case wrong
    }

    package var form: Form
    /// Each is tried, so that a new one can be given out before the old one goes.
    package var secrets: [String]
    package var room: String
    /// Application name of the listener, part of what Alibaba's form signs.
    package var app: String
    /// Seconds the two clocks may differ by.
    package var skew: Int64 = 30
    /// Seconds from the time in a key of `Form.alibaba`.
    package var validity: Int64 = 86_400

    package init(form: Form, secrets: [String], room: String, app: String) {
        self.form = form
        self.secrets = secrets
        self.room = room
        self.app = app
    }

    /// - Parameters:
    ///   - name: What follows the app in the path of `address`, as sent.
    ///   - now: Unix time in seconds.
    package func verdict(on address: StreamAddress, name: String, now: Int64) -> Verdict {
        func value(_ key: String) -> String? { address.query.first { $0.name == key }?.value }
        switch self.form {
        case .hmac:
            guard let expiry = value("e"), let nonce = value("n"), let signature = value("s") else { return .absent }
            let offered = Array(signature.utf8.prefix { $0 != UInt8(ascii: "=") })
            let text = "rtmp1|\(self.room)|\(name)|\(expiry)|\(nonce)"
            return self.verdict(Int64(decimal: expiry), nonce, now) { secret in
                let code = MessageAuthentication.hmacSHA256(key: Array(secret.utf8), message: Array(text.utf8))
                return ConstantTime.isEqual(Base64URL.encode(code), offered)
            }
        case .tencent:
            guard let expiry = value("txTime"), let digest = value("txSecret") else { return .absent }
            let offered = Array(digest.utf8).map(\.lowercase)
            // In one spelling: both cases of its letters are the same key.
            return self.verdict(Int64(hexadecimal: expiry), String(decoding: offered, as: UTF8.self), now) { secret in
                let text = Array("\(secret)\(name)\(expiry)".utf8)
                // Both are always computed: which one was sent is no secret, whether it was right is.
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
            // All that is signed beside the name: most who make keys out write 0 for RAND and UID.
            return self.verdict(expiry, stamped, now) { secret in
                let text = Array("/\(self.app)/\(name)-\(stamped)-\(secret)".utf8)
                return ConstantTime.isEqual(Hexadecimal.encode(Digest.md5(of: text)), offered)
            }
        }
    }

    private func verdict(
        _ expiry: Int64?, _ nonce: String, _ now: Int64, _ isRight: (String) -> Bool
    ) -> Verdict {
        var isSigned = false
        // To the end, whichever is right.
        for secret in self.secrets where !secret.isEmpty { isSigned = isRight(secret) || isSigned }
        guard isSigned, let expiry else { return .wrong }
        return now &- self.skew > expiry ? .expired : .valid(nonce: nonce, expiry: expiry)
    }
}

extension SignedKeyCheck: CustomStringConvertible, CustomReflectable {
    package var description: String { "SignedKeyCheck(\(self.form.rawValue), \(self.secrets.count) secrets)" }

    /// Hides the secrets from `dump` and from the description of whatever holds it.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>(), displayStyle: .struct) }
}

enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Without padding.
    static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(self.alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(self.alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        return text
    }
}

extension UInt8 {
    fileprivate var lowercase: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }
}

extension Int64 {
    /// Digits only, and not too many for a time.
    fileprivate init?(decimal text: some StringProtocol) {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        self.init(text)
    }

    /// Eight digits reach up to 2106. Nothing stands between name and expiry in what `SignedKeyCheck.Form.tencent` signs: with
    /// more of them a key for the name `1001` would be one for `100`, too, with that 1 before its expiry.
    fileprivate init?(hexadecimal text: String) {
        guard (1...8).contains(text.utf8.count), text.utf8.allSatisfy({ $0 != 0x2b && $0 != 0x2d }) else { return nil }
        self.init(text, radix: 16)
    }
}
