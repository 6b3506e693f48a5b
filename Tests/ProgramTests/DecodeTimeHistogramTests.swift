import Program
import Testing

@Suite("Histogram of decode times")
struct DecodeTimeHistogramTests {
    @Test("a histogram of decode times without a measurement gives no median")
    func empty() { #expect(DecodeTimeHistogram().microseconds(permille: 500) == nil) }

    @Test("a decode time from 1 µs to 16 s is reported exactly or at most a quarter too high")
    func one() throws {
        var times =
            (1...4_000).map { Int64($0) } + (0..<24).flatMap { octave in (-1...1).map { (Int64(1) << octave) + $0 } }
        times += stride(from: Int64(5_000), to: 16_000_000, by: 77_777)
        for microseconds in times where microseconds > 0 && microseconds < 1 << 24 {
            var histogram = DecodeTimeHistogram()
            histogram.note(microseconds * 1_000)
            let told = Int64(try #require(histogram.microseconds(permille: 500)))
            #expect(told >= microseconds && told <= microseconds + microseconds / 4, "\(microseconds): \(told)")
        }
    }

    @Test(
        "percentiles of fast and slow decode times are at most a quarter too high; times out of range count in the first or last bucket"
    )
    func percentiles() throws {
        var histogram = DecodeTimeHistogram()
        for _ in 0..<90 { histogram.note(2_000_000) }
        for _ in 0..<10 { histogram.note(40_000_000) }
        #expect((2_000...2_500).contains(try #require(histogram.microseconds(permille: 500))))
        #expect((2_000...2_500).contains(try #require(histogram.microseconds(permille: 900))))
        #expect((40_000...50_000).contains(try #require(histogram.microseconds(permille: 950))))
        #expect(histogram.count == 100)
        histogram.note(-5)
        histogram.note(.max)
        #expect(histogram.microseconds(permille: 1) == 1)
        #expect((1 << 23...1 << 24).contains(try #require(histogram.microseconds(permille: 1000))))
    }
}
