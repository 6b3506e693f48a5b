import Foundation
import MediaTypes
import Testing
import WebRTC

@Suite("SDP: unusual and hostile offers of WHEP viewers get a right answer or an error that names the reason")
struct ViewerBadInputTests {
    private static let h264 = ["a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f"]

    private static func offer(_ lines: [String] = h264) -> String { Self.received(Minimal.offer(lines: lines)) }

    private static func received(_ offer: String) -> String {
        offer.replacingOccurrences(of: "a=sendonly", with: "a=recvonly")
    }

    private static func answer(
        _ offer: some Sequence<UInt8>
    ) throws(WHIPError) -> (session: NegotiatedSession, answer: String) {
        try ViewerNegotiation.answer(
            to: Array(offer), program: .init(hasVideo: true, hasAudio: true),
            sources: ViewerSources(video: 100, videoRepair: 101, audio: 102, canonicalName: "c0ffee"),
            settings: Offers.settings)
    }

    private static func expectRefusal(
        _ offer: String, _ status: Int, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var error: WHIPError?
        do throws(WHIPError) { _ = try Self.answer(offer.utf8) } catch let thrown { error = thrown }
        #expect(error?.status == status, "\(error?.detail ?? "accepted")", sourceLocation: sourceLocation)
        for word in words {
            let isNamed = error.map { "\($0.detail) \($0.fix)".contains(word) } ?? false
            #expect(isNamed, "\(word) is missing: \(error?.detail ?? "")", sourceLocation: sourceLocation)
        }
    }

    @Test(
        "lines of a WHEP offer may end with LF or CR alone, or be mixed with empty lines",
        arguments: ["\n", "\r", "\r\n\r\n", "\n\r\n"])
    func lineEnds(end: String) throws {
        let usual = try Self.answer(Offers.text("chromium-sendrecv").utf8)
        let other = try Self.answer(
            Offers.text("chromium-sendrecv").replacingOccurrences(of: "\r\n", with: end).utf8)
        #expect(other.answer == usual.answer && other.session == usual.session)
    }

    @Test(
        "a WHEP offer of 64 KiB is answered; a byte more, a line over 4,096 bytes, 513 attributes or 200 sections get 413"
    )
    func sizes() throws {
        let filler = "a=x-unknown:" + String(repeating: "y", count: 4000) + "\r\n"
        var offer = Self.offer()
        while offer.utf8.count + filler.utf8.count <= 64 << 10 { offer += filler }
        offer += "a=" + String(repeating: "z", count: (64 << 10) - offer.utf8.count - 4) + "\r\n"
        try #require(offer.utf8.count == 64 << 10)
        #expect(throws: Never.self) { try Self.answer(offer.utf8) }
        Self.expectRefusal(offer + "\n", 413, "65536")
        Self.expectRefusal(Self.offer() + "a=" + String(repeating: "z", count: 4095), 413, "4096")
        Self.expectRefusal(Self.offer() + String(repeating: "a=x\r\n", count: 513), 413, "512 attributes")
        let disabled = "m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\n"
        Self.expectRefusal(Self.offer() + String(repeating: disabled, count: 199), 413, "32")
        let answer = try Self.answer((Self.offer() + String(repeating: disabled, count: 31)).utf8).answer
        #expect(answer.components(separatedBy: "\r\n").count { $0.hasPrefix("m=application 0 ") } == 31)
    }

    @Test(
        "a WHEP offer without bundle, DTLS-SRTP, rtcp-mux, H264 or media to receive, or with two videos or data, gets 422 and a remedy"
    )
    func notAllowed() throws {
        Self.expectRefusal(Self.offer() + Self.received(Minimal.audio()), 422, "bundle", "BUNDLE")
        let second = Self.offer().components(separatedBy: "t=0 0\r\n")[1]
        Self.expectRefusal(Self.offer() + second, 422, "more than one video", "offer one video section")
        Self.expectRefusal(
            Self.offer() + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", 422, "application", "data channels")
        Self.expectRefusal(
            Self.offer().replacingOccurrences(of: "a=recvonly", with: "a=sendonly"), 422, "sendonly", "recvonly")
        Self.expectRefusal(
            Self.offer().replacingOccurrences(of: "m=video 9", with: "m=video 0"), 422, "no audio or video", "receive")
        Self.expectRefusal(
            Self.offer().replacingOccurrences(of: "UDP/TLS/RTP/SAVPF", with: "RTP/AVP"), 422, "RTP/AVP", "DTLS-SRTP")
        Self.expectRefusal(Self.offer().without("a=rtcp-mux"), 422, "rtcp-mux")
        Self.expectRefusal(Self.offer(["a=rtpmap:96 AV1/90000"]), 422, "AV1", "H264")
    }

    @Test("a WHEP offer with a missing, weak or malformed fingerprint, without ice-pwd, or with ICE-lite is refused")
    func transport() {
        Self.expectRefusal(Self.offer().without("a=fingerprint"), 422, "fingerprint", "sha-256")
        let sha1 = "a=fingerprint:sha-1 " + (0..<20).map { _ in "AB" }.joined(separator: ":")
        Self.expectRefusal(
            Self.offer().replacingOccurrences(of: Minimal.fingerprint, with: sha1), 422, "sha-256")
        Self.expectRefusal(
            Self.offer().replacingOccurrences(of: Minimal.fingerprint, with: "a=fingerprint:sha-256 AB:CD"), 400)
        Self.expectRefusal(Self.offer().without("a=ice-pwd"), 422, "ice-pwd")
        Self.expectRefusal(Self.offer() + "a=ice-lite\r\n", 422, "ICE-lite")
    }

    @Test(
        "in a WHEP offer fmtp may precede rtpmap, the first of repeated attributes counts, and the session level sets the transport"
    )
    func attributes() throws {
        let usual = try Self.answer(Self.offer().utf8)
        let reversed = try Self.answer(Self.offer(Self.h264.reversed()).utf8)
        #expect(reversed.session == usual.session)
        // Of repeated ones the first counts.
        let repeated = try Self.answer(
            Self.offer(Self.h264 + ["a=ice-ufrag:other", "a=ice-pwd:9999999999999999999999", "a=mid:w"]).utf8)
        #expect(repeated.session == usual.session)
        let own = [Minimal.fingerprint, "a=ice-ufrag:abcd", Minimal.password]
        var moved = Self.offer()
        for line in own { moved = moved.without(line) }
        moved = moved.replacingOccurrences(
            of: "t=0 0\r\n", with: "t=0 0\r\n" + own.map { $0 + "\r\n" }.joined())
        #expect(try Self.answer(moved.utf8).session == usual.session)
    }

    @Test("candidates in a WHEP offer change neither the answer nor the session, whatever they contain")
    func candidates() throws {
        let usual = try Self.answer(Self.offer().utf8)
        let hostile = [
            "a=candidate:1 1 UDP 2122252543 2388f482-5cdc-4938-90c5-eed0934e8568.local 51154 typ host",
            "a=candidate:2 1 udp 1 169.254.169.254 80 typ host", "a=candidate:3 1 tcp 1 127.0.0.1 22 typ host",
            "a=candidate:", "a=candidate:x y z 99999999999999999999", "a=end-of-candidates",
        ]
        let other = try Self.answer(Self.offer(Self.h264 + hostile).utf8)
        #expect(other.answer == usual.answer && other.session == usual.session)
    }
}
