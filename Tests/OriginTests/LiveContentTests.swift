import HLS
import HTTPListener
import HTTPTypes
import NIOCore
import TestSupport
import Testing

import Origin

@Suite("Live content: rfc8216bis §6.2.5, §6.2.6", .timeLimit(.minutes(1)))
struct LiveContentTests {
    /// One whole segment (0) and two parts of the next in both tracks.
    private static func stream() throws -> LiveStream {
        let stream = try LiveStream()
        for _ in 0..<6 { for track in 0..<2 { try stream.next(track) } }
        return stream
    }

    private static func reply(_ stream: LiveStream, _ path: String, _ fields: HTTPFields = [:]) async -> ListenerReply {
        let responder = OriginResponder(
            content: stream.content, policy: CORSPolicy(allowOrigins: ["*"]), page: ViewerPage.Options(title: "Room"))
        return await responder.reply(
            to: ListenerRequest(
                head: HTTPRequest(method: .get, scheme: "http", authority: "a", path: path, headerFields: fields)))
    }

    private static func text(_ reply: ListenerReply) -> String {
        switch reply.body {
        case .buffers(let buffers): String(decoding: buffers.flatMap { Array($0.readableBytesView) }, as: UTF8.self)
        case .bytes(let bytes, let range): String(decoding: bytes[range], as: UTF8.self)
        case .none, .file, .stream, .socket: ""
        }
    }

    /// Starts a request and returns once it is blocked.
    private static func waiting(_ stream: LiveStream, _ path: String) async throws -> Task<ListenerReply, Never> {
        let before = stream.content.waitingCount
        let task = Task { await Self.reply(stream, path) }
        try await waitUntil("\(path) waits", { stream.content.waitingCount }) { $0 != before }
        return task
    }

    // MARK: §6.2.5.2, row by row

    @Test(
        "requests for existing, invalid or unknown playlists and parts are answered at once",
        arguments: [
            ("/v.m3u8", 200), ("/v.m3u8?_HLS_msn=0", 200), ("/v.m3u8?_HLS_msn=0&_HLS_part=3", 200),
            ("/v.m3u8?_HLS_msn=0&_HLS_part=4", 200), ("/v.m3u8?_HLS_msn=1&_HLS_part=1", 200),
            ("/v.m3u8?_HLS_skip=YES", 200), ("/v.m3u8?token=x", 200),
            ("/v.m3u8?_HLS_part=1", 400), ("/v.m3u8?_HLS_msn=4", 400), ("/v.m3u8?_HLS_msn=1&_HLS_part=8", 400),
            ("/v.m3u8?_HLS_msn=x", 400), ("/v.m3u8?_HLS_msn=-1", 400), ("/v.m3u8?_HLS_msn=99999999999999999999", 400),
            ("/v-1-1.1.m4s", 200), ("/v-1-0.m4s", 200), ("/v-1-1.3.m4s", 404), ("/v-1-2.0.m4s", 404),
            ("/v-1-1.m4s", 404), ("/other.m3u8?_HLS_msn=1", 404),
        ])
    func immediate(path: String, status: Int) async throws {
        let stream = try Self.stream()
        let reply = await Self.reply(stream, path)
        #expect(reply.status.code == status)
        #expect(status == 200 || reply.fields[.cacheControl] == "no-store")
        #expect(stream.content.waitingCount == 0)
    }

    @Test(
        "a blocking request is answered by the first part that satisfies it, and not by a part of another track",
        arguments: [
            ("/v.m3u8?_HLS_msn=1&_HLS_part=2", 1), ("/v.m3u8?_HLS_msn=1&_HLS_part=3", 2), ("/v.m3u8?_HLS_msn=1", 2),
            ("/v.m3u8?_HLS_msn=1&_HLS_part=4", 3), ("/v.m3u8?_HLS_msn=2&_HLS_part=0", 3), ("/v.m3u8?_HLS_msn=2", 6),
            ("/v-1-1.2.m4s", 1),
        ])
    func held(path: String, parts: Int) async throws {
        let stream = try Self.stream()
        let task = try await Self.waiting(stream, path)
        for _ in 1..<parts { try stream.next() }
        try stream.next(1)
        #expect(stream.content.waitingCount == 1, "not yet, and not for another track's part")
        try stream.next()
        #expect(stream.content.waitingCount == 0)
        let reply = await task.value
        #expect(reply.status == .ok)
        if path.hasSuffix("m4s") {
            #expect(Self.text(reply) == String(decoding: LiveStream.bytes("v-1-1.2.m4s"), as: UTF8.self))
        }
    }

