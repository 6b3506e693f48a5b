import MediaKernels
import MediaTypes
import TestSupport
import Testing
import WebRTC

@Suite("H.264 depacketizer: RFC 6184")
struct H264DepacketizerTests {
    static let sps = TestFrames.sps()
    static let pps = TestFrames.pps()
    /// Slices whose headers say: first macroblock 0, parameter set 0.
    static let idr: [UInt8] = [0x65, 0x88, 0x84, 0x21, 0xA0]
    static let inter: [UInt8] = [0x41, 0x9A, 0x84, 0x21, 0xA0]

    static func stapA(_ units: [[UInt8]]) -> [UInt8] {
        var packet: [UInt8] = [0x78]
        for unit in units {
            packet += [UInt8(unit.count >> 8), UInt8(unit.count & 0xFF)]
            packet += unit
        }
        return packet
    }

    /// Packets of access units, each a list of payloads, without loss.
    static func packets(_ units: [[[UInt8]]]) -> [OrderedPacket] {
        var sender = TestSender()
        for unit in units { sender.send(unit) }
        return sender.packets
    }

    static func prefixed(_ units: [[UInt8]]) -> [UInt8] { TestFrames.lengthPrefixed(units) }

    @Test("a key frame of Chromium, STAP-A with parameter sets and then FU-A, is put together")
    func chromium() throws {
        let packets = Self.packets([
            [Self.stapA([Self.sps, Self.pps]), [0x7C, 0x85] + Self.idr[1...2], [0x7C, 0x45] + Self.idr[3...]],
            [Self.inter],
        ])
        let results = TestResults.h264(packets)
        #expect(results.frames == [Self.prefixed([Self.idr]), Self.prefixed([Self.inter])])
        #expect(results.keys == [true, false])
        #expect(results.damages.isEmpty)
        #expect(results.sizes == [FrameSize(width: 1280, height: 720)])
        let record = try #require(results.configurations.first.flatMap { AVCRecord(record: $0) })
        #expect(record.sequenceParameterSets == [Self.sps] && record.pictureParameterSets == [Self.pps])
        #expect(record.lengthSize == 4)
    }

    @Test(
        "from a key frame in single NAL unit packets, as of FFmpeg and OBS, delimiters and filler are removed; SEI is kept"
    )
    func singleUnits() {
        let sei: [UInt8] = [0x06, 0x05, 0x01, 0xAA, 0x80]
        let packets = Self.packets([[[0x09, 0xF0], Self.sps, Self.pps, sei, Self.idr, [0x0C, 0xFF, 0x80]]])
        #expect(TestResults.h264(packets).frames == [Self.prefixed([sei, Self.idr])])
    }

    @Test("several slices of an access unit are one frame")
    func slices() {
        var random = TestRandom(seed: 3)
        let slices = (0..<4).map {
            TestFrames.slice(isIDR: true, firstMacroblock: UInt32($0 * 900), count: 20, &random)
        }
        let packets = Self.packets([[Self.stapA([Self.sps, Self.pps])] + slices])
        #expect(TestResults.h264(packets).frames == [Self.prefixed(slices)])
    }

    @Test("parameter sets in an access unit of their own belong to the next frame")
    func setsAhead() {
        var depacketizer = H264Depacketizer()
        let packets = Self.packets([[Self.sps, Self.pps], [Self.idr]])
        let first = TestResults(Array(packets.prefix(2)), &depacketizer)
        #expect(first.frames.isEmpty && first.damages.isEmpty)
        #expect(depacketizer.isReceivingKeyFrame, "none has to be requested")
        let second = TestResults(Array(packets.suffix(1)), &depacketizer)
        #expect(second.frames == [Self.prefixed([Self.idr])] && second.keys == [true])
    }

    @Test("an IDR frame without parameter sets is not delivered")
    func noParameterSets() {
        let packets = Self.packets([[Self.idr], [Self.inter], [Self.sps, Self.pps, Self.idr]])
        let results = TestResults.h264(packets)
        #expect(results.order == [0, 1, 1])
        #expect(results.damages == [.noParameterSets])
        #expect(results.keys == [false, true])
    }

