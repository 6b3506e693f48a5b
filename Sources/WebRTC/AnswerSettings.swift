package import MediaTypes

/// What this program contributes to the answer to a WebRTC offer.
package struct AnswerSettings: Sendable, Hashable {
    /// An address at which clients reach this program, written as a `host` candidate (RFC 8839 §5.1).
    package struct Candidate: Sendable, Hashable {
        /// IPv4 or IPv6 address in text form, without brackets.
        package var address: String
        package var port: UInt16
        /// Whether peers connect by TCP (`tcptype passive`, RFC 6544).
        package var isTCP: Bool

        package init(address: String, port: UInt16, isTCP: Bool = false) {
            self.address = address
            self.port = port
            self.isTCP = isTCP
        }
    }

    /// Highest average bit rate of Opus that publishers are asked for, in bits per second.
    package static let audioBitrate = 128_000

    /// This program's ICE credentials of the session.
    package var credentials: ICECredentials
    /// Digest of this program's certificate.
    package var fingerprint: SDPFingerprint
    package var candidates: [Candidate]
    /// Accepted video codecs in order of preference; only `h264`, `vp8` and `vp9` have an effect.
    package var videoCodecs: [CodecName]
    package var takesOpus: Bool
    /// Bit rate in kbit/s at which libwebrtc starts to send video. Without this hint, its first frames are scaled down.
    package var startBitrateKbps: Int
    /// Highest video bit rate in kbit/s; nil: the publisher's own limit.
    package var maxBitrateKbps: Int?
    /// Number that identifies the session in the `o=` line. Any value; it does not have to be secret.
    package var sessionID: UInt64

    package init(
        credentials: ICECredentials, fingerprint: SDPFingerprint, candidates: [Candidate],
        videoCodecs: [CodecName] = [.h264, .vp8, .vp9], takesOpus: Bool = true, startBitrateKbps: Int = 2000,
        maxBitrateKbps: Int? = nil, sessionID: UInt64
    ) {
        self.credentials = credentials
        self.fingerprint = fingerprint
        self.candidates = candidates
        self.videoCodecs = videoCodecs
        self.takesOpus = takesOpus
        self.startBitrateKbps = startBitrateKbps
        self.maxBitrateKbps = maxBitrateKbps
        self.sessionID = sessionID
    }
}
