import Foundation
import MediaTypes
import WebRTC

/// Offers of WHIP clients under `Offers/`; see the README there.
enum Offers {
    /// Offers that are accepted.
    static let accepted = [
        "aiortc", "chromium", "chromium-audio", "chromium-sendrecv", "chromium-simulcast", "ffmpeg",
        "ffmpeg-8-video-written", "ffmpeg-dtls-active", "firefox", "firefox-simulcast", "obs-simulcast-written",
        "obs-written",
    ]

    static func text(_ name: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Offers/\(name).sdp")
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// The settings of all golden answers.
    static let settings = AnswerSettings(
        credentials: ICECredentials(ufrag: "OekIMsK/", password: "aPHokNaddphe2WuFEurJcfFL"),
        fingerprint: SDPFingerprint(algorithm: "sha-256", bytes: (0..<32).map { UInt8($0 * 7) }),
        candidates: [
            .init(address: "192.0.2.2", port: 21150, isTCP: true), .init(address: "192.0.2.2", port: 21150),
            .init(address: "2001:db8::2", port: 21150),
        ], sessionID: 543_596_210)

    static func answer(
        _ offer: String, settings: AnswerSettings = Offers.settings
    ) throws(WHIPError) -> (session: NegotiatedSession, answer: String) {
        try SDPNegotiation.answer(to: Array(offer.utf8), settings: settings)
    }

    /// The error with which an offer is refused; nil if it is accepted.
    static func refusal(of offer: String) -> WHIPError? {
        do throws(WHIPError) {
            _ = try Self.answer(offer)
            return nil
        } catch { return error }
    }
}

extension String {
    /// Without the lines that begin with the text.
    func without(_ start: String) -> String {
        self.components(separatedBy: "\r\n").filter { !$0.hasPrefix(start) }.joined(separator: "\r\n")
    }
}
