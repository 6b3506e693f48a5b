import Events
import Foundation
import MediaTypes
import PipelineSpec
import Testing

@Suite("Reference pages: they list what the program has, and nothing else")
struct ReferenceTests {
    private static let sources = ProjectFile.sources()

    /// Compares the generated regions of a page with what the program generates now. `UPDATE_GOLDEN=1` rewrites them.
    ///
    /// - Parameter regions: Each makes the new text from the one in the page, whose hand-written cells it keeps.
    private static func check(
        _ name: String, _ regions: [(name: String, text: (String) -> String)],
        at place: SourceLocation = #_sourceLocation
    ) throws {
        var page = try ReferencePage(name)
        let isUpdating = ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1"
        for region in regions {
            let old = try #require(
                page.region(region.name), "\(name) has no region \(region.name)", sourceLocation: place)
            let new = region.text(old)
            #expect(new.split(separator: "\n").count > 5, "\(name), \(region.name)", sourceLocation: place)
            if isUpdating {
                page.replace(region.name, with: new)
            } else {
                let changed = Set(new.split(separator: "\n")).symmetricDifference(old.split(separator: "\n")).sorted()
                #expect(
                    new == old, "\(name) is out of date, accept with UPDATE_GOLDEN=1: \(changed.prefix(4))",
                    sourceLocation: place)
            }
        }
        if isUpdating { try page.write() }
    }

    /// The rows of a region's table; each cell must have text.
    private static func filledRows(
        _ name: String, _ region: String, at place: SourceLocation = #_sourceLocation
    ) throws -> [[String]] {
        let rows = Markdown.rows(of: try #require(try ReferencePage(name).region(region), sourceLocation: place))
        #expect(!rows.isEmpty, sourceLocation: place)
        for row in rows {
            #expect(
                row.allSatisfy { !$0.isEmpty }, "\(name): fill in the row \(row.first ?? "")", sourceLocation: place)
        }
        return rows
    }

    // MARK: Pipeline

    private static func pipeline() throws -> PipelineReference {
        let folder = ReferencePage.root.appendingPathComponent("pipelines")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return PipelineReference(
            schema: try #require(ProjectFile.json(text: PipelineSchema.json())),
            pipelines: try names.filter { $0.hasSuffix(".json") && $0 != "schema.json" }.compactMap {
                try ProjectFile.json("pipelines/\($0)")
            },
            isAlive: { path in DocumentChange.alive.contains { DocumentChange.isPart(path, of: $0) } })
    }

    @Test("the pipeline reference page has exactly the keys of the schema, as generated from it")
    func keys() throws {
        let pipeline = try Self.pipeline()
        #expect(pipeline.keys.count > 400)
        try Self.check("ReferencePipeline.md", [("keys", { _ in pipeline.text })])
    }

    @Test("every key of the pipeline file has an example that its schema allows, and every number a unit")
    func examples() throws {
        for key in try Self.pipeline().keys where !key.isContainer {
            #expect(PipelineUnits.unit(of: key) != "?", "\(key.path): name its unit in PipelineUnits")
        }
        let pipeline = try Self.pipeline()
        for key in pipeline.keys where !key.isContainer {
            let example = try #require(pipeline.example(of: key), "\(key.path): add an example to PipelineExamples")
            let faults = key.member.schemas.map { PipelineExamples.fault(of: example, in: $0) }
            #expect(faults.contains(nil), "\(key.path): \(example.text()) \(faults[0] ?? "")")
        }
    }

    @Test("each path that may change while the room runs is a key of the pipeline file")
    func live() throws {
        let paths = Set(try Self.pipeline().keys.map { $0.plainPath.replacing("[]", with: "") })
        for path in DocumentChange.alive { #expect(paths.contains(path), "\(path)") }
    }

    // MARK: Events, routes

    private static func events() throws -> EventReference {
        EventReference(schema: try #require(ProjectFile.json(text: EventDeclaration.document.text)))
    }

    @Test("the events reference page has exactly the declared types, as generated with members and an example")
    func events() throws {
        let events = try Self.events()
        #expect(events.types == EventDeclaration.all.map(\.type))
        try Self.check(
            "ReferenceEvents.md",
            [
                ("common", { _ in events.common }), ("events", { _ in events.events }),
                ("shapes", { _ in events.shapes }),
            ])
        let page = try ReferencePage("ReferenceEvents.md")
        for type in events.types { #expect(page.text.contains("\n### `\(type)`\n"), "\(type)") }
    }

    @Test("the API reference page has exactly the routes, errors and schemas of openapi.json")
    func routes() throws {
        let api = APIReference(document: try #require(try ProjectFile.json("Sources/Control/openapi.json")))
        let shared = try Self.events().schemaNames
        try Self.check(
            "ReferenceAPI.md",
            [
                ("routes", { _ in api.routeTable }), ("operations", { _ in api.operationText }),
                ("errors", { _ in api.errors }), ("schemas", { _ in api.schemas(except: shared) }),
            ])
        let page = try ReferencePage("ReferenceAPI.md")
        #expect(api.routes.count > 40)
        for route in api.routes {
            #expect(
                page.text.contains("\n### \(route)\n"), "\(route): its tag is missing among the tags of openapi.json")
        }
    }

    /// The numbers of the statuses that the viewers' listener answers with.
    private static let statuses = [
        "switchingProtocols": "101", "ok": "200", "noContent": "204", "partialContent": "206", "notModified": "304",
        "badRequest": "400", "forbidden": "403", "notFound": "404", "methodNotAllowed": "405", "uriTooLong": "414",
        "rangeNotSatisfiable": "416", "upgradeRequired": "426", "serviceUnavailable": "503",
    ]

    @Test("the API reference page lists exactly the HTTP statuses that Origin's sources send to viewers")
    func viewerStatuses() throws {
        let origin = Self.sources.filter { $0.path.hasPrefix("Sources/Origin/") }
        let answered = origin.flatMap { source in
            source.text.matches(of: /(?:plain|ListenerReply)\(\s*\.([a-zA-Z]+)/).map { String($0.output.1) }
        }
        #expect(answered.count > 10)
        let unknown = answered.filter { Self.statuses[$0] == nil }
        #expect(unknown.isEmpty, "\(unknown): add the number")
        let numbers = Set(answered.compactMap { Self.statuses[$0] })
        let text = try ReferencePage("ReferenceAPI.md").text
        let section = try #require(text.components(separatedBy: "\n## The viewers' listener\n").last)
        let told = section.matches(of: /\n\| ([0-9, ]+) \|/).flatMap { match in
            match.output.1.split(separator: ", ").map { String($0) }
        }
        #expect(Set(told) == numbers)
    }

    // MARK: Metrics, alarms

    @Test("the metrics reference page has exactly the metrics that the sources name, each with a help text")
    func metrics() throws {
        let metrics = MetricReference(sources: Self.sources)
        #expect(metrics.families.count >= 44)
        #expect(Set(metrics.families.map(\.name)) == metrics.mentioned)
        #expect(metrics.families.allSatisfy { !$0.help.isEmpty })
        try Self.check("ReferenceMetrics.md", [("metrics", { _ in metrics.text })])
    }

    @Test("the alarms reference page has every type that the sources raise, with cause, remedy and existing thresholds")
    func alarms() throws {
        let alarms = AlarmReference(sources: Self.sources)
        #expect(alarms.unknown.isEmpty, "\(alarms.unknown) raises an alarm whose type is not found")
        try Self.check("ReferenceAlarms.md", [("alarms", alarms.text)])
        let rows = try Self.filledRows("ReferenceAlarms.md", "alarms")
        let scopes: Set<String> = ["source", "encoder", "output", "config", "listener"]
        let paths = Set(try Self.pipeline().keys.map(\.plainPath))
        var thresholds: Set<String> = ["alarms.windowMs", "alarms.clearAfterMs"]
        for row in rows {
            #expect(scopes.contains(row[1]), "\(row[0])")
            for match in row[5].matches(of: /`([^`]+)`/) {
                thresholds.insert(String(match.output.1))
                #expect(paths.contains(String(match.output.1)), "\(row[0]): \(match.output.1) is no key")
            }
        }
        for path in paths where path.hasPrefix("alarms.") { #expect(thresholds.contains(path), "\(path)") }
    }

    // MARK: Errors

    @Test("the errors reference page has every code, refusal, worker error and exit code, with no empty cell")
    func errors() throws {
        let errors = ErrorReference(sources: Self.sources)
        #expect(errors.refusals.count >= 13 && errors.workerCodes.count >= 16 && errors.exitCodes.count >= 12)
        let declared = ProjectFile.source(named: "PublishRefusal.swift").matches(of: /package static (?:let|func)\b/)
        #expect(errors.refusals.count == declared.count)
        try Self.check(
            "ReferenceErrors.md",
            [
                ("codes", errors.codes), ("refusals", errors.refusals), ("worker", errors.worker),
                ("exits", errors.exits),
            ])
        for region in ["codes", "refusals", "worker", "exits"] {
            _ = try Self.filledRows("ReferenceErrors.md", region)
        }
    }

    @Test("the errors reference page's HTTP statuses are those of openapi.json, 405 and 500")
    func errorStatuses() throws {
        let api = APIReference(document: try #require(try ProjectFile.json("Sources/Control/openapi.json")))
        let told = try Self.filledRows("ReferenceErrors.md", "codes").flatMap { row in
            row[2].split(separator: ", ").map { String($0) }.filter { $0 != "none" }
        }
        // Every route can answer these two, so none declares them.
        #expect(Set(told) == api.errorStatuses.union(["405", "500"]))
    }

    @Test("the errors reference page lists the exit codes of the commands other than run")
    func otherExitCodes() throws {
        let text = try ReferencePage("ReferenceErrors.md").text
        let section = try #require(text.components(separatedBy: "\n## Exit codes of other commands\n").last)
        for code in ErrorReference(sources: Self.sources).otherExitCodes {
            #expect(section.contains("\n| \(code) |"), "\(code)")
        }
    }
}
