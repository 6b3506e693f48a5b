/// The plots of the result page.
enum Plots {
    private static let left = 250.0
    private static let width = 860.0
    private static let row = 30.0
    static let palette = (1...10).map { "var(--c\($0))" }

    /// One horizontal bar per row, with a dot for each value.
    static func bars(_ title: String, _ rows: [(name: String, value: Double, values: [Double])], unit: String) -> String
    {
        var plot = PlotCanvas(width: self.width, height: Double(rows.count) * self.row + 8)
        let most = rows.flatMap { $0.values + [$0.value] }.max() ?? 1
        let scale = (self.width - self.left - 90) / max(most, 1e-9)
        for (index, row) in rows.enumerated() {
            let y = Double(index) * self.row + 4
            plot.text(row.name, x: self.left - 10, y: y + 17, anchor: "end")
            let color =
                row.name.hasPrefix("Tandem")
                ? "var(--ours)" : row.name.hasPrefix("Floor") ? "var(--floor)" : "var(--other)"
            plot.rectangle(x: self.left, y: y + 2, width: row.value * scale, height: self.row - 10, color: color)
            for value in row.values {
                plot.dot(
                    x: self.left + value * scale, y: y + 12, radius: 2.2, color: "var(--ink)", tip: "\(value) \(unit)")
            }
            let end = self.left + max(row.value, row.values.max() ?? 0) * scale
            plot.text("\(row.value.text(row.value < 100 ? 2 : 0)) \(unit)", x: end + 8, y: y + 17)
        }
        return plot.svg(title: title)
    }

    /// One dot with its interval per row, around the line at 1.
    static func ratios(_ title: String, _ rows: [(name: String, spread: Spread)]) -> String {
        var plot = PlotCanvas(width: self.width, height: Double(rows.count) * self.row + 34)
        var ends: [Double] = [1]
        for row in rows { ends += [row.spread.min, row.spread.max] + (row.spread.interval95 ?? []) }
        let low: Double = (ends.min() ?? 1) - 0.03
        let high: Double = (ends.max() ?? 1) + 0.03
        let span: Double = (self.width - self.left - 190) / (high - low)
        func x(_ value: Double) -> Double { self.left + (value - low) * span }
        let bottom = Double(rows.count) * self.row + 6
        var mark = (low * 10).rounded(.up) / 10
        while mark <= high {
            plot.line((x(mark), 2), (x(mark), bottom), color: "var(--grid)")
            plot.text(mark.text(1), x: x(mark), y: bottom + 18, anchor: "middle", muted: true)
            mark += 0.1
        }
        plot.line((x(1), 0), (x(1), bottom), color: "var(--ink)", dashed: true)
        for (index, row) in rows.enumerated() {
            let y = Double(index) * self.row + 17
            plot.text(row.name, x: self.left - 10, y: y + 5, anchor: "end")
            if let interval = row.spread.interval95 {
                plot.line((x(interval[0]), y), (x(interval[1]), y), color: "var(--ours)", width: 6)
                plot.text(
                    "\(row.spread.median.text(3))  (\(interval[0].text(3)) – \(interval[1].text(3)))",
                    x: self.width - 180, y: y + 5)
            } else {
                plot.text(row.spread.median.text(3), x: self.width - 180, y: y + 5)
            }
            plot.line((x(row.spread.min), y), (x(row.spread.max), y), color: "var(--ours)", width: 1.5)
            plot.dot(x: x(row.spread.median), y: y, radius: 5, color: "var(--ink)")
        }
        return plot.svg(title: title)
    }

    /// Stacked bars with a legend below.
    static func stacked(_ title: String, _ rows: [(name: String, parts: [(String, Double)])], unit: String) -> String {
        var names: [String] = []
        for row in rows { for (name, _) in row.parts where !names.contains(name) { names.append(name) } }
        let lines = (names.count + 4) / 5
        var plot = PlotCanvas(width: self.width, height: Double(rows.count) * (self.row + 6) + Double(lines) * 22 + 12)
        let most = rows.map { $0.parts.reduce(0) { $0 + $1.1 } }.max() ?? 1
        let scale = (self.width - self.left - 90) / max(most, 1e-9)
        func color(_ name: String) -> String { self.palette[(names.firstIndex(of: name) ?? 0) % self.palette.count] }
        for (index, row) in rows.enumerated() {
            let y = Double(index) * (self.row + 6) + 4
            plot.text(row.name, x: self.left - 10, y: y + 20, anchor: "end")
            var x = self.left
            for (name, value) in row.parts {
                plot.rectangle(
                    x: x, y: y, width: value * scale, height: self.row, color: color(name),
                    tip: "\(name): \(value.text(2)) \(unit)")
                x += value * scale
            }
            plot.text("\(row.parts.reduce(0) { $0 + $1.1 }.text(2)) \(unit)", x: x + 8, y: y + 20)
        }
        for (index, name) in names.enumerated() {
            let x = 20 + Double(index % 5) * 165
            let y = Double(rows.count) * (self.row + 6) + 12 + Double(index / 5) * 22
            plot.rectangle(x: x, y: y, width: 12, height: 12, color: color(name))
            plot.text(name, x: x + 18, y: y + 11)
        }
        return plot.svg(title: title)
    }

