/// Compares figures in the guides, which are written by hand, with the newest committed result.
enum GuideFigures {
    private static let guides = "../Sources/tandem/Documentation.docc/"

    /// One message for each figure that is missing in a guide.
    static func mistakes(_ newest: (name: String, result: BenchResult)) throws(BenchError) -> [String] {
        let wanted = [("Watching.md", self.ofWatching(newest)), ("Performance.md", self.ofPerformance(newest))]
        var found: [String] = []
        for (guide, figures) in wanted {
            let text = try Files.text(at: self.guides + guide)
            found += figures.filter { !text.contains($0) }.map { "\(guide) does not have “\($0)”" }
        }
        return found
    }

    /// A row for each preset: CPU time, wall time, VMAF-NEG, SSIM.
    private static func ofWatching(_ newest: (name: String, result: BenchResult)) -> [String] {
        let rows = CommittedResults.presets.compactMap { side -> String? in
            guard let preset = newest.result.r1?.presets?[side], let cpu = preset["cpu"], let wall = preset["wall"]
            else {
                return nil
            }
            let quality = newest.result.quality ?? []
            return "| \(cpu.median.text(3)) | \(wall.median.text(3)) | \(ReadmeTable.quality(of: side, quality)) "
                + "| \(ReadmeTable.similarity(of: side, quality)) |"
        }
        return ["benchmarks/results/\(newest.name)"] + rows
    }

    /// The ratios to the floor and to FFmpeg, and the quality loss of the presets.
    private static func ofPerformance(_ newest: (name: String, result: BenchResult)) -> [String] {
        let ratios = newest.result.r1?.ratios ?? [:]
        let spreads = [
            ratios["floor"]?["cpu"], ratios["ffmpeg"]?["cpu"], ratios["ffmpeg"]?["wall"],
            newest.result.r1?.presets?["oursFaster"]?["cpu"],
        ]
        let quality = newest.result.quality ?? []
        return ["benchmarks/results/\(newest.name)"] + spreads.compactMap { $0.map(ReadmeTable.text) }
            + CommittedResults.presets.flatMap {
                [ReadmeTable.quality(of: $0, quality), ReadmeTable.similarity(of: $0, quality)]
            }
    }
}
