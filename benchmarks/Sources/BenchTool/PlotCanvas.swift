/// Builds an inline SVG. Colors are CSS variables of the page, for light and dark mode.
struct PlotCanvas {
    let width: Double
    let height: Double
    private var pieces: [String] = []

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// The complete SVG.
    func svg(title: String) -> String {
        let size = "viewBox=\"0 0 \(Self.number(self.width)) \(Self.number(self.height))\""
        return "<svg \(size) role=\"img\" aria-label=\"\(HTML.escape(title))\">\n" + self.pieces.joined(separator: "\n")
            + "\n</svg>"
    }

    mutating func rectangle(x: Double, y: Double, width: Double, height: Double, color: String, tip: String = "") {
        self.pieces.append(
            "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(max(0, width)))\""
                + " height=\"\(Self.number(height))\" rx=\"2\" fill=\"\(color)\">\(Self.tip(tip))</rect>")
    }

    mutating func line(
        _ from: (x: Double, y: Double), _ to: (x: Double, y: Double), color: String, width: Double = 1,
        dashed: Bool = false
    ) {
        self.pieces.append(
            "<line x1=\"\(Self.number(from.x))\" y1=\"\(Self.number(from.y))\" x2=\"\(Self.number(to.x))\""
                + " y2=\"\(Self.number(to.y))\" stroke=\"\(color)\" stroke-width=\"\(Self.number(width))\""
                + (dashed ? " stroke-dasharray=\"4 3\"" : "") + "/>")
    }

    mutating func dot(x: Double, y: Double, radius: Double = 3, color: String, tip: String = "") {
        self.pieces.append(
            "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"\(Self.number(radius))\" fill=\"\(color)\">"
                + "\(Self.tip(tip))</circle>")
    }

    mutating func polyline(_ points: [(x: Double, y: Double)], color: String) {
        let text = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
        self.pieces.append("<polyline points=\"\(text)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"1.8\"/>")
    }

    /// - Parameter anchor: `start`, `middle` or `end`.
    mutating func text(_ text: String, x: Double, y: Double, anchor: String = "start", muted: Bool = false) {
        self.pieces.append(
            "<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" text-anchor=\"\(anchor)\""
                + (muted ? " class=\"muted\"" : "") + ">\(HTML.escape(text))</text>")
    }

    private static func tip(_ text: String) -> String { text.isEmpty ? "" : "<title>\(HTML.escape(text))</title>" }

    static func number(_ value: Double) -> String {
        let rounded = value.rounded(digits: 2)
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}

/// Helpers for HTML.
enum HTML {
    static func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }

    /// - Parameter rows: Cells as HTML; the first row is the head, and all columns but the first are numbers.
    static func table(_ rows: [[String]]) -> String {
        guard let head = rows.first else { return "" }
        let top = head.map { "<th>\($0)</th>" }.joined()
        let body = rows.dropFirst().map { "<tr>" + $0.map { "<td>\($0)</td>" }.joined() + "</tr>" }.joined(
            separator: "\n")
        return "<div class=\"scroll\"><table><thead><tr>\(top)</tr></thead><tbody>\n\(body)\n</tbody></table></div>"
    }
}

extension Double {
    /// The value with exactly `digits` decimals.
    func text(_ digits: Int) -> String {
        var power = 1
        for _ in 0..<digits { power *= 10 }
        let scaled = Int((self * Double(power)).rounded())
        guard digits > 0 else { return "\(scaled)" }
        let fraction = "\(abs(scaled) % power)"
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return (scaled < 0 ? "-" : "") + "\(abs(scaled) / power).\(zeros)\(fraction)"
    }
}
