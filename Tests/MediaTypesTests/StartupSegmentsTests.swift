import MediaTypes
import Testing

@Suite("StartupSegments: the short segments at the start of a live room")
struct StartupSegmentsTests {
    private struct Case {
        var fps: Int
        var gop: Int
        var segment: Int
        var steps: [Int]
        var frames: Int64
        var end: Int64

        init(_ fps: Int, _ gop: Int, _ segment: Int, _ steps: [Int], _ frames: Int64, _ end: Int64) {
            (self.fps, self.gop, self.segment) = (fps, gop, segment)
            (self.steps, self.frames, self.end) = (steps, frames, end)
        }
    }

    private static let cases: [Case] = [
        Case(30, 32, 64, [1, 1, 2], 16, 64),
        Case(25, 32, 64, [1], 16, 64),
        Case(60, 64, 128, [1, 2], 32, 128),
        Case(30, 30, 60, [1, 2], 30, 120),
        Case(30, 30, 60, [1], 15, 60),
        Case(15, 16, 32, [1], 8, 32),
        Case(5, 5, 10, [1], 5, 20),
        Case(30, 30, 90, [1, 2], 30, 90),
        Case(30, 48, 48, [1], 16, 48),
        Case(30, 24, 48, [1], 24, 96),
        Case(24, 48, 240, [1], 12, 240),
        Case(60, 120, 240, [1, 2], 30, 240),
        // No shorter length fits: three whole segments.
        Case(30, 15, 15, [1], 15, 45),
        Case(30, 31, 31, [1], 31, 93),
        Case(1, 1, 1, [1], 1, 3),
        Case(30, 97, 97, [1], 97, 291),
    ]

    @Test(
        "a startup segment has the shortest length of at least 0.5 s that divides a full one and fits GOPs and renditions"
    )
    func length() throws {
        for item in Self.cases {
            let (frames, end) = (item.frames, item.end)
            let opening = try #require(
                StartupSegments(fps: item.fps, gopFrames: item.gop, segmentFrames: item.segment, steps: item.steps))
            #expect(opening.frames == frames && opening.end == end, "\(item)")
            #expect(end % Int64(item.segment) == 0 && end >= 3 * frames)
            #expect(opening.cuts.first == frames && opening.cuts.last == end)
            #expect(zip(opening.cuts, opening.cuts.dropFirst()).allSatisfy { $1 - $0 == frames })
        }
    }

    @Test(
        "there are no startup segments if no short length fits and three full ones exceed 10 s, or if fps or GOP length is 0",
        arguments: [(30, 101, 101), (30, 599, 599), (0, 32, 64), (30, 0, 0)])
    func tooLong(_ fps: Int, _ gop: Int, _ segment: Int) {
        #expect(StartupSegments(fps: fps, gopFrames: gop, segmentFrames: segment, steps: [1]) == nil)
    }

    @Test("each startup segment, and the first full one, starts with an IDR frame; GOP numbers never fall")
    func gops() throws {
        for (gop, segment) in [(32, 64), (30, 60), (8, 64), (48, 48), (62, 62)] {
            let opening = try #require(
                StartupSegments(fps: 30, gopFrames: gop, segmentFrames: segment, steps: [1, 2]))
            var keys: [Int64] = []
            var last: Int64?
            for frame in Int64(0)..<opening.end + 2 * Int64(segment) {
                let found = opening.gop(ofFrame: frame)
                #expect((found == nil) == (frame >= opening.end))
                let number = found?.number ?? frame / Int64(gop)
                #expect(last.map { number >= $0 } ?? true)
                if number != last { keys.append(frame) }
                if let found { #expect(found.first == keys.last) }
                last = number
            }
            #expect(opening.cuts.allSatisfy { keys.contains($0) })
            #expect(zip(keys, keys.dropFirst()).allSatisfy { $1 - $0 <= Int64(gop) })
        }
        let opening = try #require(StartupSegments(fps: 30, gopFrames: 32, segmentFrames: 64, steps: [1]))
        #expect(opening.gop(ofFrame: -1) == nil)
    }
}
