extension ResultPage {
    /// R1 by two programs at the same moment.
    var pairs: String? {
        guard let pairs = self.result.pairs, !pairs.rows.isEmpty else { return nil }
        let ratios = pairs.rows.compactMap { row in row.ratios["cpu"].map { (name: row.title, spread: $0) } }
        let rows = pairs.rows.map { row in
            [
                HTML.escape(row.title), "\(row.rounds.count)", row.neighbour.map(HTML.escape) ?? "none",
                Spread(row.rounds.map(\.ours.cpuSeconds)).median.text(2),
                Spread(row.rounds.map(\.other.cpuSeconds)).median.text(2),
                row.ratios["cpu"].map(ReadmeTable.text) ?? "",
            ]
        }
        let head = [
            "", "rounds", "neighbour on each core", "Tandem, CPU s", "the other, CPU s",
            "Tandem's divided by the other's",
        ]
        return """
            <h2>R1 in pairs</h2>
            <p>Tandem and another program run at the same moment, each pinned to one core; the cores are swapped each round. The dot is the \
            median of the rounds, the thick line its 95 % interval, from six rounds on; load before: \(pairs.loadBefore).</p>
            \(Plots.ratios("CPU ratios of pairs", ratios))
            \(HTML.table([head] + rows))
            """
    }

    /// Instructions of one second of R1.
    var instructions: String? {
        guard let counts = self.result.instructions else { return nil }
        let rows = counts.parts.sorted { $0.value > $1.value }.map {
            [HTML.escape($0.key), ($0.value / 1e6).text(1), ($0.value / counts.total * 100).text(2) + " %"]
        }
        let versions = counts.versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(
            separator: ", ")
        return """
            <h2>Instructions</h2>
            <p>One second of R1 takes \((counts.total / 1e6).text(1)) million instructions, start included; median of \
            \(counts.runs.count) runs, which differ by \((counts.spread * 100).text(2)) %. \(HTML.escape(versions)).</p>
            \(HTML.table([["file", "million instructions", "share"]] + rows))
            """
    }

    /// Live heap blocks after each segment.
    var blocks: String? {
        guard let blocks = self.result.blocks else { return nil }
        return """
            <h2>Live heap blocks</h2>
            <p>An offline room with a window of six seconds: \(blocks.early.text(0)) blocks around segment \
            \(BlockResult.earlySegment), \(blocks.late.text(0)) around segment \(BlockResult.lateSegment): \
            \((blocks.growth * 100).text(2)) % more.</p>
            <div class="grid">\(Plots.line(
                "Live heap blocks", blocks.afterSegment.enumerated().map { ("segment \($0.offset + 1)", Double($0.element)) },
                unit: "blocks", labels: false, startsAtZero: false))</div>
            """
    }
}
