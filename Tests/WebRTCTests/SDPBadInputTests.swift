import Foundation
import MediaTypes
import TestSupport
import Testing
import WebRTC

@Suite("SDP: unusual and hostile offers get a right answer or an error that says why")
struct SDPBadInputTests {
    private func expectRefusal(
        _ offer: String, _ status: Int, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = Offers.refusal(of: offer)
        #expect(error?.status == status, "\(error?.detail ?? "accepted")", sourceLocation: sourceLocation)
        for word in words {
            let isNamed = error.map { "\($0.detail) \($0.fix)".contains(word) } ?? false
            #expect(isNamed, "\(word) is missing: \(error?.detail ?? "")", sourceLocation: sourceLocation)
        }
    }

    // MARK: Form

    @Test(
        "a WHIP offer's lines may end with LF or CR alone, or be mixed with empty lines",
        arguments: ["\n", "\r", "\r\n\r\n", "\n\r\n"])
    func lineEnds(end: String) throws {
        let usual = try Offers.answer(Offers.text("chromium"))
        let other = try Offers.answer(Offers.text("chromium").replacingOccurrences(of: "\r\n", with: end))
        #expect(other.answer == usual.answer && other.session == usual.session)
    }

    @Test("an invalid session description is refused with 400; if one line is malformed, the error has its number")
    func malformed() {
        self.expectRefusal("", 400, "empty")
        self.expectRefusal("\r\n\n", 400, "empty")
        self.expectRefusal("{\"type\":\"offer\"}", 400, "line 1")
        self.expectRefusal("v=1\r\n", 400, "line 1", "v=0")
        self.expectRefusal(Minimal.offer() + "garbage\r\n", 400, "line 15")
        self.expectRefusal(Minimal.offer() + "a\u{0}=x\r\n", 400)
        self.expectRefusal(Minimal.offer() + "a=x\u{0}\r\n", 400, "UTF-8")
        self.expectRefusal(Minimal.offer() + "m=video\r\n", 400, "m=")
        self.expectRefusal(Minimal.offer() + "m=video 99999 UDP/TLS/RTP/SAVPF 96\r\n", 400, "m=")
        self.expectRefusal(Minimal.offer() + "m=video -1 UDP/TLS/RTP/SAVPF 96\r\n", 400, "m=")
        self.expectRefusal(Minimal.offer(types: "abc"), 400, "abc")
        self.expectRefusal(Minimal.offer(types: "128"), 400, "128")
        var bytes = Array(Minimal.offer().utf8)
        bytes += [0x61, 0x3D, 0xFF, 0xFE]
        #expect(throws: WHIPError.self) { try SDPNegotiation.answer(to: bytes, settings: Offers.settings) }
    }

    @Test("a WHIP offer of 64 KiB is answered; a byte more, a line over 4,096 bytes or 513 attributes get 413")
    func sizes() throws {
        let filler = "a=x-unknown:" + String(repeating: "y", count: 4000) + "\r\n"
        var offer = Minimal.offer()
        while offer.utf8.count + filler.utf8.count <= 64 << 10 { offer += filler }
        offer += "a=" + String(repeating: "z", count: (64 << 10) - offer.utf8.count - 4) + "\r\n"
        try #require(offer.utf8.count == 64 << 10)
        #expect(throws: Never.self) { try Offers.answer(offer) }
        self.expectRefusal(offer + "\n", 413, "65536")
        self.expectRefusal(Minimal.offer() + "a=" + String(repeating: "z", count: 4095), 413, "4096")
        let many = String(repeating: "a=x\r\n", count: 513)
        self.expectRefusal(Minimal.offer() + many, 413, "512 attributes")
        self.expectRefusal("v=0\r\n" + many, 413, "512 attributes")
    }

