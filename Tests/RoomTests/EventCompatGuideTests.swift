import Foundation
import PipelineSpec
import Room
import RoomAPI
import Testing

@Suite("The guide's tables of other products' event names")
struct EventCompatGuideTests {
    /// The directory of the guides, relative to this file.
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/tandem/Documentation.docc")

    /// Rows of a vocabulary's table as text, for each guide that has it.
    private static func rows(_ vocabulary: EventVocabulary) throws -> [[String]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0.hasSuffix(".md") }
        return try names.compactMap { name -> [String]? in
            let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
            let lines = text.components(separatedBy: "\n")
            guard let head = lines.firstIndex(of: "| event | with | `compat.\(vocabulary.rawValue)` |") else {
                return nil
            }
            return Array(lines[(head + 2)...].prefix { $0.hasPrefix("|") })
        }
    }

    private static func written(_ row: EventCompat.Row) -> String {
        let conditions = row.when.map { condition in
            (["`\(condition.name)`"] + [condition.values.sorted().map { "`\($0)`" }.joined(separator: ", ")])
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
        var words = row.members.map { member -> String in
            var text = member.value.text
            if case .string(let plain) = member.value { text = plain }
            return "`\(member.name)` `\(text)`"
        }
        if row.tellsError { words.append("`error` with `code` and `message`") }
        return "| `\(row.type)` | \(conditions.joined(separator: "; ")) | \(words.joined(separator: ", ")) |"
    }

    @Test(
        "exactly one guide has the table of a product's event names, with the same rows as the code",
        arguments: EventVocabulary.allCases)
    func tables(vocabulary: EventVocabulary) throws {
        let tables = try Self.rows(vocabulary)
        try #require(tables.count == 1, "one guide has the table of \(vocabulary.rawValue)")
        let written = EventCompat.rows.filter { $0.vocabulary == vocabulary }.map { Self.written($0) }
        #expect(!written.isEmpty)
        #expect(tables[0] == written)
    }

    @Test("no row of the code's event name tables is hidden by an earlier row")
    func reachable() {
        for (index, row) in EventCompat.rows.enumerated() {
            for before in EventCompat.rows[..<index]
            where before.vocabulary == row.vocabulary && before.type == row.type {
                let isCovered = before.when.allSatisfy { condition in
                    row.when.contains { own in
                        own.name == condition.name
                            && (condition.values.isEmpty
                                || !own.values.isEmpty && own.values.isSubset(of: condition.values))
                    }
                }
                #expect(!isCovered, "\(Self.written(row)) never matches, because of \(Self.written(before))")
            }
        }
    }
}
