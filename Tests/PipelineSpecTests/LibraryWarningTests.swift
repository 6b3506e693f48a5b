import PipelineSpec
import Testing

@Suite("Warnings about missing parts of FFmpeg's libraries")
struct LibraryWarningTests {
    private static let document = Documents.room.replacing(
        #""outputs""#,
        with: #""ingest": { "codecs": ["h264", "aac", "av1"], "srt": { "listen": "127.0.0.1:9001" } }, "outputs""#,
        maxReplacements: 1)

    @Test("a missing part of FFmpeg is a warning at the key that needs it; a codec whose decoder is present has none")
    func warnings() {
        let checks = SpecChecks(library: { part in
            part == .decoder(.h264) ? nil : SpecChecks.Problem("\(part) is missing", fix: "install it")
        })
        let report = Pipeline.parse(Self.document, checks: checks)
        #expect(report.pipeline != nil, "\(report.mistakes)")
        #expect(
            Set(report.warnings.map(\.path)).isSuperset(
                of: ["outputs", "ingest.codecs[1]", "ingest.codecs[2]", "ingest.srt"]))
        #expect(!report.warnings.contains { $0.path == "ingest.codecs[0]" })
    }

    @Test("a missing decoder or SRT support that only a source needs is a warning at that source")
    func sources() {
        let document = Documents.room.replacing(
            #""sources": ["#,
            with: #"""
                "ingest": { "pull": { "allowedHosts": ["a.example:9000"] } }, "sources": [
                { "uid": "77", "type": "srt-pull", "url": "srt://a.example:9000", "decode": { "codecs": ["hevc"] } },
                """#, maxReplacements: 1)
        let checks = SpecChecks(library: { part in
            part == .srt || part == .decoder(.hevc) ? SpecChecks.Problem("missing", fix: "install it") : nil
        })
        let report = Pipeline.parse(document, checks: checks)
        #expect(report.pipeline != nil, "\(report.mistakes)")
        #expect(report.warnings.map(\.path).sorted() == ["sources[0].decode.codecs[0]", "sources[0].type"])
    }

    @Test("if no part of FFmpeg is missing, there is no warning")
    func complete() {
        #expect(Pipeline.parse(Self.document, checks: .none).warnings.isEmpty)
    }
}
