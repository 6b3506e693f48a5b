import HLS
import MediaTypes
import Testing

/// A day of playlists with a simulated clock, from twenty years after the origin on, where 32-bit decode times have
/// long wrapped. A canvas has an integer frame rate; 29.97 is refused when the pipeline is read
/// (`PipelineMistakeTests`), and `OutputGrid` cannot express it.
@Suite("Playlists of a whole day: Apple HLS authoring specification 8.1, rfc8216bis §6.2.1")
struct DayTests {
    private static let twentyYears: Int64 = 20 * 365 * 86_400

    @Test(
        "over a day, sums of EXTINF are exact within 20 µs, sequence numbers rise by one and playlists stay under 4,000 bytes",
        arguments: [25, 30, 50, 60], [44_100, 48_000])
    func day(fps: Int, sampleRate: Int) throws {
        let grid = try OutputGrid(fps: fps, sampleRate: sampleRate)
        for kind in TrackKind.allCases {
            let timescale = grid.timescale(of: kind)
            var window = PlaylistWindow(style: .live(windowSeconds: 20), targetDuration: grid.targetDuration)
            var segmentIndex = grid.firstSegmentIndex(atOrAfter: Self.twentyYears * TimeMath.nanoseconds)
            let origin = Self.start(segmentIndex, grid, kind)
            let last = segmentIndex + 86_400 * Int64(fps) / Int64(grid.segmentFrames)
            // Listed time minus true time at each boundary, in units of 10 µs: the spread bounds every sub-range.
            var listed: Int64 = 0
            var low: Int64 = 0, high: Int64 = 0
            var longest = 0
            // The playlist is rendered after every eighth segment only: rendering is most of the test's time.
            var truth: [Int64] = []
            while segmentIndex < last {
                let start = Self.start(segmentIndex, grid, kind)
                let end = Self.start(segmentIndex + 1, grid, kind)
                try window.append(
                    Segment(
                        mediaSequence: window.nextMediaSequence, uri: "s-\(segmentIndex).m4s", start: start,
                        duration: MediaDuration(ticks: end - start, timescale: timescale),
                        programDate: TimeMath.rescale(start, from: Int64(timescale), to: TimeMath.nanoseconds),
                        map: InitializationSegment(uri: "i.mp4"), byteCount: 1))
                window.removeFirst(window.removableCount)
                truth.append(TimeMath.rescale(end - origin, from: Int64(timescale), to: 100_000))
                segmentIndex += 1
                guard truth.count == 8 || segmentIndex == last else { continue }
                let text = MediaPlaylist(window).rendered()
                longest = max(longest, text.utf8.count)
                let lines = text.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }
                try #require(lines.count >= truth.count)
                for (line, truth) in zip(lines.suffix(truth.count), truth) {
                    let digits = line.dropFirst(8).filter { $0 != "." && $0 != "," }
                    listed += try #require(Int64(digits))
                    low = min(low, listed - truth)
                    high = max(high, listed - truth)
                }
                truth.removeAll(keepingCapacity: true)
            }
            let count = last - grid.firstSegmentIndex(atOrAfter: Self.twentyYears * TimeMath.nanoseconds)
            #expect(window.nextMediaSequence == count)
            // A frame at 60 fps is 1,666 units.
            #expect(high - low <= 2, "\(kind): \(low)…\(high)")
            #expect(longest < 4_000)
        }
    }

    /// Where the segment starts: for audio at the first AAC frame that starts in it.
    private static func start(_ segmentIndex: Int64, _ grid: OutputGrid, _ kind: TrackKind) -> Int64 {
        let start = grid.startOfPart(segmentIndex * Int64(grid.partsPerSegment), of: kind)
        guard kind == .audio else { return start }
        let frame = OutputGrid.samplesPerAudioFrame
        return (start + frame - 1) / frame * frame
    }

    @Test("an output grid refuses an invalid frame rate, with a fix", arguments: [0, -1, 61, 120])
    func refused(fps: Int) {
        let error = #expect(throws: MediaError.self) { try OutputGrid(fps: fps) }
        #expect(error?.fix.contains("1 to 60") == true)
    }
}
