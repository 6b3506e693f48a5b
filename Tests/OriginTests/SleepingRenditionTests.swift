import HLS
import HTTPListener
import HTTPTypes
import NIOCore
import Synchronization
import TestSupport
import Testing

import Origin

@Suite("Requests for renditions that sleep", .timeLimit(.minutes(1)))
struct SleepingRenditionTests {
    private final class Watch: Sendable {
        let requested = Mutex<[String]>([])
        let isRefusing = Mutex(false)
        var demand: LiveContent.Demand {
            LiveContent.Demand(
                requested: { name in self.requested.withLock { $0.append(name) } },
                isRefusing: { self.isRefusing.withLock { $0 } })
        }
    }

    /// Two tracks with one whole segment and two parts of the next, of which the first track sleeps.
    private static func stream(_ watch: Watch) throws -> LiveStream {
        let stream = try LiveStream(demand: watch.demand)
        for _ in 0..<6 { for track in 0..<2 { try stream.next(track) } }
        stream.sleep(0)
        return stream
    }

    private static func reply(_ stream: LiveStream, _ path: String) async -> ListenerReply {
        let responder = OriginResponder(
            content: stream.content, policy: CORSPolicy(allowOrigins: ["*"]), page: ViewerPage.Options(title: "Room"))
        return await responder.reply(
            to: ListenerRequest(head: HTTPRequest(method: .get, scheme: "http", authority: "a", path: path)))
    }

    private static func text(_ reply: ListenerReply) -> String {
        guard case .buffers(let buffers) = reply.body else { return "" }
        return String(decoding: buffers.flatMap { Array($0.readableBytesView) }, as: UTF8.self)
    }

    private static func waiting(_ stream: LiveStream, _ path: String) async throws -> Task<ListenerReply, Never> {
        let before = stream.content.waitingCount
        let task = Task { await Self.reply(stream, path) }
        try await waitUntil("\(path) waits", { stream.content.waitingCount }) { $0 != before }
        return task
    }

    @Test(
        "a blocking playlist request for a sleeping rendition waits for its first segment, a plain one for three segments"
    )
    func wakes() async throws {
        let watch = Watch()
        let stream = try Self.stream(watch)
        let blocking = try await Self.waiting(stream, "/v.m3u8?_HLS_msn=1&_HLS_part=1")
        let plain = try await Self.waiting(stream, "/v.m3u8")
        #expect(watch.requested.withLock { $0 } == ["v.m3u8", "v.m3u8"])
        for _ in 0..<2 { try stream.next(1) }
        stream.skip(0, like: 1)
        #expect(stream.content.waitingCount == 2)
        for _ in 0..<3 { try stream.next(0) }
        #expect(stream.content.waitingCount == 2)
        try stream.next(0)
        let first = Self.text(await blocking.value)
        #expect(first.contains("#EXT-X-MEDIA-SEQUENCE:2\n") && first.contains("v-1-2.m4s\n"), "\(first)")
        for _ in 0..<7 { try stream.next(0) }
        #expect(stream.content.waitingCount == 1)
        try stream.next(0)
        #expect(Self.text(await plain.value).contains("v-1-4.m4s\n"))
        #expect(await Self.reply(stream, "/v.m3u8").status == .ok)
    }

    @Test("a playlist request for a sleeping rendition gets after 8 s the segments that are listed by then, or 503")
    func deadline() async throws {
        let watch = Watch()
        let stream = try Self.stream(watch)
        let plain = try await Self.waiting(stream, "/v.m3u8")
        let delta = try await Self.waiting(stream, "/v.m3u8?_HLS_skip=YES")
        stream.skip(0, like: 1)
        for _ in 0..<4 { try stream.next(0) }
        stream.clock.set(seconds: 7)
        stream.content.expire()
        #expect(stream.content.waitingCount == 2)
        stream.clock.set(seconds: 8)
        stream.content.expire()
        #expect(Self.text(await plain.value).contains("v-1-1.m4s\n"))
        #expect(Self.text(await delta.value).contains("v-1-1.m4s\n"))
        stream.sleep(0)
        let late = try await Self.waiting(stream, "/v.m3u8")
        stream.clock.set(seconds: 16)
        stream.content.expire()
        #expect(await late.value.status == .serviceUnavailable)
    }

    @Test("on an overloaded machine, playlist requests for a sleeping rendition get 503 at once")
    func refused() async throws {
        let watch = Watch()
        let stream = try Self.stream(watch)
        watch.isRefusing.withLock { $0 = true }
        for path in ["/v.m3u8", "/v.m3u8?_HLS_msn=1&_HLS_part=1"] {
            let reply = await Self.reply(stream, path)
            #expect(reply.status == .serviceUnavailable && reply.fields[.retryAfter] == "1")
        }
        #expect(await Self.reply(stream, "/a.m3u8").status == .ok)
    }

    @Test(
        "the playlists of other renditions report a sleeping one at their own position, so that players ask for its next part"
    )
    func reports() async throws {
        let stream = try Self.stream(Watch())
        try stream.next(1)
        let text = Self.text(await Self.reply(stream, "/a.m3u8"))
        #expect(text.contains("#EXT-X-RENDITION-REPORT:URI=\"v.m3u8\",LAST-MSN=1,LAST-PART=2"), "\(text)")
    }
}
