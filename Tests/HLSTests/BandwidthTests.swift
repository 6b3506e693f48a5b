import HLS
import TestSupport
import Testing

@Suite("Bandwidth: rfc8216bis §4.1, §4.4.6.2")
struct BandwidthTests {
    @Test(
        "the bandwidth meter's peak and average equal those of a brute-force search over all runs of segments",
        arguments: 0..<100
    )
    func meterAgreesWithBruteForce(seed: Int) {
        var random = TestRandom(state: UInt64(seed))
        let segments = (0..<60).map { _ in
            (ms: Int64.random(in: 200...2_500, using: &random), bytes: Int.random(in: 0...900_000, using: &random))
        }
        var meter = BandwidthMeter(targetDuration: 2)
        for segment in segments {
            meter.append(duration: MediaDuration(ticks: segment.ms, timescale: 1_000), byteCount: segment.bytes)
        }
        var peak: Int64 = 0
        for first in segments.indices {
            var ms: Int64 = 0
            var bytes: Int64 = 0
            for last in first..<segments.count {
                ms += segments[last].ms
                bytes += Int64(segments[last].bytes)
                if ms >= 1_000, ms <= 3_500 { peak = max(peak, (bytes * 8_000 + ms - 1) / ms) }
            }
        }
        #expect(meter.peak == peak)
        #expect(
            meter.average
                == (segments.reduce(Int64(0)) { $0 + Int64($1.bytes) } * 8_000 + segments.reduce(0) { $0 + $1.ms } - 1)
                / segments.reduce(0) { $0 + $1.ms })
    }

    @Test("for the peak bit rate, segments before and after a gap do not count as one run of segments")
    func gapBreaksRun() {
        var meter = BandwidthMeter(targetDuration: 2)
        let half = MediaDuration(ticks: 6, timescale: 10)
        meter.append(duration: half, byteCount: 1_000)
        meter.breakRun()
        meter.append(duration: half, byteCount: 1_000)
        #expect(meter.peak == 0)
        meter.append(duration: half, byteCount: 1_000)
        #expect(meter.peak == 13_334)
    }

    @Test("BANDWIDTH follows from the encoder's peak rate and rate buffer (VBV), AVERAGE-BANDWIDTH from its bit rate")
    func declared() throws {
        let grid = try Make.grid()
        let value = DeclaredBandwidth(
            videoBitrate: 2_000_000, videoPeak: 2_400_000, videoBuffer: 2_400_000, audioBitrate: 64_000, audioPeak: 0,
            grid: grid)
        // 1.03 × (2,400,000 + 2,400,000 / 2.13333) + 1.02 × 64,000 + 2 × 150 × 8 / 0.53333
        #expect(value.peak == 3_630_750 + 65_280 + 4_500)
        #expect(value.average == 2_060_000 + 64_000 + 4_500)
        let audio = DeclaredBandwidth(
            videoBitrate: 0, videoPeak: 0, videoBuffer: 9, audioBitrate: 64_000, audioPeak: 70_000, grid: grid)
        #expect(audio.peak == 71_400 + 2_250)
        let absurd = DeclaredBandwidth(
            videoBitrate: .max, videoPeak: .min, videoBuffer: .max, audioBitrate: .max, audioPeak: .max, grid: grid)
        #expect(absurd.peak > 0)
    }
}