    @Test("an IDR frame whose STAP-A with parameter sets is lost is not delivered, even if older sets are known")
    func lostParameterSets() {
        var sender = TestSender()
        sender.send([Self.stapA([Self.sps, Self.pps]), Self.idr])
        sender.send([Self.stapA([TestFrames.sps(width: 640, height: 352), Self.pps]), Self.idr])
        let results = TestResults.h264(sender.packets(without: [2]))
        #expect(results.keys == [true])
        #expect(results.damages == [.lost, .noParameterSets])
    }

    @Test("an IDR frame is not delivered if one of the parameter sets sent before it is lost")
    func lostSetAhead() {
        var sender = TestSender()
        sender.send([Self.sps, Self.pps, Self.idr])
        sender.send([TestFrames.sps(width: 640, height: 352)])
        sender.send([Self.pps])
        sender.send([Self.idr])
        #expect(TestResults.h264(sender.packets(without: [3])).damages == [.lost, .noParameterSets])
        #expect(TestResults.h264(sender.packets(without: [4])).damages == [.lost, .noParameterSets])
        let results = TestResults.h264(sender.packets)
        #expect(results.keys == [true, true] && results.sizes.last == FrameSize(width: 640, height: 352))
    }

    @Test("a later IDR frame without parameter sets is delivered if nothing is lost before it")
    func repeatedIDR() {
        let packets = Self.packets([[Self.sps, Self.pps, Self.idr], [Self.inter], [Self.idr]])
        let results = TestResults.h264(packets)
        #expect(results.keys == [true, false, true])
        #expect(results.configurations.count == 2 && Set(results.configurations).count == 1)
    }

    @Test(
        "an IDR frame is delivered with the offer's parameter sets, also after a loss, until the stream sends its own")
    func announced() {
        // As base64: the sets of the other tests.
        let text = "Z0LAINoBQBbk,aM44gA=="
        var sender = TestSender()
        for units in [[Self.idr], [Self.inter], [Self.idr], [Self.sps, Self.pps, Self.idr], [Self.inter], [Self.idr]] {
            sender.send(units)
        }
        var depacketizer = H264Depacketizer(announced: text)
        let results = TestResults(sender.packets(without: [1, 6]), &depacketizer)
        #expect(results.keys == [true, true, true])
        #expect(results.damages == [.lost, .lost, .noParameterSets])
        #expect(results.sizes.first == FrameSize(width: 1280, height: 720))
        for wrong in [nil, "", "Z0LAINoBQBbk", "aM44gA==", "?,?", "Z0LAINoBQBbk,aM44gA==,AAAA"] as [String?] {
            var depacketizer = H264Depacketizer(announced: wrong)
            #expect(TestResults(Array(sender.packets.prefix(1)), &depacketizer).keys.isEmpty)
        }
    }

    @Test("a key frame whose first slice is lost is not delivered, even if its parameter sets are known")
    func lostFirstSlice() {
        var random = TestRandom(seed: 6)
        var sender = TestSender()
        let slices = (0..<2).map { TestFrames.slice(isIDR: true, firstMacroblock: $0 * 900, count: 20, &random) }
        for _ in 0..<2 { sender.send(slices) }
        var depacketizer = H264Depacketizer(announced: [Self.sps, Self.pps])
        let results = TestResults(sender.packets(without: [2]), &depacketizer)
        #expect(results.frames == [Self.prefixed(slices)] && results.damages == [.lost])
    }

    @Test("an IDR frame that refers to a missing parameter set is not delivered")
    func wrongReference() {
        var random = TestRandom(seed: 4)
        let slice = TestFrames.slice(isIDR: true, pps: 3, count: 10, &random)
        #expect(TestResults.h264(Self.packets([[Self.sps, Self.pps, slice]])).damages == [.noParameterSets])
        let orphan = TestFrames.pps(id: 3, sps: 5)
        #expect(TestResults.h264(Self.packets([[Self.sps, Self.pps, orphan, slice]])).damages == [.noParameterSets])
        let set = TestFrames.pps(id: 3)
        #expect(TestResults.h264(Self.packets([[Self.sps, Self.pps, set, slice]])).keys == [true])
    }

