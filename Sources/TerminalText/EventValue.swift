import MediaTypes

/// Words for the values of events and replies.
enum EventValue {
    /// Whether a value is null or empty.
    static func isEmpty(_ node: JSONNode) -> Bool {
        switch node.content {
        case .null, .string(""): true
        case .array(let elements): elements.isEmpty
        case .object(let members): members.isEmpty
        default: false
        }
    }

    /// Returns a value in words.
    ///
    /// - Parameter form: `seconds` for milliseconds, `size` for bytes, `rate` for bit/s, `clock` for the time of day of a
    ///   date-time, `count` for the number of elements, `level` for a severity; empty: as it is.
    static func text(_ node: JSONNode, _ form: String = "") -> String {
        switch (node.content, form) {
        case (.null, _): "none"
        case (.boolean(let value), _): value ? "yes" : "no"
        case (.integer(let number), "seconds"):
            "\(number < 0 ? "-" : "")\(SpecText.decimal(Int(clamping: number.magnitude), over: 1000)) s"
        case (.integer(let number), "size"): self.size(number)
        case (.integer(let number), "rate"): self.rate(number)
        case (.integer(let number), _): "\(number)"
        case (.number(let number), _): self.decimal(number)
        case (.string(let text), "clock"): self.clock(text) ?? TextWidth.clean(text)
        case (.string(let text), "level"): TextWidth.clean(text.replacing("_", with: " "))
        case (.string(let text), _): TextWidth.clean(text)
        case (.array(let elements), "count"): "\(elements.count)"
        case (.array(let elements), _): elements.map { self.text($0) }.joined(separator: ", ")
        case (.object, _): TextWidth.clean(node.text())
        }
    }

    /// Returns a number with at most one decimal.
    static func decimal(_ number: Double) -> String {
        guard let tenths = Int64(exactly: (number * 10).rounded()), tenths > Int64.min / 2 else { return "\(number)" }
        return tenths % 10 == 0 ? "\(tenths / 10)" : tenths.decimal(1)
    }

    /// Returns a number of bytes in decimal units with at most one decimal: `81 GB`, `4.8 MB`.
    static func size(_ bytes: Int64) -> String { self.scaled(bytes, ["B", "kB", "MB", "GB", "TB", "PB"]) }

    /// Returns a bit rate in decimal units with at most one decimal: `2.5 Mbit/s`.
    static func rate(_ bits: Int64) -> String { self.scaled(bits, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]) }

    private static func scaled(_ number: Int64, _ units: [String]) -> String {
        var (value, index) = (Double(number), 0)
        while value >= 999.95, index + 1 < units.count { (value, index) = (value / 1000, index + 1) }
        return "\(self.decimal(value)) \(units[index])"
    }

    /// Returns the time of day of a date-time such as `2026-01-31T20:00:04.206Z`, without the date and the zone; `nil`
    /// if the text has another form.
    static func clock(_ date: String) -> String? {
        let halves = date.split(separator: "T")
        guard halves.count == 2, halves[1].utf8.count == 13, halves[1].last == "Z" else { return nil }
        let time = halves[1].dropLast()
        return time.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ":" || $0 == ".") } ? String(time) : nil
    }
}
