import Testing
import WebRTC

@Suite("Requests for key frames, and where a key frame begins")
struct KeyFrameTests {
    /// Wants a key frame and takes requests each 10 ms.
    ///
    /// - Returns: Milliseconds at which a request was sent.
    private static func run(_ requests: inout KeyFrameRequests, _ milliseconds: Range<Int64>) -> [Int64] {
        var sent: [Int64] = []
        for time in stride(from: milliseconds.lowerBound, to: milliseconds.upperBound, by: 10) {
            requests.want(at: ms(time))
            if requests.take(at: ms(time), roundTrip: ms(60)) { sent.append(time) }
        }
        return sent
    }

    @Test("a key frame request is sent at once and again every 300 ms until a key frame begins")
    func interval() {
        var requests = KeyFrameRequests(isPossible: true)
        #expect(requests.deadline == nil)
        #expect(Self.run(&requests, 0..<700) == [0, 300, 600])
        requests.receivedKeyFrame(at: ms(700), roundTrip: ms(60))
        #expect(requests.deadline == nil)
        let early = requests.take(at: ms(5_000), roundTrip: ms(60))
        #expect(!early)
        #expect(Self.run(&requests, 710..<900) == [])
        #expect(Self.run(&requests, 900..<910) == [900])
        #expect(requests.sent == 4)
        #expect(requests.isEffective)
    }

    @Test(
        "a sender that ignores key frame requests gets at most ten in 4 s, and then one in about 30 s until it answers")
    func ineffective() {
        var requests = KeyFrameRequests(isPossible: true)
        let sent = Self.run(&requests, 0..<100_000)
        #expect(sent.filter { $0 < 4_000 }.count <= 10)
        #expect((2...3).contains(sent.filter { $0 >= 4_000 }.count))
        #expect(!requests.isEffective)
        var now: Int64 = 100_000
        while !requests.isEffective, now < 400_000 {
            if Self.run(&requests, now..<now + 10).isEmpty == false {
                requests.receivedKeyFrame(at: ms(now + 100), roundTrip: ms(60))
            }
            now += 10
        }
        #expect(requests.isEffective)
    }

    @Test(
        "a sender known to ignore key frame requests gets none for 30 s; one to which they cannot be sent gets none at all"
    )
    func ignored() {
        var requests = KeyFrameRequests(isPossible: true, isIgnored: true)
        #expect(Self.run(&requests, 0..<29_000) == [])
        #expect(Self.run(&requests, 29_000..<31_000) == [30_000])
        var impossible = KeyFrameRequests(isPossible: false)
        #expect(Self.run(&impossible, 0..<2_000) == [])
        #expect(impossible.deadline == nil)
        #expect(RTCPeerMediaSettings.ignoresKeyFrameRequests(software: "Lavf62.3.100"))
        #expect(RTCPeerMediaSettings.ignoresKeyFrameRequests(software: "libdatachannel"))
        let outputOfOBS = "Mozilla/5.0 (OBS-Studio/32.1.0; Linux x86_64; en-US)"
        #expect(RTCPeerMediaSettings.ignoresKeyFrameRequests(software: outputOfOBS))
        let pageInOBS =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/127.0.0.0 Safari/537.36 OBS/32.1.0"
        #expect(!RTCPeerMediaSettings.ignoresKeyFrameRequests(software: pageInOBS))
        #expect(!RTCPeerMediaSettings.ignoresKeyFrameRequests(software: "Mozilla"))
        #expect(!RTCPeerMediaSettings.ignoresKeyFrameRequests(software: nil))
    }

    @Test("H.264: a key frame can begin with an SPS or IDR unit, alone, in a STAP-A, or at the start of FU-A")
    func h264() {
        func isAt(_ bytes: [UInt8]) -> Bool { KeyFrameStart.isAt(bytes[...], codec: .h264) }
        #expect(isAt([0x67, 1]) && isAt([0x65]) && !isAt([0x41]) && !isAt([0x68]) && !isAt([]))
        #expect(isAt([0x18, 0, 2, 0x67, 1, 0, 1, 0x68]))
        #expect(isAt([0x18, 0, 1, 0x09, 0, 1, 0x65]))
        #expect(!isAt([0x18, 0, 1, 0x41, 0, 1]) && !isAt([0x18, 0xFF, 0xFF, 0x41]) && !isAt([0x18]))
        #expect(isAt([0x7C, 0x85]) && !isAt([0x7C, 0x05]) && !isAt([0x7C, 0x81]) && !isAt([0x7C]))
        // Slices keep the indices of their array.
        let datagram: [UInt8] = [0, 0, 0x18, 0, 2, 0x67, 1]
        #expect(KeyFrameStart.isAt(datagram[2...], codec: .h264))
    }

    @Test(
        "a key frame can begin with a VP8 frame whose P bit is 0, and with a VP9 frame of layer 0 that is not predicted"
    )
    func vp() {
        func vp8(_ bytes: [UInt8]) -> Bool { KeyFrameStart.isAt(bytes[...], codec: .vp8) }
        #expect(vp8([0x90, 0x80, 0xEA, 0x39, 0x10]) && !vp8([0x90, 0x80, 0xEA, 0x39, 0x11]))
        #expect(vp8([0x90, 0xE0, 0xD9, 0x3C, 0x26, 0x20, 0x10]) && !vp8([0x90, 0xE0, 0xD9, 0x3C, 0x26, 0x20]))
        #expect(
            vp8([0x10, 0]) && vp8([0x18, 0]) && !vp8([0x11, 0]) && !vp8([0x00, 0]) && !vp8([0x90])
                && !vp8([0x90, 0x80]))
        func vp9(_ bytes: [UInt8]) -> Bool { KeyFrameStart.isAt(bytes[...], codec: .vp9) }
        #expect(vp9([0x8F, 0x80, 1]) && !vp9([0xCF, 0x80, 1]) && !vp9([0x87, 0x80, 1]) && !vp9([]))
        #expect(vp9([0xAF, 0x80, 1, 0x00]) && !vp9([0xAF, 0x80, 1, 0x02]) && !vp9([0xA8, 0x80]))
        #expect(KeyFrameStart.isAt([0xFC][...], codec: .opus))
    }
}
