import HLS
import MediaKernels
import MediaTypes
import Testing

@Suite("Metadata in emsg boxes and SEI: ISO/IEC 23009-1 §5.10.3.3, ID3v2.4, H.264 §D.1.6")
struct EventMessageTests {
    private static func cue(_ frame: Int64, _ text: String, user: Bool = true) -> FrameMetadata {
        FrameMetadata(
            frame: frame,
            message: EventMessage(
                id: UInt32(frame), time: frame * 1_000, timescale: 30_000, payload: ID3Tag.text("t", text)),
            userData: user ? text : nil)
    }

    private static let uuid = [UInt8](repeating: 0xAB, count: 16)

    private static func plan(interval: Int64 = 0, idr: Bool = false) -> UserDataPlan {
        UserDataPlan(
            identifier: self.uuid, interval: interval, followsIDR: idr, extraInfo: "info", origin: 5_000_000_000,
            fps: 30)
    }

    /// A frame of one slice, with a delimiter before it.
    private static func picture(_ frame: Int64) -> CodedPacket {
        let isKey = frame % 32 == 0
        let bytes: [UInt8] = [0, 0, 0, 2, 9, 0x10, 0, 0, 0, 3, isKey ? 0x65 : 0x41, 0x88, UInt8(frame & 0x7F)]
        return CodedPacket(
            kind: .video, memory: PacketMemory(bytes), pts: frame, dts: frame, timescale: 30, isKey: isKey)
    }

