import MediaTypes
import Testing

@Suite("Exact media time")
struct TimeMathTests {
    @Test(
        "scaling a time rounds to the nearest integer, halves up, for negative times too",
        arguments: [
            (3, 1, 2, 2), (-3, 1, 2, -1), (1, 1, 3, 0), (2, 1, 3, 1), (-1, 1, 3, 0), (-2, 1, 3, -1), (7, 10, 4, 18),
        ] as [(Int64, Int64, Int64, Int64)])
    func nearest(value: Int64, numerator: Int64, denominator: Int64, expected: Int64) {
        #expect(TimeMath.scale(value, by: numerator, over: denominator) == expected)
    }

    @Test(
        "a scaled time rounded down and one rounded up bracket the exact quotient, at most 1 apart",
        arguments: [-7, -6, -1, 0, 1, 6, 7] as [Int64])
    func brackets(value: Int64) {
        let down = TimeMath.scale(value, by: 1, over: 3, rounding: .down)
        let up = TimeMath.scale(value, by: 1, over: 3, rounding: .up)
        #expect(down * 3 <= value && value <= up * 3 && up - down <= 1)
    }

    @Test("scaling a time saturates at the ends of Int64 instead of trapping")
    func saturates() {
        #expect(TimeMath.scale(.max, by: .max, over: 1) == .max)
        #expect(TimeMath.scale(.min, by: .max, over: 1) == .min)
        #expect(TimeMath.rescale(.max / 2, from: 1, to: 1_000_000_000) == .max)
    }

    @Test("twenty years in nanoseconds are unchanged after conversion to samples and back")
    func longRunning() {
        let nanoseconds: Int64 = 20 * 365 * 86_400 * TimeMath.nanoseconds
        let samples = TimeMath.rescale(nanoseconds, from: TimeMath.nanoseconds, to: 48_000)
        #expect(TimeMath.rescale(samples, from: 48_000, to: TimeMath.nanoseconds) == nanoseconds)
    }

    @Test(
        "when a time is scaled, a product of more than 64 bits is divided and rounded like a short one",
        arguments: [.down, .nearest, .up] as [TimeMath.Rounding])
    func longProducts(rounding: TimeMath.Rounding) {
        let long: Int64 = 1 << 58
        for value in Int64(-60)...60 {
            let short = TimeMath.scale(value, by: 7, over: 6, rounding: rounding)
            #expect(TimeMath.scale(value, by: 7 * long, over: 6 * long, rounding: rounding) == short, "\(value)")
        }
    }
}
