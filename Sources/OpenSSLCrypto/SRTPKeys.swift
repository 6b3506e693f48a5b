/// The keys that a DTLS handshake has agreed on, by side.
///
/// Spec: RFC 5764 §4.2; RFC 7714 §12 for the size of salts with GCM.
package struct SRTPKeys: Sendable, Hashable {
    /// A protection profile, by its name in the registry of DTLS-SRTP.
    package enum Profile: String, Sendable, Hashable, CaseIterable {
        /// AES-128 in GCM with a tag of 16 bytes (RFC 7714 §14.2).
        case aes128GCM = "AEAD_AES_128_GCM"
        /// AES-128 in counter mode, with HMAC-SHA1 cut to a tag of 10 bytes (RFC 5764 §4.1.2).
        case aes128CMSHA1 = "AES128_CM_SHA1_80"

        /// Size of a master key, in bytes.
        package var keySize: Int { 16 }
        /// Size of a master salt, in bytes.
        package var saltSize: Int { self == .aes128GCM ? 12 : 14 }
        /// Size of an authentication tag, in bytes.
        package var tagSize: Int { self == .aes128GCM ? 16 : 10 }
    }

    package let profile: Profile
    /// Master key for what this side sends; 16 bytes.
    package let localKey: [UInt8]
    /// Master salt for what this side sends; ``Profile/saltSize`` bytes.
    package let localSalt: [UInt8]
    /// Master key for what the peer sends.
    package let remoteKey: [UInt8]
    /// Master salt for what the peer sends.
    package let remoteSalt: [UInt8]

    package init(
        profile: Profile, localKey: [UInt8], localSalt: [UInt8], remoteKey: [UInt8], remoteSalt: [UInt8]
    ) {
        self.profile = profile
        self.localKey = localKey
        self.localSalt = localSalt
        self.remoteKey = remoteKey
        self.remoteSalt = remoteSalt
    }
}

extension SRTPKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The profile only, so that keys do not get into logs.
    package var description: String { "SRTPKeys(\(self.profile.rawValue))" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: ["profile": self.profile.rawValue]) }
}