    @Test("an offer of 200 media sections is refused; one of 31 disabled sections beside one of video is answered")
    func sections() throws {
        let disabled = "m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\n"
        self.expectRefusal(Minimal.offer() + String(repeating: disabled, count: 199), 413, "32")
        let answer = try Offers.answer(Minimal.offer() + String(repeating: disabled, count: 31)).answer
        #expect(answer.components(separatedBy: "\r\n").count { $0.hasPrefix("m=application 0 ") } == 31)
    }

    // MARK: Media

    @Test("offers with sections that WHIP does not allow are refused")
    func notAllowed() throws {
        self.expectRefusal(Minimal.offer().replacingOccurrences(of: "a=sendonly", with: "a=recvonly"), 422, "recvonly")
        self.expectRefusal(Minimal.offer().replacingOccurrences(of: "a=sendonly", with: "a=inactive"), 422, "inactive")
        self.expectRefusal(Minimal.offer() + Minimal.audio(), 422, "bundle", "BUNDLE")
        self.expectRefusal(Minimal.both + Minimal.audio(mid: "b"), 422, "more than one audio")
        let second = Minimal.offer().components(separatedBy: "t=0 0\r\n")[1]
        self.expectRefusal(Minimal.offer() + second, 422, "more than one video", "stream keys of their own")
        self.expectRefusal(
            Minimal.offer() + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", 422, "application",
            "data channels")
        self.expectRefusal(try Offers.text("chromium-data"), 422, "application")
        self.expectRefusal(
            Minimal.offer().replacingOccurrences(of: "m=video 9", with: "m=video 0"), 422, "no audio or video")
        self.expectRefusal("v=0\r\n", 422, "no audio or video")
        self.expectRefusal(
            Minimal.offer().replacingOccurrences(of: "UDP/TLS/RTP/SAVPF", with: "RTP/AVP"), 422, "RTP/AVP", "DTLS-SRTP")
        self.expectRefusal(Minimal.offer().without("a=rtcp-mux"), 422, "rtcp-mux")
        self.expectRefusal(Minimal.both.replacingOccurrences(of: "a=mid:a", with: "a=mid:v"), 400, "mid")
        self.expectRefusal(Minimal.offer().replacingOccurrences(of: "a=mid:v", with: "a=mid:v w"), 400, "mid")
    }

