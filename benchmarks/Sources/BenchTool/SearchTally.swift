/// Collects the streams of one set of settings with the reference's, and computes the set's scores.
struct SearchTally {
    /// One stream compared with the reference's of the same clip, rendition and rate.
    struct Pair {
        var clip: String
        var rendition: String
        /// CPU time divided by the reference's.
        var cpu: Double
        /// VMAF-NEG and SSIM minus the reference's.
        var vmaf: Double
        var ssim: Double
        /// Size divided by the reference's.
        var size: Double

        /// Maximum difference in size for a comparison, since a larger stream has better quality in any case.
        static let tolerance = 0.01
        var isEqual: Bool { abs(self.size - 1) <= Self.tolerance }
    }

    struct Bjontegaard {
        var rendition: String
        var percent: Double
    }

    var pairs: [Pair] = []
    var bdRates: [Bjontegaard] = []

    /// The set's scores, over all renditions and by rendition.
    ///
    /// - Parameter renditions: Their names.
    func point(_ set: EncoderSearch.Plan.Set, renditions: [String]) -> SearchResult.Point {
        let all = self.scores(of: self.pairs, self.bdRates)
        return SearchResult.Point(
            name: set.name, preset: set.preset, params: set.params, cpu: all.cpu, vmafNeg: all.vmafNeg,
            vmafNegWorst: all.vmafNegWorst, ssim: all.ssim, bdRate: all.bdRate,
            sizeWorst: self.pairs.map(\.size).max { abs($0 - 1) < abs($1 - 1) }?.rounded(digits: 4),
            refused: self.pairs.count { !$0.isEqual },
            renditions: Dictionary(
                uniqueKeysWithValues: renditions.map { name in
                    (
                        name,
                        self.scores(
                            of: self.pairs.filter { $0.rendition == name },
                            self.bdRates.filter { $0.rendition == name })
                    )
                }))
    }

    private func scores(of pairs: [Pair], _ bdRates: [Bjontegaard]) -> SearchResult.Scores {
        func mean(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count) }
        let equal = pairs.filter(\.isEqual)
        // Means of one clip in one rendition, over its rates.
        let worst = Set(equal.map { [$0.clip, $0.rendition] }).map { place in
            mean(equal.filter { [$0.clip, $0.rendition] == place }.map(\.vmaf))
        }
        return SearchResult.Scores(
            cpu: mean(equal.map(\.cpu)).rounded(digits: 3), vmafNeg: mean(equal.map(\.vmaf)).rounded(digits: 2),
            vmafNegWorst: (worst.min() ?? 0).rounded(digits: 2), ssim: mean(equal.map(\.ssim)).rounded(digits: 5),
            bdRate: bdRates.isEmpty ? nil : mean(bdRates.map(\.percent)).rounded(digits: 2))
    }

    /// The points sorted by cost. Marks those that no other point beats and whose streams all have equal size.
    static func ranked(_ points: [SearchResult.Point]) -> [SearchResult.Point] {
        let fair = points.filter { ($0.refused ?? 0) == 0 }
        return points.map { point in
            var point = point
            point.isBest =
                (point.refused ?? 0) == 0
                && !fair.contains {
                    $0.cpu <= point.cpu && $0.vmafNeg >= point.vmafNeg
                        && ($0.cpu, $0.vmafNeg) != (point.cpu, point.vmafNeg)
                }
            return point
        }.sorted { $0.cpu < $1.cpu }
    }
}
