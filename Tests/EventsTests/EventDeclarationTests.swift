import Foundation
import MediaTypes
import PipelineSpec
import Testing

import Events

@Suite("Event declarations agree with the emitting code, the guide and `tandem schema --events`")
struct EventDeclarationTests {
    /// One call of `emit(_:_:)` in the sources.
    private struct Call {
        let place: String
        /// nil: the type is computed.
        let type: String?
        /// The text of the first argument.
        let argument: String
        let members: [String]
    }

    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: self.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The targets that emit events: those of the room, and the command-line tool.
    private static let folders: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(
            atPath: Self.root.appendingPathComponent("Sources").path)
        return (names ?? []).filter { $0.hasPrefix("Room") || $0 == "tandem" }.sorted().map { "Sources/\($0)" }
    }()

    /// The Swift files of the targets that emit events, by name.
    private static let sources: [(path: String, text: String)] = Self.folders.flatMap { folder in
        let base = Self.root.appendingPathComponent(folder)
        let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            ("\(folder)/\(path)", (try? Self.text("\(folder)/\(path)")) ?? "")
        }
    }

    /// The arguments of a call, split at the commas at the top level of its parentheses.
    ///
    /// - Parameter text: Starts after the opening parenthesis.
    private static func elements(_ text: Substring) -> [String] {
        var (elements, depth, isText, isEscaped) = ([""], 0, false, false)
        for character in text {
            if isText {
                isText = isEscaped || character != "\""
                isEscaped = !isEscaped && character == "\\"
            } else {
                switch character {
                case "\"": isText = true
                case "(", "[", "{": depth += 1
                case ")", "]", "}": depth -= 1
                default: break
                }
                if depth < 0 { break }
                if depth == 0, character == "," {
                    elements.append("")
                    continue
                }
            }
            elements[elements.count - 1].append(character)
        }
        return elements.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
    }

    private static let calls: [Call] = Self.sources.flatMap { path, text in
        text.matches(of: /(?:events|self)\.emit\(/).compactMap { match -> Call? in
            let arguments = Self.elements(text[match.range.upperBound...])
            // `emit(levels:)` and `emit(_:of:)` call the actual function.
            guard let first = arguments.first, arguments.count <= 2, !first.hasPrefix("levels:"),
                !first.hasPrefix("$0"),
                !first.hasPrefix("notice")
            else { return nil }
            let literal = first.wholeMatch(of: /"([a-z]+\.[A-Za-z_]+)"/).map { String($0.output.1) }
            let list = arguments.count == 2 ? Self.elements(arguments[1].dropFirst()) : []
            let members = list.compactMap { $0.prefixMatch(of: /"([A-Za-z0-9]+)":/).map { String($0.output.1) } }
            return Call(place: path, type: literal, argument: first, members: members)
        }
    }

    /// Whether these members, in this order, form an event of the type.
    private static func fits(_ members: [String], _ declaration: EventDeclaration) -> Bool {
        let declared = declaration.members
        return declared.filter { !$0.isOptional }.allSatisfy { members.contains($0.name) }
            && declared.map(\.name).filter { members.contains($0) } == members
    }

    @Test(
        "each event whose type is a literal in the sources is declared, and has its declared members in the declared order"
    )
    func literal() throws {
        let literal = Self.calls.filter { $0.type != nil }
        #expect(literal.count > 90)
        for call in literal {
            let declaration = try #require(EventDeclaration.of(call.type ?? ""), "\(call.place): \(call.argument)")
            #expect(Self.fits(call.members, declaration), "\(call.place): \(call.argument) \(call.members)")
        }
    }

    /// The calls that emit events of a type: those that name it, and those that compute the type in a file that names
    /// it.
    private static func calls(of declaration: EventDeclaration) -> [Call] {
        let family = declaration.type.prefix { $0 != "." }
        return Self.calls.filter { call in
            guard call.type == nil else { return call.type == declaration.type }
            let text = Self.sources.first { $0.path == call.place }?.text ?? ""
            return Self.fits(call.members, declaration)
                && (text.contains("\"\(declaration.type)\"") || text.contains("\"\(family).\\("))
        }
    }

    @Test("each declared event, with each member, occurs in the sources; optional members are omitted in some places")
    func emitted() {
        #expect(Self.calls.contains { $0.type == nil })
        for declaration in EventDeclaration.all {
            let calls = Self.calls(of: declaration)
            #expect(!calls.isEmpty, "\(declaration.type)")
            for member in declaration.members {
                let having = calls.filter { $0.members.contains(member.name) }
                #expect(!having.isEmpty, "\(declaration.type).\(member.name)")
                #expect(!member.isOptional || having.count < calls.count, "\(declaration.type).\(member.name)")
            }
        }
    }

    @Test("each call that emits an event with a computed type has the members of some declared type")
    func computed() {
        for call in Self.calls where call.type == nil {
            let fitting = EventDeclaration.all.filter { Self.fits(call.members, $0) && !$0.members.isEmpty }
            #expect(!fitting.isEmpty, "\(call.place): \(call.argument) \(call.members)")
        }
    }

    @Test("the events guide lists every declared event type, alone or as a family, and no other")
    func guide() throws {
        let guide = try Self.text("Sources/tandem/Documentation.docc/Events.md")
        let table = try #require(guide.components(separatedBy: "## ").first { $0.hasPrefix("Events\n") })
        let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let named = Set(
            rows.flatMap { row in
                (row.split(separator: "|").first ?? "").matches(of: /`([a-z]+\.[A-Za-z_*]+)`/).map {
                    String($0.output.1)
                }
            })
        for declaration in EventDeclaration.all {
            let family = declaration.type.prefix { $0 != "." }
            #expect(named.contains(declaration.type) || named.contains("\(family).*"), "\(declaration.type)")
        }
        for name in named where !name.hasSuffix("*") { #expect(EventDeclaration.of(name) != nil, "\(name)") }
    }

    @Test("the operator page's timeline marks only declared event types as trouble")
    func timeline() throws {
        let line = try #require(
            try Self.text("Sources/Control/Page/timeline.js").firstMatch(of: /const trouble = (.+)/))
        let families = line.output.1.matches(of: /([a-z]+)\\\.(?:\(([a-z_|]+)\)|([a-z_]*))/)
        #expect(families.count >= 5)
        for family in families {
            let words = family.output.2 ?? family.output.3 ?? ""
            for word in words.split(separator: "|", omittingEmptySubsequences: false) {
                #expect(EventDeclaration.of("\(family.output.1).\(word)") != nil, "\(family.output.1).\(word)")
            }
        }
    }

    @Test("the events' JSON schema has one definition per event type, and each of its references has a definition")
    func document() throws {
        let root = try #require(JSONParser.parse(Array(EventDeclaration.document.text.utf8)).root)
        guard case .object(let definitions)? = root[key: "$defs"]?.content else {
            Issue.record("there are no definitions")
            return
        }
        let names = definitions.map(\.key)
        #expect(Set(names).count == names.count)
        #expect(names.count == EventDeclaration.all.count + EventDeclaration.shapes.count + 1)
        let references = EventDeclaration.document.text.matches(of: /"#\/\$defs\/([A-Za-z]+)"/).map {
            String($0.output.1)
        }
        #expect(Set(references).isSubset(of: names))
        for declaration in EventDeclaration.all {
            #expect(Set(declaration.members.map(\.name)).count == declaration.members.count, "\(declaration.type)")
            #expect(!declaration.meaning.isEmpty)
        }
    }
}
