import HTTPListener
import HTTPTypes
import NIOCore
import Origin
import Testing

@Suite("A viewer's query (token) is added to the URIs in its playlist: rfc8216bis §6.2.5")
struct QueryPropagationTests {
    private static let multivariant = """
        #EXTM3U
        #EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.title",VALUE="URI"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="audio"
        720p.m3u8

        """

    private static func reply(
        _ path: String, _ content: any OriginContent, _ fields: HTTPFields = [:]
    ) async -> ListenerReply {
        let responder = OriginResponder(
            content: content, policy: CORSPolicy(allowOrigins: ["*"]), page: ViewerPage.Options(title: "Room"))
        return await responder.reply(
            to: ListenerRequest(
                head: HTTPRequest(method: .get, scheme: "http", authority: "a", path: path, headerFields: fields)))
    }

    private static func bytes(_ reply: ListenerReply) -> [UInt8] {
        switch reply.body {
        case .buffers(let buffers): buffers.flatMap { Array($0.readableBytesView) }
        case .bytes(let bytes, let range): Array(bytes[range])
        case .none, .file, .stream, .socket: []
        }
    }

    private static func text(_ path: String, _ content: any OriginContent) async -> String {
        String(decoding: self.bytes(await self.reply(path, content)), as: UTF8.self)
    }

    @Test(
        """
        a viewer's query is added to the playlist's URIs as written, without _HLS_ directives and CMCD; only characters \
        that a URI may not contain are escaped
        """,
        arguments: [
            ("", ""), ("?_HLS_msn=0&_HLS_skip=YES", ""),
            ("?token=a%22b%0A%23x&flag&_HLS_part=1", "?token=a%22b%0A%23x&flag"),
            ("?t=a+b&u=%C3%A9&v=é", "?t=a+b&u=%C3%A9&v=%C3%A9"),
            // As signed by CDNs: other escapes would be another token.
            ("?hdnts=exp=1~acl=/room/*!%2f~hmac=a+/=&e=", "?hdnts=exp=1~acl=/room/*!%2f~hmac=a+/=&e="),
            ("?a=\"<#x>{$y}&%5FHLS_msn=1", "?a=%22%3C%23x%3E%7B$y%7D"),
            ("?CMCD=bl%3D4000%2Csid%3D%22x%22&t=1", "?t=1"), ("?CMCD=bl%3D1", ""),
        ])
    func multivariantPlaylist(query: String, passed: String) async {
        let content = MemoryContent(objects: ["index.m3u8": MemoryContent.playlist(Self.multivariant)])
        let text = await Self.text("/index.m3u8\(query)", content)
        let expected = Self.multivariant.replacing("audio.m3u8\"", with: "audio.m3u8\(passed)\"")
            .replacing("720p.m3u8", with: "720p.m3u8\(passed)")
        #expect(text == expected)
    }

    @Test("key URIs of the room have the viewer's query, those of an external key server do not")
    func keys() async {
        let list = """
            #EXTM3U
            #EXT-X-KEY:METHOD=AES-128,URI="v-0.key",IV=0x00000000000000000000000000000001
            #EXT-X-KEY:METHOD=AES-128,URI="https://keys.example/v/0?room=r",IV=0x00000000000000000000000000000001

            """
        let content = MemoryContent(objects: ["v.m3u8": MemoryContent.playlist(list)])
        let text = await Self.text("/v.m3u8?sig=x", content)
        #expect(text == list.replacing("v-0.key", with: "v-0.key?sig=x"))
    }

    @Test("segments of the room have the viewer's query, those on another server do not")
    func otherServer() async {
        let list = """
            #EXTM3U
            #EXTINF:2,
            v-1-0.m4s
            #EXTINF:2,
            https://cdn.example/v-1-1.m4s

            """
        let content = MemoryContent(objects: ["v.m3u8": MemoryContent.playlist(list)])
        let text = await Self.text("/v.m3u8?sig=x", content)
        #expect(text == list.replacing("v-1-0.m4s", with: "v-1-0.m4s?sig=x"))
    }

