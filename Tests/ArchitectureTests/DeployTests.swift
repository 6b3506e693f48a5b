import Foundation
import TestSupport
import Testing

@Suite("deploy/: dashboards, alert rules, nginx files and fonts match the program and each other")
struct DeployTests {
    /// Metric names in the sources, without the suffixes of histogram samples.
    private static let told: Set<String> = {
        let pattern = /"((?:tandem|process)_[a-z_]+)"/
        let text = SourceTree.swiftFiles(in: "Sources").flatMap(\.lines).joined(separator: "\n")
        return Set(text.matches(of: pattern).map { String($0.output.1) })
    }()

    /// Names of series of recording rules, such as `room:tandem_viewers:sum`, that a file contains.
    private static func recorded(_ path: String) -> Set<String> {
        Set(SourceTree.text(path).matches(of: /\b(?:room|job|slo):[a-z_]+:[a-z0-9_]+/).map { String($0.output) })
    }

    /// Metric names that a file contains, without the suffixes of histogram samples and without recorded series.
    private static func asked(_ path: String) -> Set<String> {
        let text = SourceTree.text(path).replacing(/\b(?:room|job|slo):[a-z_]+:[a-z0-9_]+/, with: "")
        let names = text.matches(of: /\b(?:tandem|process)_[a-z_]+/).map { String($0.output) }
        let suffixes = ["_bucket", "_sum", "_count"]
        return Set(
            names.map { name in suffixes.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name })
    }

