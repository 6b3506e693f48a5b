import Foundation
import MediaTypes
import Testing
import WebRTC

@Suite("Answers to the offers of WHEP viewers: RFC 9429 §5.3, RFC 5576, RFC 8830")
struct ViewerNegotiationTests {
    private static let sources = ViewerSources(video: 100, videoRepair: 101, audio: 102, canonicalName: "c0ffee")

    private static func answer(
        _ offer: String, hasVideo: Bool = true, hasAudio: Bool = true, profile: UInt8? = nil
    ) throws(WHIPError) -> (session: NegotiatedSession, answer: String) {
        try ViewerNegotiation.answer(
            to: Array(offer.utf8), program: .init(hasVideo: hasVideo, hasAudio: hasAudio, profile: profile),
            sources: self.sources, settings: Offers.settings)
    }

    private static func refusal(_ offer: String, hasVideo: Bool = true, hasAudio: Bool = true) -> WHIPError? {
        do throws(WHIPError) {
            _ = try self.answer(offer, hasVideo: hasVideo, hasAudio: hasAudio)
            return nil
        } catch { return error }
    }

    private static func recvonly(_ offer: String) -> String {
        offer.replacingOccurrences(of: "a=sendonly", with: "a=recvonly")
    }

    private static let h264 = [
        "a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f", "a=rtcp-fb:96 nack",
        "a=rtcp-fb:96 nack pli", "a=rtcp-fb:96 goog-remb", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
    ]

    private static func offer(types: String = "96 97", lines: [String] = h264, hasAudio: Bool = false) -> String {
        let video = Minimal.offer(types: types, lines: lines)
        guard hasAudio else { return self.recvonly(video) }
        let bundle = video.replacingOccurrences(of: "t=0 0\r\n", with: "t=0 0\r\na=group:BUNDLE v a\r\n")
        return self.recvonly(bundle + Minimal.audio())
    }

    @Test(
        "the answer to a viewer is sendonly, with one stream for audio and video and an ssrc-group for retransmissions")
    func text() throws {
        let (session, answer) = try Self.answer(Self.offer(hasAudio: true))
        #expect(session.tracks.map(\.codec) == [.h264, .opus])
        let transport = [
            "a=rtcp-mux", "a=ice-ufrag:OekIMsK/", "a=ice-pwd:aPHokNaddphe2WuFEurJcfFL",
            "a=fingerprint:\(Offers.settings.fingerprint.text)", "a=setup:passive",
        ]
        let candidates = answer.components(separatedBy: "\r\n").filter { $0.hasPrefix("a=candidate:") }.prefix(3)
        #expect(candidates.count == 3)
        let end = Array(candidates) + ["a=end-of-candidates"]
        let expected =
            ["v=0", "o=- 543596210 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE v a", "a=ice-lite"]
            + ["a=msid-semantic: WMS program", "m=video 9 UDP/TLS/RTP/SAVPF 96 97", "c=IN IP4 0.0.0.0", "a=mid:v"]
            + ["a=sendonly"] + transport
            + [
                "a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f", "a=rtcp-fb:96 nack",
                "a=rtcp-fb:96 nack pli", "a=rtcp-fb:96 goog-remb", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
                "a=msid:program video", "a=ssrc-group:FID 100 101", "a=ssrc:100 cname:c0ffee",
                "a=ssrc:100 msid:program video", "a=ssrc:101 cname:c0ffee", "a=ssrc:101 msid:program video",
            ] + end
            + ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", "a=mid:a", "a=sendonly"] + transport
            + [
                "a=rtpmap:111 opus/48000/2", "a=fmtp:111 stereo=1;sprop-stereo=1", "a=msid:program audio",
                "a=ssrc:102 cname:c0ffee", "a=ssrc:102 msid:program audio",
            ] + end
        #expect(answer == expected.map { $0 + "\r\n" }.joined())
    }