    @Test("a blocking request that is not satisfied within three target durations gets 503")
    func tooLate() async throws {
        let stream = try Self.stream()
        let list = try await Self.waiting(stream, "/v.m3u8?_HLS_msn=2")
        stream.clock.set(seconds: 3)
        let part = try await Self.waiting(stream, "/v-1-1.2.m4s")
        stream.clock.set(seconds: 5)
        stream.content.expire()
        #expect(stream.content.waitingCount == 2)
        stream.clock.set(seconds: 6)
        stream.content.expire()
        #expect(stream.content.waitingCount == 1)
        #expect(await list.value.status == .serviceUnavailable)
        stream.clock.set(seconds: 9)
        stream.content.expire()
        #expect(await part.value.status == .serviceUnavailable)
    }

    @Test("at the program's end, blocked requests for playlists get the final playlist, those for parts 404")
    func ended() async throws {
        let stream = try Self.stream()
        let list = try await Self.waiting(stream, "/v.m3u8?_HLS_msn=2")
        let part = try await Self.waiting(stream, "/v-1-1.2.m4s")
        stream.end()
        #expect(Self.text(await list.value).hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(await part.value.status == .notFound)
        #expect(await Self.reply(stream, "/v.m3u8?_HLS_part=1").status == .ok, "directives are ignored")
    }

    @Test("a waiting request for a hinted part gets 404 if the origin gives up the part")
    func staleHint() async throws {
        let stream = try Self.stream()
        let part = try await Self.waiting(stream, "/v-1-1.2.m4s")
        stream.giveUpHint()
        #expect(await part.value.status == .notFound)
    }

    @Test("when a client disconnects, the origin drops its blocking playlist request")
    func left() async throws {
        let stream = try Self.stream()
        let client = ClientPresence()
        let task = Task {
            await stream.content.answer(
                to: OriginRequest(
                    path: "v.m3u8", directives: ReloadDirectives(query: [("_HLS_msn", "2")]), client: client))
        }
        try await waitUntil("the request waits", { stream.content.waitingCount }) { $0 > 0 }
        client.leave()
        _ = await task.value
        #expect(stream.content.waitingCount == 0)
        // A client that has left before it blocked does not block.
        _ = await stream.content.answer(
            to: OriginRequest(path: "v.m3u8", directives: ReloadDirectives(query: [("_HLS_msn", "2")]), client: client))
        #expect(stream.content.waitingCount == 0)
    }

    @Test("when the origin stops, blocking playlist requests get 503, and so do later ones")
    func close() async throws {
        let stream = try Self.stream()
        let task = try await Self.waiting(stream, "/v.m3u8?_HLS_msn=2")
        stream.content.close()
        #expect(await task.value.status == .serviceUnavailable)
        #expect(await Self.reply(stream, "/v.m3u8?_HLS_msn=2").status == .serviceUnavailable)
    }

    // MARK: Forms and header fields

    @Test("two replies with the same playlist share one buffer")
    func shared() async throws {
        let stream = try Self.stream()
        guard case .buffers(let one) = await Self.reply(stream, "/v.m3u8").body,
            case .buffers(let other) = await Self.reply(stream, "/v.m3u8?_HLS_msn=0").body
        else { return #expect(Bool(false), "no shared bytes") }
        #expect(one.count == 1 && one == other)
        let addresses = [one, other].map { $0[0].withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } }
        #expect(addresses[0] == addresses[1], "the same memory")
    }

