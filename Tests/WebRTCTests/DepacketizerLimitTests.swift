import MediaTypes
import TestSupport
import Testing
import WebRTC

@Suite("Limits of depacketizers: 8 MiB and 1,024 packets for a frame")
struct DepacketizerLimitTests {
    private static let sets = [TestFrames.sps(), TestFrames.pps()]
    private static let idr = H264DepacketizerTests.idr

    /// A key frame in `count` FU-A packets of `size` bytes, the last of which is not the end.
    private static func endless(_ sender: inout TestSender, count: Int, size: Int) {
        let more = [0x7C, 0x05] + [UInt8](repeating: 0xAA, count: size - 2)
        sender.send(
            (0..<count).map { RTPPayload(bytes: $0 == 0 ? [0x7C, 0x85] + more.dropFirst(2) : more, marker: false) })
    }

    @Test("an endless FU-A is dropped after 1,024 packets, once, and the next key frame is delivered")
    func endlessFragment() {
        var sender = TestSender()
        Self.endless(&sender, count: 1025, size: 100)
        let start = sender.packets
        Self.endless(&sender, count: 3000, size: 100)
        sender.send(Self.sets + [Self.idr])
        #expect(TestResults.h264(Array(start.prefix(1024))).damages.isEmpty)
        #expect(TestResults.h264(start).damages == [.tooLarge])
        let results = TestResults.h264(sender.packets)
        #expect(results.damages == [.tooLarge, .tooLarge] && results.keys == [true])
    }

    @Test("a frame of more than 8 MiB is dropped, as one fragmented unit and as many units")
    func bytes() {
        var sender = TestSender()
        Self.endless(&sender, count: 140, size: 60_000)
        #expect(TestResults.h264(sender.packets).damages == [.tooLarge])
        let slice: [UInt8] = Self.idr + [UInt8](repeating: 0xAA, count: 60_000)
        var units = TestSender()
        units.send(Self.sets + [[UInt8]](repeating: slice, count: 140))
        #expect(TestResults.h264(units.packets).damages == [.tooLarge])
        var fitting = TestSender()
        fitting.send(Self.sets + [[UInt8]](repeating: slice, count: 139))
        #expect(TestResults.h264(fitting.packets).keys == [true])
    }

    @Test("an access unit of 1,024 NAL units is delivered, one of 1,025 is dropped")
    func units() {
        let small = H264DepacketizerTests.stapA([[UInt8]](repeating: Self.idr, count: 1022))
        var sender = TestSender()
        sender.send(Self.sets + [small])
        sender.send(Self.sets + [small, Self.idr])
        let results = TestResults.h264(sender.packets)
        #expect(results.keys == [true] && results.damages == [.tooLarge])
    }

    @Test("an access unit with 64 parameter sets, even equal ones, is delivered; one with 65 is dropped")
    func manyParameterSets() {
        let pairs = (0..<32).flatMap { _ in Self.sets }
        var sender = TestSender()
        sender.send(pairs + [Self.idr])
        sender.send(pairs + [Self.sets[0], Self.idr])
        sender.send(Self.sets + [Self.idr])
        let results = TestResults.h264(sender.packets)
        #expect(results.keys == [true, true] && results.damages == [.tooLarge])
    }

    @Test(
        "a frame with parameter sets of more than 15 KiB in total is dropped as malformed",
        arguments: [8, 7] as [UInt8])
    func parameterSets(type: UInt8) {
        var sender = TestSender()
        let large = (0..<17).map { id -> [UInt8] in
            let set = type == 8 ? TestFrames.pps(id: UInt32(id)) : TestFrames.sps(id: UInt32(id))
            return set + [UInt8](repeating: 0xAA, count: 1000)
        }
        sender.send(Self.sets + large + [Self.idr])
        sender.send(Self.sets + [Self.idr])
        #expect(TestResults.h264(sender.packets).damages == [.malformed])
    }

    @Test("a VP8 frame of more than 1,024 packets and a VP9 frame of more than 8 MiB are dropped")
    func vpx() {
        var sender = TestSender()
        sender.send((0..<1025).map { RTPPayload(bytes: [$0 == 0 ? 0x10 : 0, 1, 2], marker: false) })
        #expect(TestResults.vp8(sender.packets).damages == [.tooLarge])
        var vp9 = TestSender()
        vp9.send(
            (0..<140).map {
                RTPPayload(bytes: [$0 == 0 ? 0x08 : 0] + [UInt8](repeating: 1, count: 60_000), marker: false)
            })
        #expect(TestResults.vp9(vp9.packets).damages == [.tooLarge])
    }
}
