import Foundation
import LibAV
import Testing

@Suite("Filters that the FFmpeg of the tarball has")
struct PackagedFilterTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The names after `filters=` in deploy/package/ffmpeg, which are those that it is built with.
    private static func packaged() throws -> Set<String> {
        let script = try String(contentsOf: Self.root.appendingPathComponent("deploy/package/ffmpeg"), encoding: .utf8)
        let lines = script.split(separator: "\n").filter { $0.hasPrefix("filters=") }
        return Set(lines.flatMap { $0.dropFirst("filters=".count).split(separator: ",").map(String.init) })
    }

    /// Words that begin a filter in a string literal: `"scale=…`, `,scale=…`, `]scale=…`, `;scale=…`, if libavfilter
    /// has a filter of that name.
    private static func named(in source: String) -> Set<String> {
        var found: Set<String> = []
        for line in source.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
            for match in line.matches(of: /["\],;]([a-z][a-z0-9_]*)=/) where LibAV.hasFilter(String(match.output.1)) {
                found.insert(String(match.output.1))
            }
        }
        return found
    }

    @Test("every filter that the sources name is in the list that the tarball's FFmpeg is built with")
    func filters() throws {
        let packaged = try Self.packaged()
        var named: Set<String> = []
        let sources = Self.root.appendingPathComponent("Sources")
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        // That file's words are options of libx264.
        for path in paths where path.hasSuffix(".swift") && !path.hasSuffix("VideoEncoderSettings+Sibling.swift") {
            named.formUnion(
                Self.named(in: try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)))
        }
        #expect(named.isSuperset(of: ["scale", "overlay", "xstack", "zscale", "bwdif"]), "\(named)")
        #expect(named.subtracting(packaged).isEmpty, "add them to deploy/package/ffmpeg")
        for filter in ["drawtext", "alphamerge", "null", "hflip", "vflip", "arnndn"] {
            #expect(packaged.contains(filter))
        }
    }
}