    private static func sei(in part: FinishedPart) -> [String] {
        let text = String(decoding: part.memory.bytes, as: UTF8.self)
        return text.matches(of: /"app_data":"([^"]*)"/).map { String($0.output.1) }
    }

    @Test("an ID3 tag has synchsafe sizes and UTF-8 text; the text ends before a NUL")
    func tag() {
        #expect(
            ID3Tag.text("d", "vä")
                == Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 16] + Array("TXXX".utf8) + [0, 0, 0, 6, 0, 0]
                + [3, 0x64, 0, 0x76, 0xC3, 0xA4])
        let long = ID3Tag.text("d", String(repeating: "x", count: 300))
        // A frame of 303 bytes: 2 × 128 + 47.
        #expect(long[14...17] == [0, 0, 2, 47] && long.count == 10 + 10 + 303)
        #expect(ID3Tag.text("d", "a\u{0}b").suffix(1) == [0x61])
    }

    @Test("an emsg box has version 1 and the media timescale, and is between styp and moof")
    func box() throws {
        let grid = try Make.grid()
        var segmenter = TrackSegmenter(kind: .video, grid: grid, firstTick: 0)
        segmenter.cues.add(Self.cue(3, "a"), hasMessages: true)
        let parts = (0..<16).flatMap { segmenter.append(Self.picture($0)) }.parts
        let dump = BoxDump(try #require(parts.first).memory.bytes)
        #expect(
            dump.boxes.filter { !$0.path.dropFirst().contains("/") }.map(\.type) == ["styp", "emsg", "moof", "mdat"])
        let body = try #require(dump.all("emsg").first).body.lowerBound
        #expect(dump.u32(body) == 0x0100_0000 && dump.u32(body + 4) == 30_000 && dump.u64(body + 8) == 3_000)
        #expect(dump.u32(body + 16) == 0xFFFF_FFFF && dump.u32(body + 20) == 3)
        let scheme = Array("https://aomedia.org/emsg/ID3".utf8) + [0, 0]
        #expect(Array(dump.bytes[(body + 24)..<(body + 24 + scheme.count)]) == scheme)
        #expect(Array(dump.bytes[dump.all("emsg")[0].range].suffix(8)) == Array(ID3Tag.text("t", "a").suffix(8)))
        #expect(dump.all("BROKEN").isEmpty)
    }

    @Test("each emsg is once in the part of its frame; one that arrives too late is in the part that is then open")
    func places() throws {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 0)
        for frame in [40, 15, 16, 17] as [Int64] { segmenter.cues.add(Self.cue(frame, "e"), hasMessages: true) }
        var output: [TrackSegmenter.Output] = []
        for frame in 0..<96 as Range<Int64> {
            if frame == 50 { segmenter.cues.add(Self.cue(20, "late"), hasMessages: true) }
            output += segmenter.append(Self.picture(frame))
        }
        func ids(_ part: FinishedPart) -> [UInt32] {
            let dump = BoxDump(part.memory.bytes)
            return dump.all("emsg").map { dump.u32($0.body.lowerBound + 20) }
        }
        #expect(output.parts.map(ids) == [[15], [16, 17], [40], [20], [], []])
        // A segment is its parts: nothing in it is lost or doubled.
        let whole = output.segments.map { segment in
            BoxDump(segment.pieces.flatMap(\.bytes)).all("emsg").count
        }
        #expect(whole == [4 + 1])
    }

    @Test("an SEI NAL unit of user data contains no start code, and reads back unchanged")
    func escaping() {
        let content: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0]
        let unit = UserDataUnit.bytes(identifier: Self.uuid, content)
        #expect(unit.prefix(3) == [6, 5, 32])
        for place in unit.indices.dropLast(2) {
            #expect(!(unit[place] == 0 && unit[place + 1] == 0 && unit[place + 2] < 3))
        }
        var plain: [UInt8] = []
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
            } else {
                plain.append(byte)
                zeros = byte == 0 ? zeros + 1 : 0
            }
        }
        #expect(plain == [6, 5, 32] + Self.uuid + content + [0x80])
        // 16 + 500 bytes: two of 255 and the rest.
        #expect(
            UserDataUnit.bytes(identifier: [1], [UInt8](repeating: 7, count: 500)).prefix(5) == [6, 5, 255, 255, 6])
    }

    @Test("SEI units are inserted after the access unit delimiter; malformed frames stay unchanged")
    func inserted() throws {
        let picture = Self.picture(32)
        let unit: [UInt8] = [6, 1, 2]
        let changed = try #require(NALInsertion.inserting([unit], into: picture.memory, picture.range))
        #expect(changed.bytes == [0, 0, 0, 2, 9, 0x10, 0, 0, 0, 3, 6, 1, 2] + picture.memory.bytes.dropFirst(6))
        // No slice, or invalid lengths: unchanged.
        #expect(NALInsertion.inserting([unit], into: PacketMemory([0, 0, 0, 1, 9]), 0..<5) == nil)
        #expect(NALInsertion.inserting([unit], into: PacketMemory([0, 0, 9, 1, 0x65]), 0..<5) == nil)
        #expect(NALInsertion.inserting([unit], into: PacketMemory([]), 0..<0) == nil)
    }

    @Test(
        "an event is in the SEI of its frame; a rendition at half the frame rate without that frame has it in its next frame"
    )
    func userData() throws {
        for step in [1, 2] {
            var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 0, frameStep: step)
            segmenter.cues.plan = Self.plan()
            for frame in [5, 31] as [Int64] { segmenter.cues.add(Self.cue(frame, "e\(frame)"), hasMessages: false) }
            let output = (0..<96 as Range<Int64>).filter { $0 % Int64(step) == 0 }.flatMap {
                segmenter.append(Self.picture($0))
            }
            let found = output.parts.map(Self.sei)
            #expect(found == [["e5"], step == 1 ? ["e31"] : [], step == 1 ? [] : ["e31"], [], [], []], "\(step)")
            #expect(output.parts.allSatisfy { BoxDump($0.memory.bytes).all("emsg").isEmpty })
            for part in output.parts {
                let dump = BoxDump(part.memory.bytes)
                #expect(dump.all("BROKEN").isEmpty)
                // The sizes in the table match the media.
                let trun = try #require(dump.all("trun").first).body.lowerBound
                let sizes = (0..<Int(dump.u32(trun + 4))).reduce(0) { $0 + Int(dump.u32(trun + 12 + 16 * $1 + 4)) }
                #expect(sizes == dump.all("mdat").first?.body.count)
            }
        }
    }

    @Test(
        "without events, an SEI with the current scene layout and the time is sent every 12 frames and in IDR frames"
    )
    func periodic() throws {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 0)
        var plan = Self.plan(interval: 12, idr: true)
        plan.show([.init("regions", .array([.string("solo")]))], from: 0, isScheduled: false)
        plan.show([.init("regions", .array([.string("later")]))], from: 60, isScheduled: true)
        plan.show([.init("regions", .array([.string("pk")]))], from: 20, isScheduled: true)
        segmenter.cues.plan = plan
        let parts = (0..<64 as Range<Int64>).flatMap { segmenter.append(Self.picture($0)) }.parts
        // 0 12 | 24 | 32 (IDR) 36 | 48 60.
        #expect(parts.map { Self.sei(in: $0).count } == [2, 1, 2, 2])
        let text = String(decoding: parts.flatMap(\.memory.bytes), as: UTF8.self)
        let layouts = text.matches(of: /"regions":\["(\w+)"\],"ver":"20190611","ts":(\d+),"app_data":"info"/)
        #expect(layouts.map { String($0.output.1) } == ["solo", "solo", "pk", "pk", "pk", "pk", "later"])
        #expect(layouts.map { String($0.output.2) } == ["5000", "5400", "5800", "6067", "6200", "6600", "7000"])
    }

    @Test("passthrough packets get the same SEI: each event in its frame, the configured text in IDR frames")
    func packets() {
        var cues = PendingFrameMetadata()
        #expect(cues.carrying(Self.picture(0), fps: 30, step: 1).memory.bytes == Self.picture(0).memory.bytes)
        cues.plan = Self.plan(idr: true)
        cues.add(Self.cue(3, "three"), hasMessages: false)
        cues.add(Self.cue(40, "forty"), hasMessages: false)
        var said: [Int64: String] = [:]
        for frame in Int64(0)..<64 {
            let before = Self.picture(frame)
            let after = cues.carrying(before, fps: 30, step: 1)
            #expect(after.pts == before.pts && after.isKey == before.isKey && after.range == 0..<after.memory.count)
            guard after.memory !== before.memory else { continue }
            // After the delimiter, before the slice, with lengths.
            let bytes = after.memory.bytes
            #expect(bytes.prefix(6) == before.memory.bytes.prefix(6) && bytes[10] == 0x06)
            #expect(bytes.suffix(7) == before.memory.bytes.suffix(7))
            let text = String(decoding: bytes, as: UTF8.self)
            said[frame] = text.firstMatch(of: /"app_data":"([^"]*)"/).map { String($0.output.1) }
        }
        #expect(said == [0: "info", 3: "three", 32: "info", 40: "forty"])
        // A rendition with half the frame rate: its own next frame, and pts in another timescale.
        cues.add(Self.cue(65, "odd"), hasMessages: false)
        var packet = Self.picture(66)
        (packet.pts, packet.dts, packet.timescale) = (66_000, 66_000, 30_000)
        #expect(String(decoding: cues.carrying(packet, fps: 30, step: 2).memory.bytes, as: UTF8.self).contains("odd"))
    }
    @Test("events of dropped frames are dropped; the next IDR frame has the layout of its own time")
    func passing() throws {
        var cues = PendingFrameMetadata()
        var plan = Self.plan(idr: true)
        plan.show([.init("regions", .array([.string("solo")]))], from: 0, isScheduled: false)
        cues.plan = plan
        cues.add(Self.cue(3, "three"), hasMessages: false)
        cues.passing(Self.picture(0), fps: 30, step: 1)
        cues.plan?.show([.init("regions", .array([.string("pk")]))], from: 20, isScheduled: false)
        for frame in [32, 64] as [Int64] { cues.passing(Self.picture(frame), fps: 30, step: 1) }
        #expect(cues.carrying(Self.picture(65), fps: 30, step: 1).memory.bytes == Self.picture(65).memory.bytes)
        let text = String(decoding: cues.carrying(Self.picture(96), fps: 30, step: 1).memory.bytes, as: UTF8.self)
        #expect(text.contains(#""regions":["pk"]"#) && text.contains(#""app_data":"info""#))
    }
}