    /// Cost and quality of sets of settings; the best ones are connected by a line.
    static func pareto(_ title: String, _ points: [SearchResult.Point]) -> String {
        let (width, height, left, bottom) = (860.0, 360.0, 60.0, 320.0)
        var plot = PlotCanvas(width: width, height: height)
        let right: Double = (points.map(\.cpu).max() ?? 1) * 1.3
        let high: Double = (points.map(\.vmafNeg).max() ?? 0) + 0.5
        let low: Double = (points.map(\.vmafNeg).min() ?? 0) - 0.5
        func x(_ value: Double) -> Double { left + value / right * (width - left - 10) }
        func y(_ value: Double) -> Double { bottom - (value - low) / (high - low) * (bottom - 10) }
        for step in 0...5 {
            let (cpu, score) = (right * Double(step) / 5, low + (high - low) * Double(step) / 5)
            plot.line((x(cpu), 10), (x(cpu), bottom), color: "var(--grid)")
            plot.text(cpu.text(2), x: x(cpu), y: bottom + 18, anchor: "middle", muted: true)
            plot.line((left, y(score)), (width - 10, y(score)), color: "var(--grid)")
            plot.text(score.text(1), x: left - 6, y: y(score) + 4, anchor: "end", muted: true)
        }
        plot.polyline(points.filter(\.isBest).map { (x($0.cpu), y($0.vmafNeg)) }, color: "var(--ours)")
        for point in points {
            plot.dot(
                x: x(point.cpu), y: y(point.vmafNeg), radius: 4, color: point.isBest ? "var(--ours)" : "var(--other)",
                tip: "\(point.preset) \(point.params)")
            plot.text(point.name, x: x(point.cpu) + 8, y: y(point.vmafNeg) - 6)
        }
        plot.text("CPU time divided by the reference's", x: width - 14, y: bottom + 36, anchor: "end", muted: true)
        return plot.svg(title: title)
    }

    /// Points connected by a line; the axis begins at zero unless `startsAtZero` is false.
    static func line(
        _ title: String, _ points: [(label: String, value: Double)], unit: String, labels: Bool = true,
        startsAtZero: Bool = true
    ) -> String {
        let (width, height, left, bottom) = (420.0, 190.0, 60.0, 160.0)
        var plot = PlotCanvas(width: width, height: height)
        let values = points.map(\.value)
        let high = (values.max() ?? 1) * (startsAtZero ? 1.12 : 1.01) + 1e-9
        let low = startsAtZero ? 0 : (values.min() ?? 0) * 0.99
        func y(_ value: Double) -> Double { bottom - (value - low) / (high - low) * (bottom - 12) }
        func x(_ index: Int) -> Double {
            left + 10 + Double(index) / Double(max(1, points.count - 1)) * (width - left - 40)
        }
        for step in 0...4 {
            let value = low + (high - low) * Double(step) / 4
            plot.line((left, y(value)), (width - 10, y(value)), color: "var(--grid)")
            plot.text(value.text(high - low < 20 ? 2 : 0), x: left - 6, y: y(value) + 4, anchor: "end", muted: true)
        }
        plot.polyline(points.indices.map { (x($0), y(points[$0].value)) }, color: "var(--ours)")
        for (index, point) in points.enumerated() where labels {
            plot.dot(
                x: x(index), y: y(point.value), color: "var(--ours)", tip: "\(point.label): \(point.value) \(unit)")
            plot.text(point.label, x: x(index), y: bottom + 20, anchor: "middle", muted: true)
        }
        return plot.svg(title: title)
    }
}
