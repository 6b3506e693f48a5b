import HLS
import MediaTypes
import Testing

@Suite("Output grid (lengths of segments, parts and GOPs): rfc8216bis §4.4.3.1, §4.4.4.9")
struct OutputGridTests {
    @Test(
        "with the default grid, each part contains whole AAC frames at 25, 30, 50 and 60 fps",
        arguments: [25, 30, 50, 60])
    func partsHoldWholeAudioFrames(fps: Int) throws {
        let grid = try OutputGrid(fps: fps)
        for part in Int64(0)..<50 {
            #expect(grid.startOfPart(part, of: .audio) % 1024 == 0)
        }
        #expect(grid.partTarget == MediaDuration(ticks: Int64(grid.partFrames), timescale: Int32(fps)))
    }

    @Test(
        "the target duration is the grid's segment length rounded to the nearest second",
        arguments: [
            (30, 32, 2, 16, 2), (25, 32, 2, 16, 3), (60, 64, 2, 32, 2), (30, 60, 1, 30, 2), (30, 30, 6, 15, 6),
            (1, 1, 1, 1, 1), (30, 5, 1, 5, 1), (10, 25, 1, 25, 3),
        ])
    func targetDuration(fps: Int, gop: Int, gops: Int, part: Int, expected: Int) throws {
        let grid = try OutputGrid(fps: fps, gopFrames: gop, segmentGops: gops, partFrames: part)
        #expect(grid.targetDuration == expected)
    }

    @Test("the target duration covers an audio frame that reaches past the segment's end")
    func overhangIsCovered() throws {
        // 149 frames at 60 fps, 2.483 s, can need 117 AAC frames at 48 kHz: 2.496 s. At 8 kHz they can need 20: 2.56 s,
        // which rounds to 3.
        #expect(try OutputGrid(fps: 60, gopFrames: 149, segmentGops: 1, partFrames: 149).targetDuration == 2)
        #expect(try OutputGrid(fps: 48, gopFrames: 119, segmentGops: 1, partFrames: 119).targetDuration == 2)
        #expect(try OutputGrid(fps: 12, gopFrames: 29, segmentGops: 1, partFrames: 29).targetDuration == 2)
        #expect(try OutputGrid(fps: 56, gopFrames: 139, segmentGops: 1, partFrames: 139).targetDuration == 2)
        #expect(
            try OutputGrid(fps: 60, gopFrames: 149, segmentGops: 1, partFrames: 149, sampleRate: 8_000).targetDuration
                == 3)
    }

    @Test(
        "an invalid grid is refused with the field's name or the reason",
        arguments: [
            (0, 32, 2, 16, "fps"), (61, 32, 2, 16, "fps"), (30, 0, 2, 16, "gopFrames"), (30, 32, 0, 16, "segmentGops"),
            (30, 32, 2, 0, "partFrames"), (30, 32, 2, 15, "partFrames"), (30, 32, 3, 64, "partFrames"),
            (30, 32, 2, 128, "partFrames"), (1, 60, 2, 60, "longer"), (30, -5, 2, 16, "gopFrames"),
        ])
    func badGridIsRefused(fps: Int, gop: Int, gops: Int, part: Int, word: String) {
        let error = #expect(throws: MediaError.self) {
            try OutputGrid(fps: fps, gopFrames: gop, segmentGops: gops, partFrames: part)
        }
        #expect(error?.code == .rejected)
        #expect(error?.what.contains(word) == true)
    }

    @Test(
        "every frame rate has a default grid with segments of less than 6 s and parts of less than 2 s",
        arguments: 1...60)
    func defaultsAreValid(fps: Int) throws {
        let grid = try OutputGrid(fps: fps)
        #expect(grid.segmentDuration < MediaDuration(ticks: 6, timescale: 1))
        #expect(grid.partTarget < MediaDuration(ticks: 2, timescale: 1))
    }

    @Test(
        "a part's start is in that part, and the tick before it in the previous one", arguments: [24, 25, 29, 30, 60])
    func startAndMembershipAgree(fps: Int) throws {
        let grid = try OutputGrid(fps: fps, sampleRate: 44_100)
        for kind in TrackKind.allCases {
            for part in [Int64(1), 2, 3, 7, 1_000, 1_234_567, 40_000_000] {
                let start = grid.startOfPart(part, of: kind)
                #expect(grid.part(at: start, of: kind) == part)
                #expect(grid.part(at: start - 1, of: kind) == part - 1)
            }
        }
    }

    @Test("the grid finds the first segment that starts at or after a time, and segment 0 for a negative time")
    func firstSlotRoundsUp() throws {
        let grid = try OutputGrid(fps: 30)
        #expect(grid.firstSegmentIndex(atOrAfter: -5) == 0)
        #expect(grid.firstSegmentIndex(atOrAfter: 0) == 0)
        #expect(grid.firstSegmentIndex(atOrAfter: 1) == 1)
        #expect(grid.firstSegmentIndex(atOrAfter: 2_133_333_333) == 1)
        #expect(grid.firstSegmentIndex(atOrAfter: 2_133_333_334) == 2)
        #expect(grid.firstFrame(ofSegment: 2) == 128)
    }
}
