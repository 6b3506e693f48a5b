import HLS
import MediaTypes
import Testing

@Suite("SegmentBoundaries: where segments start, also after one was cut short")
struct SegmentBoundariesTests {
    @Test("without a cut, segments and parts have the grid's length")
    func grid() throws {
        let grid = try Make.grid()
        let boundaries = SegmentBoundaries(grid: grid)
        for frame in Int64(0)..<300 {
            #expect(boundaries.segmentIndex(ofFrame: frame) == frame / 64)
            #expect(boundaries.part(at: frame * 1_000, of: .video) == frame / 16)
        }
        #expect(
            boundaries.frames(ofSegment: 3) == 192..<256 && boundaries.firstFrame(ofPart: 5) == 80
                && boundaries.partAfter(7) == 8)
    }

    @Test("planned cuts apply; a cut before the last of them removes the later planned ones")
    func planned() throws {
        var boundaries = SegmentBoundaries(grid: try Make.grid())
        boundaries.plan(cuts: [16, 32, 48, 64])
        #expect(
            (0..<6).map { boundaries.frames(ofSegment: $0) } == [
                0..<16, 16..<32, 32..<48, 48..<64, 64..<128, 128..<192,
            ])
        #expect(boundaries.part(at: 20_000, of: .video) == 4 && boundaries.partAfter(4) == 8)
        #expect(boundaries.cut(at: 40) == 3)
        #expect((0..<5).map { boundaries.frames(ofSegment: $0) } == [0..<16, 16..<32, 32..<40, 40..<104, 104..<168])
        #expect(boundaries.cut(at: 30) == nil)
    }

    @Test("segments and parts after a cut have the grid's length, and no part is empty")
    func cuts() throws {
        var boundaries = SegmentBoundaries(grid: try Make.grid())
        #expect(boundaries.cut(at: 60) == 1)
        #expect(boundaries.cut(at: 120) == 2 && boundaries.cut(at: 120) == 2 && boundaries.cut(at: 60) == nil)
        #expect(boundaries.cut(at: 184) == 3 && boundaries.cut(at: 190) == 4)
        #expect(
            (0..<6).map { boundaries.frames(ofSegment: $0) } == [
                0..<60, 60..<120, 120..<184, 184..<190, 190..<254, 254..<318,
            ])
        var parts: [Int64] = []
        var part: Int64 = 0
        while part < 24 {
            parts.append(boundaries.firstFrame(ofPart: part))
            part = boundaries.partAfter(part)
        }
        #expect(
            parts == [0, 16, 32, 48, 60, 76, 92, 108, 120, 136, 152, 168, 184, 190, 206, 222, 238, 254, 270, 286, 302])
        for frame in Int64(0)..<318 {
            let segmentIndex = boundaries.segmentIndex(ofFrame: frame)
            #expect(boundaries.frames(ofSegment: segmentIndex).contains(frame))
            let part = boundaries.part(at: frame * 1_000 + 999, of: .video)
            #expect(
                boundaries.firstFrame(ofPart: part) <= frame
                    && boundaries.firstFrame(ofPart: boundaries.partAfter(part)) > frame)
            #expect(part / 4 == segmentIndex)
        }
    }

    @Test("audio is cut at the same instant as video: at the first audio frame that starts in the new segment")
    func audio() throws {
        var boundaries = SegmentBoundaries(grid: try Make.grid())
        boundaries.cut(at: 31)
        let edge = boundaries.startOfPart(4, of: .audio)
        #expect(edge == 49_600)
        #expect(boundaries.part(at: edge - 1, of: .audio) == 1 && boundaries.part(at: edge, of: .audio) == 4)
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
        #expect(output.segments.map(\.segmentIndex) == [0, 1])
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
