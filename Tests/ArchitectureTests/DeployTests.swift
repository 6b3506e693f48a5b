import Foundation
import TestSupport
import Testing

@Suite("deploy/: dashboard, alert rules and web server match what rooms provide")
struct DeployTests {
    /// Names of families in the sources, without the suffixes of histograms.
    private static let told: Set<String> = {
        let pattern = /"((?:tandem|process)_[a-z_]+)"/
        let text = SourceTree.swiftFiles(in: "Sources").flatMap(\.lines).joined(separator: "\n")
        return Set(text.matches(of: pattern).map { String($0.output.1) })
    }()

    private static func asked(_ path: String) -> Set<String> {
        let names = SourceTree.text(path).matches(of: /\b(?:tandem|process)_[a-z_]+/).map { String($0.output) }
        let suffixes = ["_bucket", "_sum", "_count"]
        return Set(
            names.map { name in suffixes.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name })
    }

    @Test(
        "the dashboard and the alert rules use only metrics that rooms export",
        arguments: ["deploy/grafana/tandem.json", "deploy/prometheus/alerts.yml"])
    func metrics(path: String) {
        let asked = Self.asked(path)
        #expect(asked.count >= 8)
        for name in asked { #expect(Self.told.contains(name), "\(path): \(name)") }
    }

    @Test("the alert rules name only room states that the program has")
    func states() {
        let states = SourceTree.text("Sources/Room/RoomPhase.swift").matches(of: /case ([a-z, ]+)\n/)
            .flatMap { $0.output.1.split(separator: ", ") }
        let asked = SourceTree.text("deploy/prometheus/alerts.yml").matches(of: /tandem_state\{state=~?"([a-z|]+)"/)
            .flatMap { $0.output.1.split(separator: "|") }
        #expect(!asked.isEmpty)
        for state in asked { #expect(states.contains(state), "\(state)") }
    }

    @Test("a live room without an hls output does not fire the alert for missing segments")
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
        #expect(text.contains(" \(ending);"), "with its type")
    }

    @Test("the web server for shared storage does not mark 404 responses as immutable")
    func missingSegments() {
        let lasting = SourceTree.text("deploy/nginx/rooms.conf").split(separator: "\n").filter {
            $0.contains("immutable")
        }
        // With "always" nginx adds a field to refusals, too.
        #expect(!lasting.isEmpty && lasting.allSatisfy { !$0.contains("always") })
    }

    @Test("the dashboard is valid JSON; each panel has a query and a position of its own")
    func dashboard() throws {
        let data = Data(SourceTree.text("deploy/grafana/tandem.json").utf8)
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        #expect(panels.count >= 12)
        var places: Set<String> = []
        for panel in panels {
            let targets = panel["targets"] as? [[String: Any]] ?? []
            #expect(!targets.isEmpty && targets.allSatisfy { ($0["expr"] as? String)?.isEmpty == false })
            #expect(places.insert("\(panel["gridPos"] ?? "")").inserted)
        }
    }

    @Test("promtool accepts the alert rules")
    func promtool() throws {
        let tool = try TestTool.require("promtool")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: tool)
        process.arguments = [
            "check", "rules", SourceTree.root.appendingPathComponent("deploy/prometheus/alerts.yml").path,
        ]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    /// Debian font packages with Latin letters, each with the file that Program/SceneFonts looks for.
    private static let latinFonts = [
        "fonts-noto-cjk": "opentype/noto/NotoSansCJK-Regular.ttc",
        "fonts-dejavu-core": "truetype/dejavu/DejaVuSans.ttf",
        "fonts-liberation": "truetype/liberation/LiberationSans-Regular.ttf",
    ]

    @Test("`make deps` and the image install the same fonts, one of them with Latin letters")
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
