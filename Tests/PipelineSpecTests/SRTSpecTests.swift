import MediaTypes
import PipelineSpec
import Testing

@Suite("Pipeline file: SRT")
struct SRTSpecTests {
    static func report(_ source: String, ingest: String) -> SpecReport {
        Pipeline.parse(
            Documents.room
                .replacing(#"{ "uid": "2002", "streamKey": "hunter2b" }"#, with: source)
                .replacing(#""sources": ["#, with: #""ingest": \#(ingest), "sources": ["#))
    }

    @Test("ingest.srt has defaults, and may be the only listener, with a passphrase from an environment variable")
    func listener() throws {
        let key = #"{ "uid": "2002", "streamKey": "k" }"#
        let plain = try #require(Self.report(key, ingest: #"{ "srt": {} }"#).pipeline?.ingest.srt)
        #expect(plain.listen.description == "0.0.0.0:9000" && plain.latencyMs == 120 && plain.passphrase == nil)
        let alone = Self.report(
            key,
            ingest:
                #"{ "rtmp": { "listen": null }, "srt": { "listen": "[::]:7000", "passphraseEnv": "P", "pbkeylen": 32 } }"#
        )
        let srt = try #require(alone.pipeline?.ingest.srt, "\(alone.text(file: "f"))")
        #expect(srt.passphrase == .env("P") && srt.keyLength == 32)
        #expect(try #require(alone.pipeline).summary().contains("srt://[::]:7000"))
    }

    @Test("an srt-pull source is read if its host is allowed; displays of the pipeline omit the stream id in its URL")
    func caller() throws {
        let report = Self.report(
            #"{ "uid": "2002", "type": "srt-pull", "url": "srt://a.example:9000?streamid=hunter2c" }"#,
            ingest: #"{ "pull": { "allowedHosts": ["a.example:9000"] } }"#)
        let pipeline = try #require(report.pipeline, "\(report.text(file: "f"))")
        #expect(pipeline.sources[1].input == .srtPull(url: .inline("srt://a.example:9000?streamid=hunter2c")))
        #expect(pipeline.summary().contains("srt-pull from srt://a.example:9000"))
        #expect(!"\(pipeline)".contains("hunter2c") && !pipeline.summary().contains("hunter2c"))
    }

    @Test(
        "each mistake in ingest.srt or a pull source's URL is an error with its path and what is wrong",
        arguments: [
            (
                #""streamKey": "k""#, #"{ "srt": { "pbkeylen": 17 } }"#, "ingest.srt.pbkeylen",
                "17 is not the length of an AES key"
            ),
            (#""streamKey": "k""#, #"{ "srt": { "pbkeylen": 16 } }"#, "ingest.srt.pbkeylen", "there is no passphrase"),
            (
                #""streamKey": "k""#, #"{ "srt": { "passphraseEnv": "A", "passphraseFile": "b" } }"#,
                "ingest.srt.passphraseFile", "cannot be combined with passphraseEnv"
            ),
            (#""streamKey": "k""#, #"{ "srt": { "passphrase": "x" } }"#, "ingest.srt.passphrase", "unknown key"),
            (#""streamKey": "k""#, #"{ "srt": { "latencyMs": 5 } }"#, "ingest.srt.latencyMs", "5"),
            (
                #""type": "srt-pull", "url": "srt://a.example:9000""#, "{}", "sources[1].url",
                "a.example:9000 is not in ingest.pull.allowedHosts"
            ),
            (#""type": "srt-pull""#, "{}", "sources[1].url", "is missing"),
            (#""type": "srt-pull", "url": "rtmp://a/b/c""#, "{}", "sources[1].url", "is not an srt URL"),
            (#""type": "rtmp-pull", "url": "srt://a:1""#, "{}", "sources[1].url", "is not an rtmp URL"),
            (
                #""type": "srt-pull", "url": "srt://a:1", "streamKey": "k""#, "{}", "sources[1].streamKey",
                "applies only to rtmp"
            ),
            (#""type": "srt-pull", "url": "srt://a:1?passphrase=x""#, "{}", "sources[1].url", "is not valid"),
        ])
    func mistakes(source: String, ingest: String, path: String, what: String) {
        let report = Self.report(#"{ "uid": "2002", \#(source) }"#, ingest: ingest)
        #expect(
            report.mistakes.contains { $0.path == path && $0.what.contains(what) }, "\(report.mistakes)")
    }
}