    @Test("delta updates and gzip have their own entity tags; caching times follow rfc8216bis")
    func fields() async throws {
        let stream = try LiveStream(["v"])
        for _ in 0..<41 { try stream.next() }
        let full = await Self.reply(stream, "/v.m3u8")
        let delta = await Self.reply(stream, "/v.m3u8?_HLS_skip=YES")
        #expect(Self.text(delta).contains("#EXT-X-SKIP:") && !Self.text(full).contains("#EXT-X-SKIP:"))
        #expect(full.fields[.cacheControl] == "max-age=1" && full.fields[.contentEncoding] == nil)
        #expect(await Self.reply(stream, "/v.m3u8?_HLS_msn=9").fields[.cacheControl] == "max-age=12")
        let packed = await Self.reply(stream, "/v.m3u8", [.acceptEncoding: "br, gzip"])
        #expect(packed.fields[.contentEncoding] == "gzip" && packed.body.count < full.body.count / 3)
        let forms = [full, delta, packed]
        #expect(Set(forms.compactMap { $0.fields[.eTag] }).count == 3)
        #expect(forms.allSatisfy { $0.fields[.vary] == "Accept-Encoding" })
        let tag = try #require(full.fields[.eTag])
        let same = await Self.reply(stream, "/v.m3u8", [.ifNoneMatch: "\"x\", W/\(tag)"])
        #expect(same.status == .notModified && same.body.count == 0)
        try stream.next()
        #expect(await Self.reply(stream, "/v.m3u8", [.ifNoneMatch: tag]).status == .ok)
    }

    @Test(
        "gzip is used only for clients that accept it",
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("br;q=1.0, gzip;q=0.8", true), ("gzip;q=0", false),
            ("gzip; q=0.000", false), ("deflate", false), ("*", true), ("xgzip", false), ("GZIP", true),
        ] as [(String?, Bool)])
    func acceptsGzip(field: String?, expected: Bool) { #expect(OriginResponder.acceptsGzip(field) == expected) }

    @Test("a segment is the concatenation of its parts, whole and in ranges across part boundaries")
    func segments() async throws {
        let stream = try Self.stream()
        let whole = (0..<4).flatMap { LiveStream.bytes("v-1-0.\($0).m4s") }
        let reply = await Self.reply(stream, "/v-1-0.m4s")
        #expect(Self.text(reply).utf8.elementsEqual(whole))
        #expect(reply.fields[.contentType] == "video/mp4")
        #expect(await Self.reply(stream, "/a-1-0.0.m4s").fields[.contentType] == "audio/mp4")
        let size = whole.count
        for range in [0..<1, 0..<size, size / 4 - 1..<size / 4 + 1, 10..<size - 10, size - 1..<size] {
            let part = await Self.reply(
                stream, "/v-1-0.m4s", [.range: "bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
            #expect(part.status == .partialContent)
            #expect(Self.text(part).utf8.elementsEqual(whole[range]))
        }
    }

    @Test("each media playlist has a rendition report of the other one with its newest part")
    func reports() async throws {
        let stream = try Self.stream()
        #expect(
            Self.text(await Self.reply(stream, "/a.m3u8")).contains(
                "#EXT-X-RENDITION-REPORT:URI=\"v.m3u8\",LAST-MSN=1,LAST-PART=1\n"))
        #expect(
            Self.text(await Self.reply(stream, "/v.m3u8")).contains(
                "#EXT-X-RENDITION-REPORT:URI=\"a.m3u8\",LAST-MSN=1,LAST-PART=0\n"))
    }

    @Test("segments no longer in memory are read from disk; media playlists never are")
    func elsewhere() async throws {
        let stream = try LiveStream(
            ["v"],
            elsewhere: [
                "v-1-0.m4s": MemoryContent.playlist("file"), "v.m3u8": MemoryContent.playlist("plain"),
                "index.m3u8": MemoryContent.playlist("multivariant"),
            ])
        #expect(await Self.reply(stream, "/v.m3u8").status == .notFound)
        #expect(Self.text(await Self.reply(stream, "/index.m3u8")) == "multivariant")
        for _ in 0..<4 { try stream.next() }
        let held = stream.content.heldBytes
        #expect(Self.text(await Self.reply(stream, "/v-1-0.m4s")) != "file")
        stream.remove(["v-1-0.m4s"] + (0..<4).map { "v-1-0.\($0).m4s" })
        #expect(Self.text(await Self.reply(stream, "/v-1-0.m4s")) == "file")
        #expect(held > 0 && stream.content.heldBytes == 0)
    }
}
