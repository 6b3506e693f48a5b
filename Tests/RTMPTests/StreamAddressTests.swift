import MediaTypes
import RTMP
import Testing

@Suite("App, stream key and query from an encoder's URL")
struct StreamAddressTests {
    struct Case: Sendable {
        let app: String
        let name: String
        let key: String?
        var query: [String] = []
        var configured = "live"
    }

    static let cases = [
        Case(app: "live", name: "key?token=a&t=1", key: "key", query: ["token=a", "t=1"]),
        Case(app: "a/b", name: "c/key?x=/y", key: "b/c/key", query: ["x=/y"], configured: "a"),
        Case(app: "a/b", name: "c/key", key: "c/key", configured: "a/b"),
        Case(app: "onlyapp", name: "", key: nil, configured: "onlyapp"),
        Case(app: "live", name: "mp4:key.mp4", key: "key.mp4"), Case(app: "live", name: "flv:key", key: "key"),
        Case(app: "live/key?x=1", name: "", key: "key", query: ["x=1"]),
        Case(app: "live/key?x=1", name: "?x=1", key: "key", query: ["x=1"]),
        Case(app: "live?tok=1", name: "key", key: "key", query: ["tok=1"]),
        Case(app: "live?tok=1&a=2", name: "key?tok=9", key: "key", query: ["a=2", "tok=9"]),
        Case(app: "live/", name: "cid03", key: "cid03"), Case(app: "/live", name: "/key/", key: "key"),
        Case(app: "live/_definst_", name: "key", key: "key"), Case(app: " 'live'", name: "\"key\" ", key: "key"),
        Case(app: "live", name: "key?a&&b=", key: "key", query: ["a=", "b="]),
        Case(app: "other", name: "key", key: nil), Case(app: "liver", name: "key", key: nil),
        Case(app: "live", name: "k%20y", key: "k%20y"), Case(app: "live", name: "..", key: ".."),
        Case(app: "", name: "live/key", key: "key"),
        Case(app: "live...vhost...demo&token=abc", name: "key", key: "key", query: ["vhost=demo", "token=abc"]),
        Case(app: "live?vhost=demo", name: "key?vhost=own", key: "key", query: ["vhost=own"]),
        Case(app: "live", name: "a...vhost...b", key: "a...vhost...b"),
    ]

    @Test(
        "the stream key and query are found for each way to divide the URL into app and stream name", arguments: cases)
    func keys(example: Case) throws {
        let address = try #require(StreamAddress(app: example.app, streamName: example.name))
        #expect(address.key(app: example.configured) == example.key)
        #expect(address.query.map { "\($0.name)=\($0.value)" } == example.query)
    }

    @Test(
        "app and stream names with a control or replacement character are refused",
        arguments: [0, 0x0A, 0x1B, 0x7F, 0xFFFD] as [UInt32])
    func refusedScalars(scalar: UInt32) throws {
        let name = "a\(try #require(Unicode.Scalar(scalar)))b"
        #expect(StreamAddress(app: "live", streamName: name) == nil)
        #expect(StreamAddress(app: name, streamName: "key") == nil)
    }

    @Test("a stream name of more than 512 bytes is refused", arguments: [(512, true), (513, false)])
    func length(count: Int, isFine: Bool) {
        #expect((StreamAddress(app: "live", streamName: String(repeating: "k", count: count)) != nil) == isFine)
    }
}

@Suite("RTMP URLs to publish to")
struct RTMPURLTests {
    @Test(
        "an RTMP URL gives host, port, app and stream name",
        arguments: [
            ("rtmp://h/live/key", "h", 1935, "live", "key"),
            ("RTMP://h:19350/live/key?a=1/2", "h", 19350, "live", "key?a=1/2"),
            ("rtmp://h/a/b/key", "h", 1935, "a/b", "key"), ("rtmp://h/only", "h", 1935, "only", ""),
            ("rtmp://[::1]:1936/live/key", "::1", 1936, "live", "key"),
            ("rtmp://[::1]/live/key", "::1", 1935, "live", "key"),
            ("rtmp://user:pa:ss@h:1/live/key", "h", 1, "live", "key"),
        ])
    func parses(text: String, host: String, port: Int, app: String, name: String) throws {
        let url = try #require(RTMPURL(text))
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.app == app)
        #expect(url.streamName == name)
        #expect(url.authority == (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"))
        #expect(url.tcURL == "rtmp://\(url.authority)/\(app)")
    }

    @Test(
        "rtmps URLs are accepted only if the caller allows TLS, and the stream key may be given separately",
        arguments: [
            ("rtmps://h/live/key", nil, 443, "live", "key", "rtmps://h:443/live"),
            ("RTMPS://h:8443/live", "key/1?a=b", 8443, "live", "key/1?a=b", "rtmps://h:8443/live"),
            ("rtmp://h/a/b/", "key", 1935, "a/b", "key", "rtmp://h:1935/a/b"),
        ] as [(String, String?, Int, String, String, String)])
    func secure(text: String, key: String?, port: Int, app: String, name: String, tcURL: String) throws {
        let url = try #require(RTMPURL(text, allowsTLS: true, key: key))
        #expect((url.port, url.app, url.streamName, url.tcURL) == (port, app, name, tcURL))
        #expect(url.isSecure == text.lowercased().hasPrefix("rtmps"))
        #expect(!url.redacted.contains("key"))
        #expect((RTMPURL(text, key: key) == nil) == url.isSecure, "not without TLS support")
    }

    @Test(
        "invalid RTMP URLs are refused",
        arguments: [
            "http://h/live/key", "rtmp://h", "rtmp:///live/key", "rtmp://h:0/live/key", "rtmp://h:65536/a/b",
            "rtmp://h:x/a/b",
            "rtmp://h/", "", "rtmp://h/?key",
        ])
    func refuses(text: String) {
        #expect(RTMPURL(text) == nil)
    }
}
