import HLS
import MediaTypes
import Testing

@Suite("SegmentBoundaries: where segments start, also after one was cut short")
struct SlotTableTests {
    @Test("without a cut, segments and parts have the grid's length")
    func grid() throws {
        let grid = try Make.grid()
        let slots = SegmentBoundaries(grid: grid)
        for frame in Int64(0)..<300 {
            #expect(slots.slot(ofFrame: frame) == frame / 64)
            #expect(slots.part(at: frame * 1_000, of: .video) == frame / 16)
        }
        #expect(slots.frames(ofSlot: 3) == 192..<256 && slots.firstFrame(ofPart: 5) == 80 && slots.partAfter(7) == 8)
    }

    @Test("planned cuts apply; a cut before the last of them removes the later planned ones")
    func planned() throws {
        var slots = SegmentBoundaries(grid: try Make.grid())
        slots.plan(cuts: [16, 32, 48, 64])
        #expect((0..<6).map { slots.frames(ofSlot: $0) } == [0..<16, 16..<32, 32..<48, 48..<64, 64..<128, 128..<192])
        #expect(slots.part(at: 20_000, of: .video) == 4 && slots.partAfter(4) == 8)
        #expect(slots.cut(at: 40) == 3)
        #expect((0..<5).map { slots.frames(ofSlot: $0) } == [0..<16, 16..<32, 32..<40, 40..<104, 104..<168])
        #expect(slots.cut(at: 30) == nil)
    }

    @Test("segments and parts after a cut have the grid's length, and no part is empty")
    func cuts() throws {
        var slots = SegmentBoundaries(grid: try Make.grid())
        #expect(slots.cut(at: 60) == 1)
        #expect(slots.cut(at: 120) == 2 && slots.cut(at: 120) == 2 && slots.cut(at: 60) == nil)
        #expect(slots.cut(at: 184) == 3 && slots.cut(at: 190) == 4)
        #expect(
            (0..<6).map { slots.frames(ofSlot: $0) } == [0..<60, 60..<120, 120..<184, 184..<190, 190..<254, 254..<318])
        var parts: [Int64] = []
        var part: Int64 = 0
        while part < 24 {
            parts.append(slots.firstFrame(ofPart: part))
            part = slots.partAfter(part)
        }
        #expect(
            parts == [0, 16, 32, 48, 60, 76, 92, 108, 120, 136, 152, 168, 184, 190, 206, 222, 238, 254, 270, 286, 302])
        for frame in Int64(0)..<318 {
            let slot = slots.slot(ofFrame: frame)
            #expect(slots.frames(ofSlot: slot).contains(frame))
            let part = slots.part(at: frame * 1_000 + 999, of: .video)
            #expect(slots.firstFrame(ofPart: part) <= frame && slots.firstFrame(ofPart: slots.partAfter(part)) > frame)
            #expect(part / 4 == slot)
        }
    }

    @Test("audio is cut at the same instant as video: at the first audio frame that starts in the new segment")
    func sound() throws {
        var slots = SegmentBoundaries(grid: try Make.grid())
        slots.cut(at: 31)
        let edge = slots.startOfPart(4, of: .audio)
        #expect(edge == 49_600)
        #expect(slots.part(at: edge - 1, of: .audio) == 1 && slots.part(at: edge, of: .audio) == 4)
    }

    @Test("at a cut a segment ends with the frame before the cut, and the next segment starts at the cut")
    func segmenter() throws {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for frame in Int64(0)..<60 { output += segmenter.append(Make.picture(frame, key: frame == 0)) }
        #expect(output.segments.isEmpty)
        output += segmenter.cut(at: 60)
        #expect(output.segments.map(\.duration.ticks) == [60_000])
        for frame in Int64(60)..<124 { output += segmenter.append(Make.picture(frame, key: frame == 60)) }
        #expect(output.segments.map(\.slot) == [0, 1])
        #expect(output.segments.map(\.start) == [0, 60_000] && output.segments.map(\.end) == [60_000, 124_000])
        #expect(output.parts.map(\.duration) == [16_000, 16_000, 16_000, 12_000, 16_000, 16_000, 16_000, 16_000])
        #expect(output.segments.allSatisfy { $0.independent })
    }

    @Test(
        "a publisher's own packets, after encoded ones, keep their decode timestamps; composition offsets may be negative"
    )
    func placed() throws {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for frame in Int64(0)..<32 {
            var packet = Make.picture(frame, key: frame == 0)
            packet.dts -= 1
            output += segmenter.append(packet)
        }
        output += segmenter.cut(at: 32)
        segmenter.beginStream(isPlaced: true)
        for (place, shown) in [Int64(32), 35, 33, 34, 38, 36, 37, 39].enumerated() {
            var packet = Make.picture(shown, key: place == 0)
            packet.dts = 32 + Int64(place)
            output += segmenter.append(packet)
        }
        output += segmenter.finish()
        let rows = output.segments.last.map { BoxDump($0.pieces.flatMap(\.bytes)).tables.flatMap(\.self) } ?? []
        #expect(rows.map(\.duration) == [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000])
        #expect(rows.map { Int($0.offset) } == [0, 2_000, -1_000, -1_000, 2_000, -1_000, -1_000, 0])
        #expect(segmenter.droppedPackets == 0)
    }
}
