import MediaTypes

/// Builds the metrics text for Prometheus: metric families with their help text, and one sample per line.
///
/// Spec: Prometheus text exposition format 0.0.4.
package struct MetricsText: Sendable {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package private(set) var text = ""

    package init() {}

    /// Starts a metric family; its samples follow.
    ///
    /// - Parameter name: Name of the metric with its unit, and with `_total` for a counter.
    package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        self.text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    package mutating func sample(_ name: String, _ value: Int64) { self.line(name, [], "\(value)") }

    package mutating func sample(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: Int64) {
        self.line(name, labels.map { ($0.key, $0.value) }, "\(value)")
    }

    /// Adds a family with one sample of value 1, whose labels carry the information.
    package mutating func info(_ name: String, _ labels: [(name: String, value: String)], _ help: String) {
        self.family(name, .gauge, help)
        self.line(name, labels.map { ($0.name, $0.value) }, "1")
    }

    /// Adds a sample in seconds.
    ///
    /// - Parameter nanoseconds: The value, which is written in seconds.
    package mutating func seconds(
        _ name: String, _ labels: KeyValuePairs<String, String> = [:], nanoseconds: Int64
    ) {
        self.line(name, labels.map { ($0.key, $0.value) }, Self.seconds(nanoseconds))
    }

    /// Adds a complete family with one histogram.
    package mutating func histogram(_ name: String, _ histogram: DurationHistogram, _ help: String) {
        self.family(name, .histogram, help)
        self.add(name, [], histogram)
    }

    /// Adds a complete family with one histogram per label value.
    package mutating func histograms(
        _ name: String, by label: String, _ rows: [(value: String, histogram: DurationHistogram)], _ help: String
    ) {
        self.family(name, .histogram, help)
        for row in rows { self.add(name, [(label, row.value)], row.histogram) }
    }

    private mutating func add(_ name: String, _ labels: [(String, String)], _ histogram: DurationHistogram) {
        var sum: Int64 = 0
        for (bound, count) in zip(DurationHistogram.bounds, histogram.counts) {
            sum += count
            self.line("\(name)_bucket", labels + [("le", Self.seconds(bound * 1_000_000))], "\(sum)")
        }
        self.line("\(name)_bucket", labels + [("le", "+Inf")], "\(histogram.count)")
        self.line("\(name)_sum", labels, Self.seconds(histogram.sum))
        self.line("\(name)_count", labels, "\(histogram.count)")
    }

    private mutating func line(_ name: String, _ labels: [(String, String)], _ value: String) {
        let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }.joined(separator: ",")
        self.text += list.isEmpty ? "\(name) \(value)\n" : "\(name){\(list)} \(value)\n"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\"" where quotes: out += "\\\""
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// Formats nanoseconds as seconds exactly: a Double would round counters of workers that have run for weeks.
    static func seconds(_ nanoseconds: Int64) -> String {
        var text = nanoseconds.decimal(9)[...]
        while text.last == "0" { text.removeLast() }
        return String(text.last == "." ? text.dropLast() : text)
    }
}

/// A histogram of durations since the process started.
package struct DurationHistogram: Sendable, Hashable {
    /// Upper bounds of the buckets in milliseconds, ascending.
    package static let bounds: [Int64] = [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1500, 2000, 3000, 5000, 10_000]

    /// Number of durations in each bucket. Not cumulative: a bucket does not include those below it. Durations above the
    /// last bound are only in ``count``.
    package private(set) var counts = [Int64](repeating: 0, count: Self.bounds.count)
    /// Number of all durations.
    package private(set) var count: Int64 = 0
    /// Sum of all durations, in nanoseconds.
    package private(set) var sum: Int64 = 0

    package init() {}

    /// Adds a duration.
    ///
    /// - Parameter nanoseconds: The duration; a negative value counts as 0.
    package mutating func add(_ nanoseconds: Int64) {
        let duration = max(0, nanoseconds)
        self.count += 1
        self.sum &+= duration
        if let index = Self.bounds.firstIndex(where: { duration <= $0 * 1_000_000 }) { self.counts[index] += 1 }
    }
}