    @Test(
        "of Chromium's formats, one in packetization mode 1 with rtx is chosen, with the stream's profile if offered",
        arguments: [0x42, 0x4D, 0x64, nil])
    func chromium(profile: UInt8?) throws {
        let (session, answer) = try Self.answer(Offers.text("chromium-sendrecv"), profile: profile)
        let video = try #require(session.tracks.first { $0.kind == .video })
        #expect(video.fmtp["packetization-mode"] == "1")
        let level = profile == 0x4D ? "4d001f" : profile == 0x42 ? "42001f" : "42e01f"
        #expect(video.fmtp["profile-level-id"] == level)
        #expect(video.rtxPayloadType != nil && video.hasNACK && video.hasPLI && video.hasFIR)
        #expect(!answer.contains("transport-cc") && !answer.contains("a=extmap:") && !answer.contains("recvonly"))
        #expect(answer.components(separatedBy: "a=sendonly").count == 3)
    }

    @Test("an offer of video without H264 in packetization mode 1 gets 422, which says what was offered")
    func noCodec() {
        let vp8 = Self.refusal(Self.offer(types: "96", lines: ["a=rtpmap:96 VP8/90000"]))
        #expect(vp8?.status == 422 && vp8?.code == "noCommonCodec" && vp8?.detail.contains("VP8") == true)
        let mode = Self.refusal(
            Self.offer(types: "96", lines: ["a=rtpmap:96 H264/90000", "a=fmtp:96 profile-level-id=42e01f"]))
        #expect(mode?.status == 422 && mode?.detail.contains("packetization-mode=1") == true)
        let profile = Self.refusal(
            Self.offer(
                types: "96",
                lines: ["a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1;profile-level-id=f4001f"]))
        #expect(profile?.status == 422 && profile?.detail.contains("profile") == true)
        #expect(profile?.fix.contains("Baseline, Main or High") == true)
        let firefox = try? Self.refusal(Self.recvonly(Offers.text("firefox")))
        #expect(firefox?.code == "noCommonCodec")
    }

    @Test("a WebRTC viewer without Opus gets only video; a viewer that offers only audio gets only audio")
    func parts() throws {
        let text = Self.offer(hasAudio: true).replacingOccurrences(of: "opus/48000/2", with: "PCMU/8000")
        let (silent, answer) = try Self.answer(text)
        #expect(silent.tracks.map(\.kind) == [.video])
        #expect(answer.contains("m=audio 0 UDP/TLS/RTP/SAVPF 111\r\n") && answer.contains("a=group:BUNDLE v\r\n"))
        let (audio, _) = try Self.answer(Self.recvonly(Offers.text("chromium-audio")))
        #expect(audio.tracks.map(\.kind) == [.audio])
    }

    @Test("a media section for which the rendition has no media is inactive in the answer, and stays in the bundle")
    func missing() throws {
        let (video, answer) = try Self.answer(Self.offer(hasAudio: true), hasAudio: false)
        #expect(video.tracks.map(\.kind) == [.video])
        #expect(answer.contains("a=group:BUNDLE v a\r\n") && answer.contains("a=mid:a\r\na=inactive\r\n"))
        #expect(!answer.contains("ssrc:102"))
        let (audio, _) = try Self.answer(Self.offer(hasAudio: true), hasVideo: false)
        #expect(audio.tracks.map(\.kind) == [.audio])
        #expect(Self.refusal(Self.offer(), hasVideo: false)?.status == 422)
    }

    @Test(
        "viewers' offers with recvonly or sendrecv are accepted; sendonly, inactive, two videos, garbage and 100 kB are refused"
    )
    func directions() {
        for (direction, isAccepted) in [
            ("recvonly", true), ("sendrecv", true), ("sendonly", false), ("inactive", false),
        ] {
            let offer = Self.offer().replacingOccurrences(of: "a=recvonly", with: "a=\(direction)")
            #expect((Self.refusal(offer) == nil) == isAccepted, "\(direction)")
        }
        #expect(Self.refusal(Self.offer() + Self.offer().components(separatedBy: "t=0 0\r\n")[1])?.status == 422)
        #expect(Self.refusal("nonsense")?.status == 400)
        #expect(Self.refusal(String(repeating: "a=x\r\n", count: 20_000))?.status == 413)
    }

    @Test("a viewer's offer with setup:passive gets setup:active")
    func roles() throws {
        let offer = Self.offer().replacingOccurrences(of: "setup:actpass", with: "setup:passive")
        let (session, answer) = try Self.answer(offer)
        #expect(session.peerIsDTLSServer && answer.contains("a=setup:active\r\n"))
    }
}
