#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Median, minimum and maximum of a ratio that was measured several times.
struct Spread: Codable, Sendable {
    var min: Double
    var median: Double
    var max: Double
    /// Two-sided interval of the median that contains the true median with a probability of at least 95 %; absent for fewer than
    /// ``fewestForInterval`` values. In results up to `0bb71d82` it is the interval of the geometric mean by Student's t.
    var interval95: [Double]?

    /// Fewest values for an ``interval95``. With five, the interval from the smallest to the largest value contains the true
    /// median with a probability of only 94 %.
    static let fewestForInterval = 6

    /// - Parameter values: At least one, all positive.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        self.min = (sorted.first ?? 0).rounded(digits: 4)
        self.max = (sorted.last ?? 0).rounded(digits: 4)
        let median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        self.median = median.rounded(digits: 4)
        self.interval95 = Self.interval(sorted)
    }

    /// The interval from the k-th smallest to the k-th largest value, with the largest k that reaches 95 %: each value is above
    /// the true median with a probability of one half, so the number of values above it has a binomial distribution.
    private static func interval(_ sorted: [Double]) -> [Double]? {
        guard sorted.count >= self.fewestForInterval else { return nil }
        let count = sorted.count
        var term = pow(0.5, Double(count))
        var tail = term
        var ends = 0
        while 2 * tail <= 0.05, ends < count / 2 {
            ends += 1
            term *= Double(count - ends + 1) / Double(ends)
            tail += term
        }
        guard ends > 0 else { return nil }
        return [sorted[ends - 1].rounded(digits: 4), sorted[count - ends].rounded(digits: 4)]
    }
}

extension Double {
    /// The value rounded to `digits` decimals.
    func rounded(digits: Int) -> Double {
        let scale = pow(10, Double(digits))
        return (self * scale).rounded() / scale
    }
}
