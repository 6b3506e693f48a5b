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
    /// Two-sided 95 % interval of the geometric mean by Student's t on the logarithms; absent for fewer than 3 values.
    var interval95: [Double]?

    /// - Parameter values: At least one, all positive.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        self.min = (sorted.first ?? 0).rounded(digits: 4)
        self.max = (sorted.last ?? 0).rounded(digits: 4)
        let median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        self.median = median.rounded(digits: 4)
        self.interval95 = Self.interval(values)
    }

    /// 97.5 % quantiles of Student's t for 2, 3, … degrees of freedom; the last is used for all higher ones.
    private static let quantiles = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]

    private static func interval(_ values: [Double]) -> [Double]? {
        guard values.count >= 3 else { return nil }
        let logs = values.map { log($0) }
        let count = Double(logs.count)
        let mean = logs.reduce(0, +) / count
        let variance = logs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
        let half =
            self.quantiles[Swift.min(values.count - 3, self.quantiles.count - 1)] * (variance / count).squareRoot()
        return [exp(mean - half).rounded(digits: 4), exp(mean + half).rounded(digits: 4)]
    }
}

extension Double {
    /// The value rounded to `digits` decimals.
    func rounded(digits: Int) -> Double {
        let scale = pow(10, Double(digits))
        return (self * scale).rounded() / scale
    }
}