    @Test(
        "dashboards, alert rules, recording rules and their tests use only metric names that the sources contain",
        arguments: [
            ("deploy/grafana/tandem.json", 47), ("deploy/grafana/fleet.json", 7), ("deploy/prometheus/alerts.yml", 16),
            ("deploy/prometheus/rules.yml", 18), ("deploy/prometheus/tests.yml", 27),
        ])
    func metrics(path: String, count: Int) {
        let asked = Self.asked(path)
        // Exact, so that a pattern that no longer finds the names fails.
        #expect(asked.count == count, "\(path): \(asked.sorted())")
        for name in asked { #expect(Self.told.contains(name), "\(path): \(name)") }
    }

    @Test(
        "the dashboards, the alert rules and their tests use only recorded series that rules.yml defines",
        arguments: [
            "deploy/grafana/tandem.json", "deploy/grafana/fleet.json", "deploy/prometheus/alerts.yml",
            "deploy/prometheus/tests.yml", "deploy/prometheus/tests-budgets.yml",
        ])
    func recordings(path: String) {
        let text = SourceTree.text("deploy/prometheus/rules.yml")
        let known = Set(text.matches(of: /- record: ([a-z0-9_:]+)\n/).map { String($0.output.1) })
        #expect(known.count >= 20)
        for name in Self.recorded(path) { #expect(known.contains(name), "\(path): \(name)") }
    }

    @Test("every alert has a different name and a test case of promtool in which it fires")
    func cases() {
        let alerts = SourceTree.text("deploy/prometheus/alerts.yml").matches(of: /- alert: (\w+)\n/)
            .map { String($0.output.1) }
        let tests = ["tests", "tests-budgets"].map { SourceTree.text("deploy/prometheus/\($0).yml") }.joined()
        let fired = Set(
            tests.matches(of: /alertname: (\w+)\n +exp_alerts:\n/).map { String($0.output.1) })
        #expect(alerts.count >= 20 && Set(alerts).count == alerts.count)
        for alert in alerts { #expect(fired.contains(alert), "\(alert)") }
    }

    @Test("the alert and recording rules name only room states that RoomPhase defines", arguments: ["alerts", "rules"])
    func states(rules: String) {
        let states = SourceTree.text("Sources/Room/RoomPhase.swift").matches(of: /case ([a-z, ]+)\n/)
            .flatMap { $0.output.1.split(separator: ", ") }
        let asked = SourceTree.text("deploy/prometheus/\(rules).yml").matches(of: /tandem_state\{state=~?"([a-z|]+)"/)
            .flatMap { $0.output.1.split(separator: "|") }
        #expect(!asked.isEmpty)
        for state in asked { #expect(states.contains(state), "\(state)") }
    }

    @Test("the alert for missing segments requires that the room has published a segment before")
    func withoutSegments() throws {
        let rules = SourceTree.text("deploy/prometheus/alerts.yml").split(separator: "\n")
        let rule = try #require(rules.first { $0.contains("increase(tandem_segments_total[1m]) == 0") })
        #expect(rule.contains("and tandem_segments_total > 0 and"))
    }

    @Test(
        "the nginx file for shared storage serves .m4s and .ts segments with their media types",
        arguments: ["m4s", "ts"])
    func segments(ending: String) throws {
        let text = SourceTree.text("deploy/nginx/rooms.conf")
        let served = try #require(text.firstMatch(of: /location ~ \\\.\(([a-z0-9|]+)\)\$/)).output.1
        #expect(served.split(separator: "|").contains { $0 == ending })
        #expect(text.contains(" \(ending);"), "the ending has a media type")
    }

    @Test("the nginx file for shared storage serves WebVTT segments of subtitle renditions, but no other WebVTT files")
    func subtitles() throws {
        let lines = SourceTree.text("deploy/nginx/rooms.conf").split(separator: "\n")
        let places = lines.filter { $0.contains("location") && $0.contains("vtt") }
        #expect(places.count == 1 && places.first?.contains(#"~ -[0-9]+-[0-9]+\.vtt$ {"#) == true)
        #expect(lines.contains { $0.contains("types { text/vtt vtt; }") })
    }

    @Test(
        "the nginx file for shared storage adds the cache header `immutable` without `always`, so that 404 responses do not get it"
    )
    func missingSegments() {
        let lasting = SourceTree.text("deploy/nginx/rooms.conf").split(separator: "\n").filter {
            $0.contains("immutable")
        }
        // With "always" nginx adds a field to refusals, too.
        #expect(!lasting.isEmpty && lasting.allSatisfy { !$0.contains("always") })
    }

    @Test(
        "a dashboard is valid JSON; each panel has queries, and a position and an id that no other panel has",
        arguments: ["tandem", "fleet"])
    func dashboard(name: String) throws {
        let data = Data(SourceTree.text("deploy/grafana/\(name).json").utf8)
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        #expect(panels.count >= 12)
        var (places, numbers): (Set<String>, Set<Int>) = ([], [])
        for panel in panels {
            let targets = panel["targets"] as? [[String: Any]] ?? []
            #expect(!targets.isEmpty && targets.allSatisfy { ($0["expr"] as? String)?.isEmpty == false })
            let place = panel["gridPos"] as? [String: Int] ?? [:]
            #expect(places.insert("\(place["x"] ?? -1) \(place["y"] ?? -1)").inserted)
            #expect(numbers.insert(panel["id"] as? Int ?? -1).inserted)
        }
    }

    @Test(
        "promtool accepts the rules and prometheus.yml, and the test cases of the rules pass",
        arguments: [
            ["check", "rules", "rules.yml", "alerts.yml"], ["test", "rules", "tests.yml", "tests-budgets.yml"],
            ["check", "config", "prometheus.yml"],
        ])
    func promtool(arguments: [String]) throws {
        let tool = try TestTool.require("promtool")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = arguments
        process.currentDirectoryURL = SourceTree.root.appendingPathComponent("deploy/prometheus")
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
    }

    /// Debian font packages with Latin letters, each with the file that Program/SceneFonts looks for.
    private static let latinFonts = [
        "fonts-noto-cjk": "opentype/noto/NotoSansCJK-Regular.ttc",
        "fonts-dejavu-core": "truetype/dejavu/DejaVuSans.ttf",
        "fonts-liberation": "truetype/liberation/LiberationSans-Regular.ttf",
    ]

    @Test(
        ".ci/deps and the image install the same fonts, one of them with Latin letters at a path that SceneFonts looks for"
    )
    func fonts() {
        func packages(_ text: String) -> Set<String> {
            Set(text.matches(of: /(?:^|[\s"])(fonts-[a-z0-9-]+)/).map { String($0.output.1) })
        }
        // Messages to users also name packages, so only these lines count.
        let deps = SourceTree.text(".ci/deps").split(separator: "\n").filter { $0.contains("fonts=\"$fonts ") }
        let image = SourceTree.text("Dockerfile").components(separatedBy: "\nFROM ").last ?? ""
        let installed = packages(deps.joined(separator: "\n"))
        #expect(!installed.isEmpty && packages(image) == installed, "\(packages(image)), not \(installed)")
        let latin = Self.latinFonts.filter { installed.contains($0.key) }
        #expect(!latin.isEmpty, "none of \(installed) is known to have Latin letters")
        let paths = SourceTree.text("Sources/Program/SceneFonts.swift")
        for (package, file) in latin { #expect(paths.contains("\"/usr/share/fonts/\(file)\""), "\(package)") }
    }
}
