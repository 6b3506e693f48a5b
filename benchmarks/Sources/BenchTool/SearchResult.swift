#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Comparison of sets of x264 settings with a reference set.
struct SearchResult: Codable {
    /// Name of the reference set.
    var reference: String
    var clips: [String]
    var seconds: Double
    var points: [Point]

    /// Cost and quality of a set over clips and rates, for streams whose size is within 1 % of the reference's.
    struct Scores: Codable {
        /// CPU time of the encoder divided by the reference's: mean over clips and rates.
        var cpu: Double
        /// VMAF-NEG minus the reference's, after upscaling to the canvas: mean, and the worst clip's mean over the rates.
        var vmafNeg: Double
        var vmafNegWorst: Double
        var ssim: Double
        /// Bjøntegaard rate difference for the same VMAF-NEG in percent, mean over clips; absent for fewer than four rates.
        var bdRate: Double?
    }

    /// One set over all clips, renditions and rates. Figures as in ``Scores``; the worst clip is that of its worst rendition.
    struct Point: Codable {
        var name: String
        /// Parameters in libx264's syntax.
        var preset: String
        var params: String
        var cpu: Double
        var vmafNeg: Double
        var vmafNegWorst: Double
        var ssim: Double
        var bdRate: Double?
        /// Size divided by the reference's, for the stream that differs most.
        var sizeWorst: Double?
        /// Number of streams whose size could not be brought within 1 % of the reference's; they count only in the BD-rate.
        var refused: Int?
        /// Scores by rendition.
        var renditions: [String: Scores]?
        /// Whether no other set is cheaper and at least as good, and none of its streams was refused.
        var isBest = false
    }
}

/// Bjøntegaard rate difference: both curves are polynomials through their points, logarithm of the rate as a function of quality.
enum BDRate {
    /// - Parameters: Rates in bit/s with their qualities, rising; four of each.
    /// - Returns: Difference in rate for the same quality, in percent; `nil` if the quality ranges do not overlap.
    static func percent(_ tested: [(rate: Double, quality: Double)], over reference: [(rate: Double, quality: Double)])
        -> Double?
    {
        guard tested.count >= 4, reference.count >= 4 else { return nil }
        let low = max(tested.map(\.quality).min() ?? 0, reference.map(\.quality).min() ?? 0)
        let high = min(tested.map(\.quality).max() ?? 0, reference.map(\.quality).max() ?? 0)
        guard high > low else { return nil }
        let steps = 64
        let mean =
            (0...steps).reduce(0.0) { sum, step in
                let quality = low + (high - low) * Double(step) / Double(steps)
                let weight = step == 0 || step == steps ? 0.5 : 1.0
                return sum + weight * (self.logRate(tested, quality) - self.logRate(reference, quality))
            } / Double(steps)
        return (pow(10, mean) - 1) * 100
    }

    /// Lagrange's polynomial through all points.
    private static func logRate(_ points: [(rate: Double, quality: Double)], _ quality: Double) -> Double {
        points.indices.reduce(0) { sum, index in
            var term = log10(points[index].rate)
            for other in points.indices where other != index {
                let apart = points[index].quality - points[other].quality
                term *= (quality - points[other].quality) / (abs(apart) < 1e-9 ? 1e-9 : apart)
            }
            return sum + term
        }
    }
}
