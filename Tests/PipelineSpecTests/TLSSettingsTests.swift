import PipelineSpec
import Testing

@Suite("Pipeline file: http.tls, the certificate of the viewers' listener")
struct TLSSettingsTests {
    private static func report(_ tls: String, checks: SpecChecks = .none) -> SpecReport {
        Pipeline.parse(
            Documents.room.replacing(#""path": "out""#, with: #""path": "out", "http": { "tls": \#(tls) }"#),
            checks: checks)
    }

    @Test("the paths of a certificate and its key in http.tls are read")
    func files() throws {
        let pipeline = try #require(Self.report(#"{ "certificate": "a.crt", "key": "a.key" }"#).pipeline)
        #expect(pipeline.hls?.http.tls?.certificate == "a.crt")
        #expect(pipeline.hls?.http.tls?.key == "a.key")
    }

    @Test(
        "in http.tls, a missing certificate or key, or an unknown member, is an error at its path",
        arguments: [
            (#"{ "key": "a.key" }"#, "certificate"), (#"{ "certificate": "a.crt" }"#, "key"),
            (#"{ "certificate": "a.crt", "key": "a.key", "chain": "b" }"#, "chain"),
        ])
    func mistakes(tls: String, key: String) {
        let report = Self.report(tls)
        #expect(report.pipeline == nil)
        #expect(report.mistakes.map(\.path).contains { $0.hasSuffix("http.tls.\(key)") })
    }

    @Test("in http.tls, a certificate that the check finds unusable is an error, one that it finds doubtful a warning")
    func machineChecks() {
        let checks = SpecChecks(certificate: { settings in
            let problem = SpecChecks.Problem("\(settings.certificate) is bad", fix: "renew it")
            return settings.key == "old" ? .doubtful(problem) : .unusable(problem)
        })
        let bad = Self.report(#"{ "certificate": "a.crt", "key": "a.key" }"#, checks: checks)
        #expect(bad.pipeline == nil && bad.mistakes.map(\.what) == ["a.crt is bad"])
        let old = Self.report(#"{ "certificate": "a.crt", "key": "old" }"#, checks: checks)
        #expect(old.pipeline != nil && old.warnings.map(\.what) == ["a.crt is bad"])
        #expect(old.warnings.first?.path.hasSuffix("http.tls") == true)
    }
}
