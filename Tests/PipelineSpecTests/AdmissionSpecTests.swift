import PipelineSpec
import Testing

@Suite("Pipeline file: who may publish (ingest.auth, onPublish, stream keys, allowed addresses), and RTMPS")
struct AdmissionSpecTests {
    static func report(ingest: String, first key: String = #""streamKey": "hunter2a""#) -> SpecReport {
        Pipeline.parse(
            Documents.room.replacing(#""control": {"#, with: "\"ingest\": \(ingest), \"control\": {")
                .replacing(#""streamKey": "hunter2a""#, with: key))
    }

    @Test("with ingest.auth, a source needs no stream key; members that are left out get their defaults")
    func auth() throws {
        let pipeline = try #require(
            Pipeline.parse(
                Documents.room.replacing(
                    #""control": {"#, with: #""ingest": { "auth": { "secretFile": "/run/s" } }, "control": {"#
                ).replacing(#", "streamKey": "hunter2a""#, with: "")
            ).pipeline)
        #expect(pipeline.ingest.auth?.type == .hmac)
        #expect(pipeline.ingest.auth?.secret == .file("/run/s"))
        #expect(pipeline.ingest.auth?.maxSkewSeconds == 30 && pipeline.ingest.auth?.singleUse == false)
        #expect(pipeline.sources[0].input == .rtmp(streamKeys: []))
        #expect(pipeline.summary().contains("no own stream key"))
    }

    @Test("RTMPS can be opened beside RTMP or instead of it; an unusable certificate is an error")
    func doors() throws {
        let tls = #""tls": { "certificate": "a.crt", "key": "a.key" }"#
        let both = try #require(Self.report(ingest: "{ \"rtmps\": { \(tls) } }").pipeline)
        #expect(both.ingest.rtmps?.listen.description == "0.0.0.0:1936")
        #expect(both.ingest.rtmp.listen?.description == "0.0.0.0:1935")
        let one = try #require(
            Self.report(ingest: "{ \"rtmp\": { \"listen\": null }, \"rtmps\": { \(tls) } }").pipeline)
        #expect(one.ingest.rtmp.listen == nil && one.summary().contains("rtmps://0.0.0.0:1936/live"))
        let checks = SpecChecks(certificate: { _ in .unusable(SpecChecks.Problem("bad", fix: "renew")) })
        let text = Documents.room.replacing(
            "\"control\": {", with: "\"ingest\": { \"rtmps\": { \(tls) } }, \"control\": {")
        #expect(Pipeline.parse(text, checks: checks).mistakes.map(\.path) == ["ingest.rtmps.tls"])
    }

    @Test("with streamKeys, a source in the pipeline file has several stream keys")
    func keys() throws {
        let keys = #""streamKeys": ["hunter2a", "hunter2c"]"#
        let pipeline = try #require(Self.report(ingest: "{}", first: keys).pipeline)
        #expect(pipeline.sources[0].input == .rtmp(streamKeys: [.inline("hunter2a"), .inline("hunter2c")]))
    }

    @Test(
        "each invalid member of ingest or invalid stream key is one error at its path; no message shows a key",
        arguments: [
            (#"{ "auth": {} }"#, #""streamKey": "k""#, "ingest.auth.secretEnv"),
            (#"{ "auth": { "secretEnv": "A", "secretFile": "b" } }"#, #""streamKey": "k""#, "ingest.auth.secretFile"),
            (#"{ "auth": { "secretEnv": "A", "type": "md5" } }"#, #""streamKey": "k""#, "ingest.auth.type"),
            (
                #"{ "allowedAddresses": ["10.0.0.0/8", "cdn.example"] }"#, #""streamKey": "k""#,
                "ingest.allowedAddresses[1]"
            ),
            (#"{ "rtmps": {} }"#, #""streamKey": "k""#, "ingest.rtmps.tls"),
            (#"{ "rtmp": { "listen": null } }"#, #""streamKey": "k""#, "ingest.rtmp.listen"),
            (#"{ "rtmp": { "maxPartialMessages": 9 } }"#, #""streamKey": "k""#, "ingest.rtmp.maxPartialMessages"),
            (#"{ "proxies": ["10.0.0.1", "lb"] }"#, #""streamKey": "k""#, "ingest.proxies[1]"),
            (#"{ "onPublish": {} }"#, #""streamKey": "k""#, "ingest.onPublish.url"),
            (#"{ "onPublish": { "url": "ftp://x" } }"#, #""streamKey": "k""#, "ingest.onPublish.url"),
            (#"{ "onPublish": { "url": "http:///x" } }"#, #""streamKey": "k""#, "ingest.onPublish.url"),
            (
                #"{ "onPublish": { "url": "http://x", "timeoutMs": 2600 } }"#, #""streamKey": "k""#,
                "ingest.onPublish.timeoutMs"
            ),
            (
                #"{ "onPublish": { "url": "http://x", "secretEnv": "S" } }"#, #""streamKey": "k""#,
                "ingest.onPublish.form"
            ),
            ("{}", #""streamKeys": ["hunter2b"]"#, "sources[1].streamKey"),
            ("{}", #""streamKeys": ["k", "k"]"#, "sources[0].streamKeys[1]"),
            ("{}", #""streamKeys": []"#, "sources[0].streamKey"),
            ("{}", #""streamKeys": ["a/b"]"#, "sources[0].streamKeys[0]"),
            ("{}", #""streamKeys": ["k"], "streamKeyEnv": "E""#, "sources[0].streamKeyEnv"),
        ])
    func mistakes(ingest: String, key: String, path: String) {
        let report = Self.report(ingest: ingest, first: key)
        #expect(report.pipeline == nil)
        #expect(report.mistakes.map(\.path) == [path])
        #expect(!report.text(file: "f").contains("hunter2"), "no message shows a key")
    }
}
