import MediaTypes
import Testing
import WebRTC

@Suite("SDP offers of real clients and their answers: RFC 9725, RFC 9429")
struct SDPNegotiationTests {
    @Test("the answer to each WHIP client's offer is as expected, byte for byte", arguments: Offers.accepted)
    func answers(name: String) throws {
        let answer = try Offers.answer(Offers.text(name)).answer
        try expectGolden(answer, "\(name).answer.sdp")
    }

    @Test("Chromium's offer gives H.264 constrained baseline in mode 1 with rtx, CVO, and transport-cc for both tracks")
    func chromium() throws {
        let session = try Offers.answer(Offers.text("chromium")).session
        #expect(session.tracks.map(\.codec) == [.opus, .h264])
        #expect(session.tracks.map(\.mid) == ["0", "1"])
        let video = session.tracks[1]
        #expect(video.payloadType == 108 && video.rtxPayloadType == 109 && video.clockRate == 90_000)
        #expect(video.fmtp["profile-level-id"] == "42e01f" && video.fmtp["packetization-mode"] == "1")
        #expect(video.hasNACK && video.hasPLI && video.hasFIR && video.hasTransportCC && !video.hasREMB)
        #expect(video.transportCCExtension == 3 && video.orientationExtension == 13 && video.midExtension == 4)
        #expect(video.ridExtension == nil && video.rids.isEmpty && video.ssrcs.count == 2)
        let audio = session.tracks[0]
        #expect(audio.payloadType == 111 && audio.clockRate == 48_000 && audio.rtxPayloadType == nil)
        #expect(audio.hasTransportCC && !audio.hasNACK && audio.orientationExtension == nil)
        #expect(!session.peerIsDTLSServer && session.software == nil)
        #expect(session.fingerprints.map(\.algorithm) == ["sha-256"] && session.fingerprints[0].bytes.count == 32)
        #expect(session.remoteUfrag == "CuWZ" && session.remotePassword.utf8.count == 24)
    }

    @Test("Firefox's offer, with fmtp before rtpmap and a session-level fingerprint, gives VP8 with rtx")
    func firefox() throws {
        let session = try Offers.answer(Offers.text("firefox")).session
        let video = session.tracks[1]
        #expect(video.codec == .vp8 && video.payloadType == 120 && video.rtxPayloadType == 124)
        #expect(video.fmtp["max-fs"] == "12288")
        #expect(session.fingerprints.count == 1 && session.fingerprints[0].bytes.first == 0xBA)
        #expect(session.software == "mozilla...THIS_IS_SDPARTA-99.0")
    }

    @Test("aiortc's offer gives three fingerprints, and REMB without transport-cc")
    func aiortc() throws {
        let session = try Offers.answer(Offers.text("aiortc")).session
        #expect(session.fingerprints.map(\.algorithm) == ["sha-256", "sha-384", "sha-512"])
        let video = session.tracks[1]
        #expect(video.payloadType == 101 && video.rtxPayloadType == 102)
        #expect(video.hasREMB && !video.hasTransportCC && video.transportCCExtension == nil)
    }

    @Test("FFmpeg's offer to be the DTLS server gets setup:active and a UDP candidate first")
    func ffmpeg() throws {
        let (session, answer) = try Offers.answer(Offers.text("ffmpeg"))
        #expect(session.peerIsDTLSServer && session.software == "FFmpeg")
        #expect(answer.contains("a=setup:active\r\n") && !answer.contains("a=setup:passive"))
        let first = answer.components(separatedBy: "\r\n").first { $0.hasPrefix("a=candidate:") }
        #expect(first == "a=candidate:1 1 udp 2130706431 192.0.2.2 21150 typ host")
        #expect(session.tracks[1].rtxPayloadType == 105 && session.tracks[1].hasNACK && !session.tracks[1].hasPLI)
    }

    @Test("FFmpeg's offer to be the DTLS client gets setup:passive")
    func ffmpegAsClient() throws {
        let (session, answer) = try Offers.answer(Offers.text("ffmpeg-dtls-active"))
        #expect(!session.peerIsDTLSServer)
        #expect(answer.contains("a=setup:passive\r\n") && !answer.contains("a=setup:active"))
    }

    @Test(
        "an offer in OBS's form without simulcast is accepted with NACK on the video's own SSRC, without rtx and layers"
    )
    func obs() throws {
        let (session, answer) = try Offers.answer(Offers.text("obs-written"))
        #expect(session.tracks.map(\.codec) == [.opus, .h264] && session.tracks.map(\.mid) == ["0", "1"])
        let video = session.tracks[1]
        #expect(video.payloadType == 96 && video.ssrcs == [2_711_090_002])
        #expect(video.hasNACK && video.rtxPayloadType == nil && video.hasREMB && !video.hasTransportCC)
        #expect(video.rids.isEmpty && video.ridExtension == nil)
        #expect(!session.peerIsDTLSServer && session.remoteUfrag == "kQ3z")
        #expect(answer.contains("a=setup:passive\r\n") && !answer.contains("a=simulcast"))
        // The offer does not name the program; the request does.
        var named = session
        named.nameSoftware(userAgent: "")
        #expect(named.software == nil)
        named.nameSoftware(userAgent: "Mozilla/5.0 (OBS-Studio/32.1.0; Linux x86_64; en-US)")
        named.nameSoftware(userAgent: "another")
        #expect(named.software == "Mozilla/5.0 (OBS-Studio/32.1.0; Linux x86_64; en-US)")
    }