    @Test(
        "a changed picture parameter set at a key frame replaces that of the configuration; within a GOP it stays in the frame"
    )
    func changedPictureSet() throws {
        let other = TestFrames.pps(variant: 1)
        let packets = Self.packets([
            [Self.sps, Self.pps, Self.idr], [other, Self.inter], [Self.pps, Self.inter], [other, Self.idr],
        ])
        let results = TestResults.h264(packets)
        #expect(results.frames[1] == Self.prefixed([other, Self.inter]))
        #expect(results.frames[2] == Self.prefixed([Self.inter]), "as in the configuration")
        #expect(results.frames[3] == Self.prefixed([Self.idr]))
        let record = try #require(results.configurations.last.flatMap { AVCRecord(record: $0) })
        #expect(record.pictureParameterSets == [other] && record.sequenceParameterSets == [Self.sps])
    }

    @Test("a frame with a recovery point is a key frame if its parameter sets are known, otherwise an ordinary frame")
    func recoveryPoint() {
        // recovery_frame_cnt 0.
        let sei: [UInt8] = [0x06, 0x06, 0x01, 0x84, 0x80]
        let packets = Self.packets([[Self.sps, Self.pps, sei, Self.inter], [sei, Self.inter]])
        #expect(TestResults.h264(packets).keys == [true, true])
        #expect(TestResults.h264(Array(packets.suffix(2))).keys == [false])
        #expect(TestResults.h264(Array(packets.suffix(2))).damages.isEmpty)
    }

    @Test(
        "a malformed payload damages only its own frame",
        arguments: [
            // STAP-A: without units, truncated length, length beyond the end, length 0, STAP-A inside, forbidden bit.
            [0x78], [0x78, 0x00], [0x78, 0x00, 0x06, 0x41, 0x9A], [0x78, 0xFF, 0xFF, 0x41, 0x9A], [0x78, 0, 0],
            [0x78, 0, 1, 0x78], [0x78, 0, 1, 0xC1], [0x78, 0, 2, 0x41, 0x9A, 0],
            // FU-A: without header, of a STAP-A, of type 0, continued but not begun, begun and not ended.
            [0x7C], [0x7C, 0x98], [0x7C, 0xC0], [0x7C, 0x41, 1], [0x7C, 0x81, 1],
            // Type 0, STAP-B, MTAP, FU-B, 30, 31; forbidden bit.
            [0], [0x79, 0, 0, 0, 1, 0x41], [0x7A, 1], [0x7B, 1], [0x7D, 0x81, 1], [0x7E], [0x7F], [0xC1, 0x9A],
        ] as [[UInt8]])
    func malformed(payload: [UInt8]) {
        let packets = Self.packets([
            [Self.sps, Self.pps, Self.idr], [Self.inter, payload], [Self.sps, Self.pps, Self.idr],
        ])
        let results = TestResults.h264(packets)
        #expect(results.keys == [true, true])
        #expect(results.damages == [.malformed])
        #expect(results.order == [1, 0, 1])
    }

    @Test("if a fragmented NAL unit is interrupted, begun again or continued with another type, its frame is dropped")
    func interruptedFragment() {
        for inside in [Self.inter, Self.stapA([Self.inter]), [0x7C, 0x81, 1], [0x7C, 0x45, 1]] as [[UInt8]] {
            let packets = Self.packets([[[0x7C, 0x81, 0x9A], inside, [0x7C, 0x41, 1]]])
            #expect(TestResults.h264(packets).damages == [.malformed], "\(inside)")
            #expect(TestResults.h264(packets).frames.isEmpty)
        }
    }

    @Test("a NAL unit in a single FU-A packet, with start and end bit set, is accepted")
    func singleFragment() {
        let packets = Self.packets([[Self.sps, Self.pps, [0x7C, 0xC5] + Self.idr[1...]]])
        #expect(TestResults.h264(packets).frames == [Self.prefixed([Self.idr])])
    }

    @Test("a frame has the latest arrival and the orientation of its packets, and the time of the first")
    func facts() throws {
        var sender = TestSender()
        sender.send(
            H264Packetizer(largestPayload: 16).payloads([Self.sps, Self.pps, Self.idr]), orientation: 0x09)
        var depacketizer = H264Depacketizer()
        var results: [FrameResult] = []
        for (index, packet) in sender.packets.enumerated() {
            depacketizer.receive(packet, time: Int64(index), into: &results)
        }
        guard case .whole(let frame) = try #require(results.first) else {
            Issue.record("no frame")
            return
        }
        #expect(frame.time == 0 && frame.orientation == 0x09 && frame.timestamp == sender.timestamp)
        #expect(sender.packets.count > 1 && frame.arrival == sender.packets.last?.arrival)
    }
}