    @Test(
        "URIs of parts, maps, hints, reports and segments have the viewer's query, and each query has its own entity tag"
    )
    func mediaPlaylist() async throws {
        let stream = try LiveStream()
        for _ in 0..<6 { for track in 0..<2 { try stream.next(track) } }
        let plain = await Self.text("/v.m3u8", stream.content)
        let text = await Self.text("/v.m3u8?token=x", stream.content)
        #expect(!plain.contains("token") && text.replacing("?token=x", with: "") == plain)
        for line in text.split(separator: "\n") {
            if !line.hasPrefix("#") || line.contains("URI=\"") { #expect(line.contains("?token=x"), "\(line)") }
        }
        let tags = [
            await Self.reply("/v.m3u8", stream.content).fields[.eTag],
            await Self.reply("/v.m3u8?token=x", stream.content).fields[.eTag],
        ]
        #expect(tags[0] != nil && tags[0] != tags[1])
        for index in 0..<200 {
            #expect(await Self.text("/v.m3u8?t=\(index)", stream.content).contains(".m4s?t=\(index)\""))
        }
    }

    @Test("the playlist is rendered once for all viewers, whatever their queries")
    func rendered() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<41 { try stream.next() }
        for index in 0..<100 {
            let full = await Self.text("/v.m3u8?t=\(index)", stream.content)
            let delta = await Self.text("/v.m3u8?t=\(index)&_HLS_skip=YES", stream.content)
            #expect(!full.contains("#EXT-X-SKIP:") && full.contains("v-1-9.m4s?t=\(index)\n"))
            #expect(delta.contains("#EXT-X-SKIP:") && delta.contains("v-1-9.m4s?t=\(index)\n"))
        }
        #expect(stream.content.textCount == 2, "the full one and the delta")
    }

    @Test("a playlist request with a query over 2,048 bytes gets 414, since the query would be repeated for each URI")
    func longQuery() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<6 { try stream.next() }
        let content = MemoryContent(objects: ["index.m3u8": MemoryContent.playlist(Self.multivariant)])
        let longest = "t=" + String(repeating: "x", count: 2_046)
        for path in ["/v.m3u8", "/v.m3u8?_HLS_msn=0&", "/v.m3u8?CMCD=\(longest)&"] {
            let mark = path.contains("?") ? "" : "?"
            #expect(await Self.reply("\(path)\(mark)\(longest)", stream.content).status == .ok)
            let refused = await Self.reply("\(path)\(mark)\(longest)x", stream.content)
            #expect(refused.status == .uriTooLong && refused.fields[.cacheControl] == "no-store")
        }
        #expect(await Self.reply("/index.m3u8?\(longest)", content).status == .ok)
        #expect(await Self.reply("/index.m3u8?\(longest)x", content).status == .uriTooLong)
        // The length counts in its escaped form in the playlist.
        let escaped = String(repeating: "\"", count: 700)
        #expect(await Self.reply("/index.m3u8?\(escaped)", content).status == .uriTooLong)
        // A resource that names no URIs does not repeat the query.
        #expect(await Self.reply("/v-1-0.m4s?\(longest)x", stream.content).status == .ok)
    }

    @Test("a 1,200-byte query on a playlist with 20,000 segments gets 400, since it would multiply its size")
    func longList() async {
        let list = "#EXTM3U\n" + (0..<20_000).map { "#EXTINF:2.13333,\nv-1-\($0).m4s\n" }.joined()
        let content = MemoryContent(objects: ["v.m3u8": MemoryContent.playlist(list)])
        let token = String(repeating: "x", count: 200)
        #expect(await Self.text("/v.m3u8?t=\(token)", content) == list.replacing(".m4s", with: ".m4s?t=\(token)"))
        let long = await Self.reply("/v.m3u8?t=\(token)&u=\(String(repeating: "y", count: 1_000))", content)
        #expect(long.status == .badRequest && long.body.count < 200)
    }

    @Test("the multivariant playlist is compressed for clients that accept it, and caches keep the forms apart")
    func compressed() async {
        let content = MemoryContent(objects: ["index.m3u8": MemoryContent.playlist(Self.multivariant)])
        let plain = await Self.reply("/index.m3u8", content)
        let gzip = await Self.reply("/index.m3u8", content, [.acceptEncoding: "gzip"])
        #expect(plain.fields[.contentEncoding] == nil && gzip.fields[.contentEncoding] == "gzip")
        #expect(Self.bytes(gzip).starts(with: [0x1F, 0x8B]) && gzip.fields[.eTag] != plain.fields[.eTag])
        #expect(plain.fields[.vary]?.contains("Accept-Encoding") == true)
        let known = await Self.reply("/index.m3u8", content, [.ifNoneMatch: plain.fields[.eTag] ?? ""])
        #expect(known.status == .notModified)
    }
}
