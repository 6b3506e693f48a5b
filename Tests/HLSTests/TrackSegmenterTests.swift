import HLS
import MediaTypes
import TestSupport
import Testing

@Suite("Track segmenter: the output grid, CMAF ISO/IEC 23000-19 §7.3.2")
struct TrackSegmenterTests {
    /// Feeds frames without reordering; every `keys`th is an IDR frame.
    private static func run(
        _ frames: [Int64], keys: Int64 = 32, firstTick: Int64 = 0, finish: Bool = true, timescale: Int32 = 30
    ) throws -> [TrackSegmenter.Output] {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: firstTick)
        var output: [TrackSegmenter.Output] = []
        let unit = Int64(timescale / 30)
        for frame in frames {
            var packet = Make.picture(frame, key: frame % keys == 0)
            packet.pts *= unit
            packet.dts *= unit
            packet.timescale = timescale
            output += segmenter.append(packet)
        }
        if finish { output += segmenter.finish() }
        return output
    }

    @Test(
        "a segment is complete once its last frame is there, whether packet times are in frames or in 1/30,000 s",
        arguments: [Int32(30), 30_000])
    func segmentsOnGrid(timescale: Int32) throws {
        let output = try Self.run(Array(0..<128), finish: false, timescale: timescale)
        #expect(output.segments.map(\.start) == [0, 64_000])
        #expect(output.segments.map(\.duration.ticks) == [64_000, 64_000])
        #expect(output.segments.map(\.segmentIndex) == [0, 1])
        #expect(output.parts.map(\.independent) == [true, false, true, false, true, false, true, false])
        #expect(output.parts.map(\.sampleCount) == [16, 16, 16, 16, 16, 16, 16, 16])
    }

    @Test("a segment's bytes are those of its parts, with correct decode times, sequence numbers and flags")
    func fragments() throws {
        let output = try Self.run(Array(0..<128))
        for segment in output.segments {
            let bytes = segment.pieces.flatMap(\.bytes)
            #expect(bytes.count == segment.byteCount)
            let dump = BoxDump(bytes)
            #expect(dump.boxes.first?.type == "styp")
            #expect(dump.all("styp").count == 1)
            #expect(dump.all("moof").count == 4)
            #expect(dump.all("BROKEN").isEmpty)
            #expect(dump.decodeTimes == (0..<4).map { UInt64(segment.start + $0 * 16_000) })
            #expect(dump.sequences == (0..<4).map { UInt32(segment.segmentIndex) * 4 + $0 + 1 })
            for (moof, run) in zip(dump.all("moof"), dump.all("trun")) {
                let offset = Int(dump.u32(run.body.lowerBound + 8))
                #expect(dump.all("mdat").contains { $0.body.lowerBound == moof.range.lowerBound + offset })
            }
            for table in dump.tables { #expect(table.reduce(0) { $0 + $1.duration } == 16_000) }
            #expect(dump.tables.map { $0[0].flags == FragmentWriter.syncSample } == [true, false, true, false])
        }
    }

    @Test("a missing frame extends the frame before it, and the segment still ends on the grid")
    func lostPicture() throws {
        for lost in [Int64(5), 15, 31, 63, 62, 40] {
            let output = try Self.run((0..<128).filter { $0 != lost })
            #expect(output.segments.map(\.start) == [0, 64_000])
            #expect(output.segments.map(\.end) == [64_000, 128_000])
            let rows = output.segments.flatMap { BoxDump($0.pieces.flatMap(\.bytes)).tables.flatMap(\.self) }
            #expect(rows.count == 127)
            #expect(rows.filter { $0.duration == 2_000 }.count == 1)
            #expect(rows[Int(lost) - 1].duration == 2_000)
        }
    }

    @Test("a missing frame at the start of a part is covered by the next frame")
    func lostHead() throws {
        let output = try Self.run((0..<128).filter { $0 != 16 })
        let dump = BoxDump(output.segments[0].pieces.flatMap(\.bytes))
        #expect(dump.decodeTimes == [0, 16_000, 32_000, 48_000])
        #expect(dump.tables[1][0].duration == 2_000)
        #expect(dump.tables[1][0].offset == 0)
    }

    @Test("a segment without an IDR frame at its start is not marked independent")
    func notIndependent() throws {
        let output = try Self.run((0..<128).filter { $0 != 64 })
        #expect(output.segments.map(\.independent) == [true, false])
        #expect(output.segments[1].start == 64_000)
    }

    @Test("when the stream ends, the last segment is as long as its frames")
    func shortEnd() throws {
        let output = try Self.run(Array(0..<71))
        #expect(output.segments.map(\.duration.ticks) == [64_000, 7_000])
        #expect(output.parts.last?.duration == 7_000)
    }

    @Test("frames before the first IDR frame and before the first tick are dropped")
    func startsWithKey() throws {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 64)
        var output: [TrackSegmenter.Output] = []
        for frame in Int64(50)..<192 { output += segmenter.append(Make.picture(frame, key: frame % 32 == 3)) }
        #expect(segmenter.droppedPackets == 17)
        #expect(output.segments.map(\.segmentIndex) == [1, 2])
        #expect(output.segments.map(\.start) == [64_000, 128_000])
    }

    @Test("a segment without any frame is a gap; later segments keep their times")
    func holes() throws {
        let output = try Self.run(Array(0..<64) + Array(256..<320))
        #expect(output.segments.map(\.segmentIndex) == [0, 1, 2, 3, 4])
        #expect(output.segments.map(\.gap) == [false, true, true, true, false])
        #expect(output.segments.map(\.start) == [0, 64_000, 128_000, 192_000, 256_000])
        let last = BoxDump(output.segments[4].pieces.flatMap(\.bytes))
        #expect(last.decodeTimes.first == 256_000)
        #expect(last.tables.flatMap(\.self).allSatisfy { $0.duration == 1_000 })
    }

    @Test(
        "with up to three B-frames, a segment starts at its IDR frame's time and frames are shown at their times",
        arguments: 0...3)
    func reordering(bFrames: Int) throws {
        var segmenter = TrackSegmenter(kind: .video, grid: try Make.grid(), firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for packet in Self.reordered(Array(0..<192), bFrames: bFrames) { output += segmenter.append(packet) }
        output += segmenter.finish()
        #expect(output.segments.map(\.start) == [0, 64_000, 128_000])
        #expect(output.segments.map(\.independent) == [true, true, true])
        for segment in output.segments {
            var shown: [Int64] = []
            let dump = BoxDump(segment.pieces.flatMap(\.bytes))
            for (start, table) in zip(dump.decodeTimes, dump.tables) {
                var time = Int64(start)
                for row in table {
                    shown.append(time + Int64(row.offset))
                    time += Int64(row.duration)
                }
            }
            #expect(shown.sorted() == (0..<64).map { segment.start + $0 * 1_000 })
        }
    }

    @Test(
        "with 10 % of the frames lost at random and up to three B-frames, parts meet, durations are positive and no other frame is lost",
        arguments: 0..<300)
    func lossProperty(seed: Int) throws {
        var random = TestRandom(state: UInt64(seed))
        let grid = try Make.grid()
        let kept = (Int64(0)..<256).filter { frame in
            frame == 0 || Double.random(in: 0..<1, using: &random) > 0.1
        }
        var segmenter = TrackSegmenter(kind: .video, grid: grid, firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for packet in Self.reordered(kept, bFrames: seed % 4) { output += segmenter.append(packet) }
        output += segmenter.finish()
        #expect(segmenter.droppedPackets == 0)
        let dump = BoxDump(output.segments.flatMap { $0.pieces.flatMap(\.bytes) })
        #expect(dump.all("BROKEN").isEmpty)
        #expect(dump.tables.reduce(0) { $0 + $1.count } == kept.count)
        #expect(output.segments.map(\.segmentIndex) == [0, 1, 2, 3])
        #expect(output.segments.map(\.start) == [0, 64_000, 128_000, 192_000])
        for (index, table) in dump.tables.enumerated() {
            let end = dump.decodeTimes[index] + UInt64(table.reduce(0) { $0 + $1.duration })
            if index + 1 < dump.tables.count { #expect(dump.decodeTimes[index + 1] == end) }
            #expect(table.allSatisfy { $0.duration >= 1 })
            #expect(
                table.dropFirst().allSatisfy { $0.flags == FragmentWriter.dependentSample },
                "an IDR frame starts a part")
        }
    }

    @Test("at 48 kHz and 30 fps, audio has 100 frames in each segment and 25 in each part")
    func audioOnGrid() throws {
        var segmenter = TrackSegmenter(kind: .audio, grid: try Make.grid(), firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for frame in Int64(0)..<1_000 { output += segmenter.append(Make.audioPacket(frame * 1_024)) }
        #expect(output.segments.count == 10)
        #expect(output.segments.allSatisfy { $0.duration.ticks == 102_400 && $0.independent })
        #expect(output.parts.allSatisfy { $0.sampleCount == 25 })
        let dump = BoxDump(output.segments[9].pieces.flatMap(\.bytes))
        #expect(dump.decodeTimes.first == 921_600)
        #expect(dump.tables[0].allSatisfy { $0.duration == 1_024 && $0.flags == nil })
    }

    @Test(
        "at 44.1 kHz, an audio frame across a boundary belongs to the segment it starts in",
        arguments: [24, 30, 29])
    func audioOffGrid(fps: Int) throws {
        let grid = try OutputGrid(fps: fps, sampleRate: 44_100)
        var segmenter = TrackSegmenter(kind: .audio, grid: grid, firstTick: 0)
        var output: [TrackSegmenter.Output] = []
        for frame in Int64(0)..<3_000 {
            var packet = Make.audioPacket(frame * 1_024 + 300)
            packet.timescale = 44_100
            output += segmenter.append(packet)
        }
        var end: Int64 = 300
        for segment in output.segments {
            #expect(segment.start == end)
            end = segment.end
            let boundary = grid.startOfPart(segment.segmentIndex * Int64(grid.partsPerSegment), of: .audio)
            #expect(segment.start >= boundary && segment.start < boundary + 1_024)
            #expect(segment.duration.roundedSeconds <= Int64(grid.targetDuration))
        }
    }

    @Test("audio before the first tick, and frames whose timestamp goes back, are dropped")
    func audioStart() throws {
        var segmenter = TrackSegmenter(kind: .audio, grid: try Make.grid(), firstTick: 64)
        for pts in [Int64(101_376), 102_400, 103_424, 102_400, 103_424, 104_448] {
            _ = segmenter.append(Make.audioPacket(pts))
        }
        #expect(segmenter.droppedPackets == 3)
        #expect(segmenter.finish().segments.map(\.start) == [102_400])
    }

    @Test(
        "audio is cut where video ends, also in parts that were already complete",
        arguments: [1, 24, 25, 26, 40, 49, 50, 70])
    func audioEnd(keep: Int64) throws {
        var segmenter = TrackSegmenter(kind: .audio, grid: try Make.grid(), firstTick: 0)
        for frame in Int64(0)..<70 { _ = segmenter.append(Make.audioPacket(frame * 1_024)) }
        let segment = try #require(segmenter.finish(cuttingAt: keep * 1_024 - 500).segments.first)
        #expect(segment.duration.ticks == keep * 1_024)
        let dump = BoxDump(segment.pieces.flatMap(\.bytes))
        #expect(dump.tables.reduce(0) { $0 + $1.count } == keep)
        #expect(dump.all("styp").count == 1)
    }

    @Test("decode times 20 years after the origin are written in 64 bits")
    func longAfterOrigin() throws {
        let frame: Int64 = 20 * 365 * 86_400 * 30 / 64 * 64
        let output = try Self.run((0..<64).map { frame + $0 }, keys: 64, firstTick: frame)
        #expect(BoxDump(output.segments[0].pieces.flatMap(\.bytes)).decodeTimes.first == UInt64(frame) * 1_000)
    }

    @Test(
        "timestamps and timescales out of range do not trap and give at most 1,100 results per packet",
        arguments: [Int64.max, .min, 1 << 52, 1 << 62, -1, .max / 1_000 * 7])
    func absurdTimes(value: Int64) throws {
        for timescale: Int32 in [1, 30, 30_000, .max, 0, -5] {
            for kind in TrackKind.allCases {
                var segmenter = TrackSegmenter(kind: kind, grid: try Make.grid(), firstTick: 0)
                let first = kind == .video ? Make.picture(0, key: true) : Make.audioPacket(0)
                _ = segmenter.append(first)
                var packet = first
                packet.pts = value
                packet.dts = value
                packet.duration = value
                packet.timescale = timescale
                #expect(segmenter.append(packet).count <= 1_100)
                packet.dts = 5
                #expect(segmenter.append(packet).count <= 1_100)
                _ = segmenter.finish()
            }
        }
    }

    /// Frames in decode order with an encoder's `dts`: groups of B-frames after their reference, closed GOPs of 32
    /// frames, `dts` as the sorted times moved back by the delay.
    private static func reordered(_ frames: [Int64], bFrames: Int) -> [CodedPacket] {
        var order: [Int64] = []
        var group: [Int64] = []
        func flush() {
            guard let last = group.last else { return }
            if bFrames == 3, group.count >= 3 {
                order += [last, group[group.count / 2 - 1]]
                order += group.dropLast().filter { $0 != group[group.count / 2 - 1] }
            } else {
                order += [last] + group.dropLast()
            }
            group = []
        }
        var gop: Int64 = -1
        var keys: Set<Int64> = []
        for frame in frames {
            if frame / 32 != gop {
                flush()
                gop = frame / 32
                keys.insert(frame)
                order.append(frame)
                continue
            }
            group.append(frame)
            if group.count > bFrames { flush() }
        }
        flush()
        let delay = bFrames == 0 ? 0 : bFrames == 3 ? 2 : 1
        let sorted = order.sorted()
        return order.enumerated().map { index, frame in
            let dts = index >= delay ? sorted[index - delay] : sorted[index] - (sorted[delay] - sorted[0])
            return Make.picture(frame, dts: dts, key: keys.contains(frame))
        }
    }
}
