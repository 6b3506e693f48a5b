#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How sets of x264 settings stand against one of them.
struct SearchResult: Codable {
    /// Name of the set all others are compared with.
    var reference: String
    var clips: [String]
    var seconds: Double
    var points: [Point]

    /// What a set costs and gives over some clips and rates, streams whose size is the reference's within 1 %.
    struct Scores: Codable {
        /// CPU time of the encoder alone over the reference's: mean over clips and rates.
        var cpu: Double
        /// VMAF-NEG less the reference's, upscaled to the canvas: mean, and the mean over the rates of the worst clip.
        var vmafNeg: Double
        var vmafNegWorst: Double
        var ssim: Double
        /// Rate for the same VMAF-NEG in per cent (Bjøntegaard), mean over clips; absent for fewer than four rates.
        var bdRate: Double?
    }

    /// One set over all clips, renditions and rates; its figures as in ``Scores``, the worst clip's in its worst rendition.
    struct Point: Codable {
        var name: String
        /// As libx264 would be told.
        var preset: String
        var params: String
        var cpu: Double
        var vmafNeg: Double
        var vmafNegWorst: Double
        var ssim: Double
        var bdRate: Double?
        /// Bytes over the reference's where they are furthest from it.
        var sizeWorst: Double?
        /// Streams whose size could not be brought within 1 % of the reference's: they count in no figure but the BD-rate.
        var refused: Int?
        /// By rendition.
        var renditions: [String: Scores]?
        /// Nothing that was tried is cheaper and at least as good, and no stream of it was refused.
        var isBest = false
    }
}

/// Bjøntegaard's difference of rates: both curves as polynomials through their points, log rate over quality.
enum BDRate {
    /// - Parameters: Rates in bit/s with their qualities, rising; four of each.
    /// - Returns: Per cent more rate for the same quality; `nil` when the curves share no quality.
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
