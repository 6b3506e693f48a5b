import FoundationEssentials

/// Compares the aims in the guide *Performance* with thresholds.json: each aim needs a threshold there, or a reason why it has none.
enum PublishedAims {
    static let guide = "../Sources/tandem/Documentation.docc/Performance.md"
    private static let head = "| figure | aim | measured | |"

    /// The figures in the guide's table of aims, without those whose aim is `none`.
    static func figures(_ guide: String) -> [String] {
        let lines = guide.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { $0 != self.head }.dropFirst(2).prefix { $0.hasPrefix("|") }.compactMap { line in
            let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
            return cells.count < 2 || cells[1] == "none" ? nil : cells[0]
        }
    }

    /// One message for each aim without a threshold and without a reason, each named threshold that does not exist, and each figure
    /// in thresholds.json that is not in the guide's table.
    static func mistakes(_ guide: String, thresholds: Thresholds) throws(BenchError) -> [String] {
        let published = self.figures(guide)
        guard !published.isEmpty else { return ["Performance.md does not have the table “\(self.head)”"] }
        let tree = try Tree(thresholds)
        var found: [String] = []
        for figure in published {
            let paths = thresholds.aims[figure] ?? []
            if paths.isEmpty, thresholds.aimsWithoutThreshold[figure] == nil {
                found.append(
                    "the aim “\(figure)” in Performance.md has no threshold: name it in `aims` of thresholds.json")
            }
            for path in paths where !tree.hasNumber(at: path) {
                found.append("the threshold \(path) of the aim “\(figure)” is not in thresholds.json")
            }
        }
        let listed = Set(thresholds.aims.keys).union(thresholds.aimsWithoutThreshold.keys)
        found += listed.subtracting(published).sorted().map {
            "“\($0)” in thresholds.json is not an aim in Performance.md"
        }
        found += CommittedResults.presets.filter { thresholds.quality[$0] == nil }.map {
            "the quality of \($0) has no threshold"
        }
        return found
    }

    /// A JSON value of which only numbers and objects are of interest.
    private enum Tree: Decodable {
        case number
        case object([String: Tree])
        case other

        init(_ thresholds: Thresholds) throws(BenchError) {
            do {
                self = try JSONDecoder().decode(Tree.self, from: JSONEncoder().encode(thresholds))
            } catch {
                throw BenchError("thresholds: \(error)")
            }
        }

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if (try? value.decode(Double.self)) != nil {
                self = .number
            } else {
                self = (try? value.decode([String: Tree].self)).map { .object($0) } ?? .other
            }
        }

        /// - Parameter path: Keys, separated by dots.
        func hasNumber(at path: String) -> Bool {
            var here = self
            for key in path.split(separator: ".") {
                guard case .object(let members) = here, let next = members[String(key)] else { return false }
                here = next
            }
            if case .number = here { return true }
            return false
        }
    }
}