    @Test(
        "FFmpeg 8.0's offer is accepted, though its profile has too many digits and its group names an absent section")
    func ffmpeg8() throws {
        let (session, answer) = try Offers.answer(Offers.text("ffmpeg-8-video-written"))
        #expect(session.tracks.map(\.codec) == [.h264])
        #expect(answer.contains("a=group:BUNDLE 1\r\n"))
    }

    @Test(
        "simulcast: all layers are answered in the order of the offer",
        arguments: [
            ("chromium-simulcast", ["h", "m", "l"]), ("firefox-simulcast", ["h", "m", "l"]),
            ("obs-simulcast-written", ["0", "1", "2"]),
        ])
    func simulcast(name: String, rids: [String]) throws {
        let (session, answer) = try Offers.answer(Offers.text(name))
        #expect(session.tracks[1].rids == rids && session.tracks[1].ridExtension != nil)
        #expect(answer.contains("a=simulcast:recv \(rids.joined(separator: ";"))\r\n"))
        for rid in rids { #expect(answer.contains("a=rid:\(rid) recv\r\n")) }
    }

    @Test("the order of ingest.codecs decides between video codecs")
    func preference() throws {
        var settings = Offers.settings
        settings.videoCodecs = [.vp9, .vp8]
        let session = try Offers.answer(Offers.text("chromium"), settings: settings).session
        #expect(session.tracks[1].codec == .vp9 && session.tracks[1].payloadType == 98)
        settings.videoCodecs = [.hevc, .vp8]
        #expect(try Offers.answer(Offers.text("chromium"), settings: settings).session.tracks[1].codec == .vp8)
    }

    @Test(
        "of H.264 formats mode 1 is preferred to 0, then constrained baseline, baseline, main, high; others are refused"
    )
    func h264() throws {
        func chosen(_ formats: [String]) throws -> UInt8? {
            let lines = formats.enumerated().flatMap {
                ["a=rtpmap:\(96 + $0.0) H264/90000", "a=fmtp:\(96 + $0.0) \($0.1)"]
            }
            let types = formats.indices.map { "\(96 + $0)" }.joined(separator: " ")
            return try? Offers.answer(Minimal.offer(types: types, lines: lines)).session.tracks[0].payloadType
        }
        func format(_ profile: String, _ mode: String?) -> String {
            "profile-level-id=\(profile)" + (mode.map { ";packetization-mode=\($0)" } ?? "")
        }
        let order = [
            format("42e01f", "1"), format("42001f", "1"), format("4d0032", "1"), format("640c1f", "1"),
            format("42C01F", "0"), format("42001f", nil), format("4D001F", nil), format("64001f", "0"),
        ]
        for (better, worse) in zip(order, order.dropFirst()) {
            #expect(try chosen([worse, better]) == 97 && chosen([better, worse]) == 96, "\(better) before \(worse)")
        }
        for bad in [
            format("f4001f", "1"), format("6e001f", "1"), format("42e01f", "2"), format("xx", "1"),
            "profile-level-id=4",
        ] {
            #expect(try chosen([bad]) == nil, "\(bad)")
        }
    }

    @Test("the answer has a start bit rate for video, and a highest bit rate only if it is set")
    func bitRates() throws {
        let usual = try Offers.answer(Offers.text("firefox")).answer
        #expect(usual.contains("a=fmtp:120 x-google-start-bitrate=2000\r\n"))
        var settings = Offers.settings
        settings.maxBitrateKbps = 4500
        let limited = try Offers.answer(Offers.text("firefox"), settings: settings).answer
        #expect(limited.contains("a=fmtp:120 x-google-start-bitrate=2000;x-google-max-bitrate=4500\r\n"))
        #expect(!usual.contains("b=") && limited.components(separatedBy: "b=").count == 3, "in the video section only")
        #expect(limited.contains("c=IN IP4 0.0.0.0\r\nb=AS:4500\r\nb=TIAS:4500000\r\na=mid:1\r\n"))
        settings.maxBitrateKbps = 800
        let low = try Offers.answer(Offers.text("firefox"), settings: settings).answer
        #expect(low.contains("x-google-start-bitrate=800;x-google-max-bitrate=800\r\n"))
    }

    @Test(
        "24 random bytes become an ICE user name fragment of 8 characters and a password of 24; fewer bytes are refused"
    )
    func credentials() {
        #expect(ICECredentials(random: [UInt8](repeating: 0, count: 23)) == nil)
        let zeros = ICECredentials(random: [UInt8](repeating: 0, count: 24))
        #expect(zeros == ICECredentials(ufrag: "AAAAAAAA", password: String(repeating: "A", count: 24)))
        let ones = ICECredentials(random: [UInt8](repeating: 255, count: 24))
        #expect(ones == ICECredentials(ufrag: "////////", password: String(repeating: "/", count: 24)))
        #expect(
            ICECredentials.isUfrag("OekIMsK/") && !ICECredentials.isUfrag("abc") && !ICECredentials.isUfrag("ab:cd"))
    }
}
