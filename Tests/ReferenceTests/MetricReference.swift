/// The table of every metric, from the calls of `MetricsText` in the sources.
struct MetricReference {
    /// A metric with its name, type, labels and help text.
    struct Family {
        let name: String
        let kind: String
        let labels: [String]
        let help: String

        /// From the name's ending, as Prometheus names metrics.
        var unit: String {
            let base = self.name.hasSuffix("_total") ? String(self.name.dropLast(6)) : self.name
            if base.hasSuffix("_seconds") { return "s" }
            if base.hasSuffix("_bytes") { return "bytes" }
            if base.hasSuffix("_bytes_per_second") { return "bytes/s" }
            return ""
        }
    }

    let sources: [(path: String, text: String)]

    /// All families, in the order of the sources.
    var families: [Family] {
        self.sources.filter { $0.text.contains("MetricsText") }.flatMap { self.families(of: $0.text) }
    }

    /// The names of all families that the sources mention.
    var mentioned: Set<String> {
        Set(
            self.sources.flatMap { source in
                source.text.matches(of: /"((?:tandem|process)_[a-z_]+)"/).map { String($0.output.1) }
            })
    }

    private func families(of text: String) -> [Family] {
        // A local function `each` may leave the kind out, and then it adds counters.
        let simple = text.matches(
            of: /(family|each)\(\s*"((?:tandem|process)_[a-z_]+)",(?:\s*\.(counter|gauge|histogram),)?\s*"([^"]*)"/
        ).map { match in
            (
                match.range, String(match.output.1), String(match.output.2), String(match.output.3 ?? "counter"),
                String(match.output.4)
            )
        }
        let histograms = text.matches(
            of: /(histograms?|info)\(\s*"((?:tandem|process)_[a-z_]+)",(?:\s*by:\s*"([a-z_]+)",)?[^"]*"([^"]*)"/
        ).map { match in
            (
                match.range, String(match.output.1), String(match.output.2), match.output.3.map(String.init),
                String(match.output.4)
            )
        }
        var found: [(place: String.Index, family: Family)] = []
        for (range, call, name, kind, help) in simple {
            let labels = self.labels(after: range.upperBound, in: text, helper: call == "each" ? range.lowerBound : nil)
            found.append((range.lowerBound, Family(name: name, kind: kind, labels: labels, help: help)))
        }
        for (range, call, name, label, help) in histograms {
            let isInfo = call == "info"
            let labels = isInfo ? self.versionLabels : (label.map { [$0] } ?? []) + ["le"]
            let kind = isInfo ? "gauge" : "histogram"
            found.append((range.lowerBound, Family(name: name, kind: kind, labels: labels, help: help)))
        }
        return found.sorted { $0.place < $1.place }.map(\.family)
    }

    /// The labels of the samples between a family and the next one, or the end of the function.
    ///
    /// - Parameter helper: The call of a local function that adds the family. If nothing after the call names a label,
    ///   then the function itself does.
    private func labels(after start: String.Index, in text: String, helper: String.Index?) -> [String] {
        func names(_ text: Substring) -> [String] {
            var names: [String] = []
            for match in text.matches(of: /"([a-z_]+)":/) where !names.contains(String(match.output.1)) {
                names.append(String(match.output.1))
            }
            return names
        }
        let rest = text[start...]
        let ends = [rest.firstRange(of: "\n    }\n"), rest.firstRange(of: "family("), rest.firstRange(of: "each(")]
            .compactMap { $0?.lowerBound }
        let own = names(rest[..<(ends.min() ?? rest.endIndex)])
        guard own.isEmpty, let helper else { return own }
        let before = text[..<helper]
        guard let function = before.ranges(of: "func each(").last else { return own }
        let body = before[function.upperBound...]
        return names(body[..<(body.firstRange(of: "each(")?.lowerBound ?? body.endIndex)])
    }

    /// Labels of `tandem_build_info`: the names of the versions that the tool passes to the room.
    private var versionLabels: [String] {
        for source in self.sources {
            guard let list = source.text.firstMatch(of: /settings\.versions = \[(.*)\]\n/) else { continue }
            return list.output.1.matches(of: /\("([a-z_]+)",/).map { String($0.output.1) }
        }
        return []
    }

    var text: String {
        "\n"
            + Markdown.table(
                ["metric", "type", "labels", "unit", "meaning"],
                self.families.sorted { $0.name < $1.name }.map { family in
                    [
                        Markdown.code(family.name), family.kind,
                        family.labels.map { Markdown.code($0) }.joined(separator: ", "), family.unit,
                        Markdown.cell(family.help),
                    ]
                }) + "\n"
    }
}