    @Test("the refusal of an offer without an accepted codec names what was offered and what the room takes")
    func codecs() {
        let lines = ["a=rtpmap:96 AV1/90000", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96", "a=rtpmap:98 H265/90000"]
        self.expectRefusal(Minimal.offer(types: "96 97 98", lines: lines), 422, "AV1, H265;", "H264, VP8, VP9")
        self.expectRefusal(
            Minimal.offer(types: "96", lines: ["a=rtpmap:96 VP9/90000", "a=fmtp:96 profile-id=2"]), 422, "VP9")
        self.expectRefusal(Minimal.offer(types: "0", lines: []), 422, "no codec")
        self.expectRefusal(Minimal.offer(lines: ["a=rtpmap:96 VP8/8000"]), 422, "VP8")
        self.expectRefusal(Minimal.both.replacingOccurrences(of: "opus/48000/2", with: "opus/48000"), 422, "opus")
        // 64 to 95 cannot be distinguished from RTCP on one port.
        self.expectRefusal(Minimal.offer(types: "72", lines: ["a=rtpmap:72 VP8/90000"]), 422, "VP8")
        var settings = Offers.settings
        settings.takesOpus = false
        do throws(WHIPError) {
            _ = try Offers.answer(Minimal.both, settings: settings)
            Issue.record("accepted")
        } catch { #expect(error.status == 422 && error.fix.contains("ingest.codecs")) }
    }

    @Test("codec names in an offer are case-insensitive, and the answer repeats them as offered")
    func spelling() throws {
        let answer = try Offers.answer(Minimal.offer(lines: ["a=rtpmap:96 vp8/90000"])).answer
        #expect(answer.contains("a=rtpmap:96 vp8/90000\r\n"))
    }

    @Test("an rtx payload type is used only if its apt is the chosen payload type and its clock rate is the same")
    func rtx() throws {
        func rtx(_ fmtp: String, rate: Int = 90_000) throws -> UInt8? {
            let lines = ["a=fmtp:97 \(fmtp)", "a=rtpmap:97 rtx/\(rate)", "a=rtpmap:96 VP8/90000"]
            return try Offers.answer(Minimal.offer(types: "96 97", lines: lines)).session.tracks[0].rtxPayloadType
        }
        #expect(try rtx("apt=96") == 97 && rtx("apt=96;rtx-time=3000") == 97)
        #expect(try rtx("apt=97") == nil && rtx("apt=") == nil && rtx("apt=256") == nil && rtx("96") == nil)
        #expect(try rtx("apt=96", rate: 8000) == nil)
    }

    @Test("an offer that repeats its payload types and parameters as often as fits is answered within 2 s of CPU time")
    func repeatedPayloadTypes() throws {
        let parameters = "apt=96;" + String(repeating: "x;", count: 1900)
        let types = (["96"] + (0..<1000).map { "\(97 + $0 % 31)" }).joined(separator: " ")
        let lines = (97..<111).flatMap { ["a=rtpmap:\($0) rtx/90000", "a=fmtp:\($0) \(parameters)"] }
        let offer = Minimal.offer(types: types, lines: ["a=rtpmap:96 VP8/90000"] + lines)
        var rtx: UInt8?
        let time = try ThreadTime.measure { rtx = try Offers.answer(offer).session.tracks[0].rtxPayloadType }
        #expect(rtx == 97 && time < 2_000_000_000)
    }

    // MARK: Attributes

    @Test("of a repeated SDP attribute the first counts; session-level attributes apply to sections without their own")
    func repeatedAttributes() throws {
        let usual = try Offers.answer(Minimal.offer())
        let twice = Minimal.offer(lines: [
            "a=rtpmap:96 VP8/90000", "a=rtpmap:96 AV1/90000", "a=mid:other", "a=ice-ufrag:other", "a=setup:passive",
            "a=recvonly", Minimal.password.replacingOccurrences(of: "0", with: "9"), "a=rtcp-mux",
        ])
        #expect(try Offers.answer(twice).session == usual.session)
        let moved = ["a=setup:actpass", "a=ice-ufrag:abcd", Minimal.password, Minimal.fingerprint]
        var offer = Minimal.offer()
        for line in moved { offer = offer.replacingOccurrences(of: line + "\r\n", with: "") }
        offer = offer.replacingOccurrences(
            of: "t=0 0\r\n", with: "t=0 0\r\n" + moved.joined(separator: "\r\n") + "\r\n")
        #expect(try Offers.answer(offer).session == usual.session)
        let shared = offer.replacingOccurrences(
            of: "t=0 0\r\n", with: "t=0 0\r\na=extmap:5 urn:3gpp:video-orientation\r\n")
        #expect(try Offers.answer(shared).session.tracks[0].orientationExtension == 5)
        // Found by fuzzing: the id of the section has another meaning there.
        let clashing = shared + "a=extmap:5 urn:ietf:params:rtp-hdrext:sdes:mid\r\n"
        let track = try Offers.answer(clashing).session.tracks[0]
        #expect(track.midExtension == 5 && track.orientationExtension == nil)
    }

    @Test("fmtp before rtpmap means the same as after it")
    func order() throws {
        let lines = [
            "a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1;profile-level-id=42e01f", "a=rtcp-fb:96 nack",
        ]
        let after = try Offers.answer(Minimal.offer(lines: lines))
        let before = try Offers.answer(Minimal.offer(lines: lines.reversed()))
        #expect(before.answer == after.answer && before.session.tracks[0].fmtp["packetization-mode"] == "1")
    }

    @Test("header extensions with the ids 0, 15 or 256, and those that the offerer only receives, are ignored")
    func extensions() throws {
        func id(_ value: String) throws -> UInt8? {
            let lines = ["a=rtpmap:96 VP8/90000", "a=extmap:\(value) urn:3gpp:video-orientation"]
            return try Offers.answer(Minimal.offer(lines: lines)).session.tracks[0].orientationExtension
        }
        #expect(try id("13") == 13 && id("1/sendonly") == 1 && id("200") == 200)
        for value in ["15", "0", "256", "-1", "x", "3/recvonly", "3/inactive", "99999999999999999999"] {
            #expect(try id(value) == nil, "\(value)")
        }
    }

    @Test("RTCP feedback offered for all payload types counts; that for another payload type does not")
    func feedback() throws {
        func track(_ lines: String...) throws -> NegotiatedTrack {
            try Offers.answer(Minimal.offer(lines: ["a=rtpmap:96 VP8/90000"] + lines)).session.tracks[0]
        }
        #expect(try track("a=rtcp-fb:* nack", "a=rtcp-fb:* nack  PLI").hasPLI)
        #expect(try !track("a=rtcp-fb:97 nack").hasNACK)
        // Without the header extension there is nothing to report on.
        let without = try track("a=rtcp-fb:96 transport-cc", "a=rtcp-fb:96 goog-remb")
        #expect(!without.hasTransportCC && without.hasREMB)
    }

    // MARK: Transport

    @Test(
        "offers with missing, weak or malformed fingerprints are refused; a SHA-256 fingerprint beside a SHA-1 one is enough"
    )
    func fingerprints() throws {
        self.expectRefusal(Minimal.offer().without("a=fingerprint"), 422, "fingerprint", "sha-256")
        let sha1 = "a=fingerprint:sha-1 " + (0..<20).map { _ in "AB" }.joined(separator: ":")
        let weak = Minimal.offer().replacingOccurrences(of: Minimal.fingerprint, with: sha1)
        self.expectRefusal(weak, 422, "sha-256")
        let session = try Offers.answer(Minimal.offer(lines: ["a=rtpmap:96 VP8/90000", sha1])).session
        #expect(session.fingerprints.map(\.algorithm) == ["sha-256"])
        for bad in [
            "sha-256", "sha-256 AB:CD", "sha-256 " + String(repeating: "A", count: 95), "sha-256 GG:00", "x y z",
        ] {
            self.expectRefusal(
                Minimal.offer().replacingOccurrences(of: Minimal.fingerprint, with: "a=fingerprint:" + bad), 400,
                "fingerprint")
        }
        let lower = Minimal.offer().replacingOccurrences(
            of: Minimal.fingerprint, with: Minimal.fingerprint.lowercased())
        #expect(try Offers.answer(lower).session.fingerprints == session.fingerprints)
    }

    @Test("a WHIP offer needs valid ICE credentials; an ICE-lite offer is refused")
    func ice() {
        self.expectRefusal(Minimal.offer().without("a=ice-pwd"), 422, "ice-pwd")
        self.expectRefusal(Minimal.offer().without("a=ice-ufrag"), 422, "ice-ufrag")
        for ufrag in ["abc", "ab d", "ab\u{e9}d", String(repeating: "a", count: 257)] {
            self.expectRefusal(
                Minimal.offer().replacingOccurrences(of: "a=ice-ufrag:abcd", with: "a=ice-ufrag:\(ufrag)"), 400)
        }
        self.expectRefusal(
            Minimal.offer().replacingOccurrences(of: Minimal.password, with: "a=ice-pwd:short"), 400, "ice-pwd")
        self.expectRefusal(Minimal.offer() + "a=ice-lite\r\n", 422, "ICE-lite")
    }

    @Test("the a=setup of an offer decides the DTLS role; holdconn is refused")
    func setup() throws {
        for (setup, answer) in [("actpass", "passive"), ("active", "passive"), ("passive", "active")] {
            let offer = Minimal.offer().replacingOccurrences(of: "a=setup:actpass", with: "a=setup:\(setup)")
            let result = try Offers.answer(offer)
            #expect(
                result.answer.contains("a=setup:\(answer)\r\n")
                    && result.session.peerIsDTLSServer == (setup == "passive"))
        }
        #expect(try Offers.answer(Minimal.offer().without("a=setup")).answer.contains("a=setup:passive"))
        self.expectRefusal(
            Minimal.offer().replacingOccurrences(of: "a=setup:actpass", with: "a=setup:holdconn"), 422, "holdconn")
    }

    @Test("candidates in an offer do not change the answer or the session, whatever they contain")
    func candidates() throws {
        let usual = try Offers.answer(Minimal.offer())
        let hostile = [
            "a=candidate:1 1 UDP 2122252543 2388f482-5cdc-4938-90c5-eed0934e8568.local 51154 typ host",
            "a=candidate:2 1 udp 1 169.254.169.254 80 typ host", "a=candidate:3 1 udp 1 127.0.0.1 22 typ srflx",
            "a=candidate:", "a=candidate:x y z 99999999999999999999", "a=end-of-candidates",
        ]
        let other = try Offers.answer(Minimal.offer(lines: ["a=rtpmap:96 VP8/90000"] + hostile))
        #expect(other.answer == usual.answer && other.session == usual.session)
    }

    @Test("the first section of the bundle decides the ICE credentials, even if it is not the first of the offer")
    func taggedSection() throws {
        var offer = Minimal.offer().replacingOccurrences(of: "t=0 0\r\n", with: "t=0 0\r\na=group:BUNDLE a v\r\n")
        offer += Minimal.audio().replacingOccurrences(of: "a=ice-ufrag:abcd", with: "a=ice-ufrag:efgh")
        let (session, answer) = try Offers.answer(offer)
        #expect(session.remoteUfrag == "efgh" && answer.contains("a=group:BUNDLE a v\r\n"))
    }

    // MARK: Simulcast

    @Test("a simulcast offer without rids, with unknown or repeated rids, or with five layers is refused")
    func simulcast() throws {
        func offer(_ simulcast: String, rids: [String]) -> String {
            let lines = rids.map { "a=rid:\($0) send" }
            return Minimal.offer(lines: ["a=rtpmap:96 VP8/90000"] + lines + ["a=simulcast:\(simulcast)"])
        }
        #expect(try Offers.answer(offer("send a,x;~b", rids: ["a", "b", "x"])).session.tracks[0].rids == ["a", "b"])
        #expect(try Offers.answer(offer("recv a", rids: ["a"])).session.tracks[0].rids == [])
        for (value, rids) in [
            ("send a;b", ["a"]), ("send a;a", ["a"]), ("send", ["a"]), ("send a;", ["a"]),
            ("send a\u{e9}", ["a\u{e9}"]),
        ] { self.expectRefusal(offer(value, rids: rids), 400, "simulcast") }
        self.expectRefusal(offer("send 1;2;3;4;5", rids: ["1", "2", "3", "4", "5"]), 422, "5 simulcast layers")
    }

    @Test("a payload type that all simulcast layers can use is preferred")
    func layerFormats() throws {
        let lines = [
            "a=rtpmap:96 H264/90000", "a=fmtp:96 profile-level-id=42e01f;packetization-mode=1",
            "a=rtpmap:97 H264/90000",
            "a=fmtp:97 profile-level-id=42e01f;packetization-mode=0", "a=rid:a send pt=97",
            "a=rid:b send pt=96,97;max-width=640",
            "a=simulcast:send a;b",
        ]
        #expect(try Offers.answer(Minimal.offer(types: "96 97", lines: lines)).session.tracks[0].payloadType == 97)
    }
}
