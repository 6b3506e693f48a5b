import Testing

import HTTPListener

@Suite("Request target: RFC 9112 §3.2, RFC 3986 §2.1")
struct RequestTargetTests {
    @Test(
        "a request's path is percent-decoded, and `..` and `//` are not resolved",
        arguments: [
            ("/", "/"), ("/a/b.m3u8", "/a/b.m3u8"), ("/a%20b", "/a b"), ("/a+b", "/a+b"), ("/%C3%A9", "/é"),
            ("/../x", "/../x"),
            ("/%2e%2e/x", "/../x"), ("/a?b=c", "/a"), ("http://host:1/a?b", "/a"), ("http://host", "/"), ("//a", "//a"),
            ("http://host?x=1", nil),
        ] as [(String, String?)])
    func paths(text: String, path: String?) {
        #expect(RequestTarget(parsing: text)?.path == path)
    }

    @Test(
        "request targets that are no absolute path or URL, or have invalid percent-encoding, are refused",
        arguments: ["", "a", "*", "/%", "/%1", "/%zz", "/%ff", "/%00", "/a?b=%", "host:443"])
    func refusals(text: String) {
        #expect(RequestTarget(parsing: text) == nil)
    }

    @Test("a query is read as a list of decoded pairs, and its items are also kept as written")
    func query() throws {
        let target = try #require(RequestTarget(parsing: "/a?_HLS_msn=7&b=x+y%26&c&&d="))
        #expect(target.query.map { "\($0.name)=\($0.value)" } == ["_HLS_msn=7", "b=x y&", "c=", "d="])
        #expect(target.writtenQuery == ["_HLS_msn=7", "b=x+y%26", "c", "d="])
    }
}
