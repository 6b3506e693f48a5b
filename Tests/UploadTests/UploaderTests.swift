import Dispatch
import HLS
import MediaTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Packager
import Synchronization
import TestSupport
import Testing
import Upload

@Suite("Uploader lifecycle")
struct UploaderTests {
    private struct Stopped: MonotonicClock {
        func now() -> Int64 { 0 }
    }

    private struct Files: EmptyFiles {}

    private static func uploader(_ notify: @escaping Uploader.Notify = { _ in }) -> Uploader {
        Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
            files: Files(), clock: Stopped(), notify: notify)
    }

    @Test("an uploader that was never started can be released; if it is finished, its listings count as unfinished")
    func unused() async {
        _ = Self.uploader()
        let second = Self.uploader()
        #expect(await second.finish(by: 0) == .whole, "nothing was listed, so everything is there")
        second.list(SimulatedOrigin.listing(through: 0, isFirst: true))
        #expect(second.statistics.waitingSegments == 1)
        #expect(await second.finish(by: 0) == .incomplete(isNoted: false))
    }

    @Test("as long as the store lacks EXT-X-ENDLIST, the upload is not complete")
    func endless() {
        var queue = UploadQueue(rules: UploadRules())
        #expect(queue.isWhole, "nothing was listed")
        queue.list(SimulatedOrigin.listing(through: 0, isFirst: true), at: 0)
        func settle() {
            for _ in 0..<9 { for request in queue.next(at: 0) { queue.answered(request.id, .done, at: 0, jitter: 0) } }
        }
        settle()
        #expect(queue.isSettled && !queue.isWhole)
        queue.list(SimulatedOrigin.listing(through: 0, isFirst: false, isEnded: true), at: 0)
        #expect(!queue.isWhole)
        settle()
        #expect(queue.isSettled && queue.isWhole)
    }

    @Test(
        "at most 64 listings wait to be processed; one more empties the queue and is refused, except the room's last"
    )
    func bounded() async {
        let uploader = Self.uploader()
        var refused: [Int64] = []
        for number in Int64(0)..<200 where !uploader.list(SimulatedOrigin.listing(through: number, isFirst: false)) {
            refused.append(number)
        }
        #expect(refused == [64, 129, 194] && uploader.statistics.waitingSegments == 5)
        for number in Int64(200)..<259 { uploader.list(SimulatedOrigin.listing(through: number, isFirst: false)) }
        #expect(uploader.statistics.waitingSegments == 64)
        #expect(uploader.list(SimulatedOrigin.listing(through: 259, isFirst: false, isEnded: true)))
        #expect(uploader.statistics.waitingSegments == 65)
    }

    @Test(
        "a store that refuses connections is reported once, and finish() does not wait beyond its deadline"
    )
    func refused() async {
        let notices = Mutex<[UploadNotice]>([])
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let uploader = Self.uploader { notice in
            notices.withLock { $0.append(notice) }
            tell.yield()
        }
        uploader.begin()
        uploader.put("thumb.jpg", [1], contentType: "image/jpeg")
        for await _ in told { break }
        #expect(uploader.statistics.isFailing)
        uploader.list(SimulatedOrigin.listing(through: 0, isFirst: true))
        #expect(await uploader.finish(by: 0) == .incomplete(isNoted: false))
        let unreachable = notices.withLock { $0 }.filter { if case .unreachable = $0 { true } else { false } }
        #expect(unreachable == [.unreachable("connection refused")])
    }

    /// A disk that blocks readers until it is released.
    private final class Hanging: EmptyFiles {
        let gate = DispatchSemaphore(value: 0)
        private let asked: @Sendable () -> Void

        init(asked: @escaping @Sendable () -> Void) { self.asked = asked }

        func bytes(of name: String) -> [UInt8]? {
            self.asked()
            self.gate.wait()
            self.gate.signal()
            return nil
        }
    }

    @Test("a file whose read has not finished at the deadline counts as unfinished, not as lost")
    func cutOff() async {
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let files = Hanging { tell.yield() }
        let uploader = Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
            files: files, clock: Stopped(), notify: { _ in })
        uploader.begin()
        uploader.list(SimulatedOrigin.listing(through: 0, isFirst: true))
        for await _ in told { break }
        #expect(await uploader.finish(by: 0) == .incomplete(isNoted: false))
        #expect(uploader.statistics.lost == 0 && uploader.statistics.waitingSegments == 1)
        #expect(uploader.statistics.failed == 0 && !uploader.statistics.isFailing, "it is not a failure of the store")
        files.gate.signal()
    }

    /// Answers requests with a head that announces a body, and never sends the body. By the clock, the first head takes
    /// two minutes.
    private final class HeadsOnly: ChannelInboundHandler, MonotonicClock {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let time = Mutex<Int64>(0)

        func now() -> Int64 { self.time.withLock { $0 } }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = Self.unwrapInboundIn(data) else { return }
            self.time.withLock { $0 = 120_000_000_000 }
            let head = HTTPResponseHead(version: .http1_1, status: .created, headers: ["content-length": "5"])
            context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
        }
    }

    private struct Present: EmptyFiles {
        func bytes(of name: String) -> [UInt8]? { [1] }
    }

    @Test("the body of a store's response gets only the time that its head has left")
    func oneTimeout() async throws {
        let store = HeadsOnly()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(store)
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        var rules = UploadRules()
        rules.patience = 600_000_000_000
        let uploader = Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:\(port)"), rules: rules, connections: 1,
            files: Present(), clock: store, notify: { _ in })
        uploader.begin()
        // A request for a segment of a minute may take two minutes.
        let segment = Segment(
            mediaSequence: 0, uri: "v-1-0.m4s", start: 0, duration: MediaDuration(ticks: 60, timescale: 1),
            programDate: 0, map: InitializationSegment(uri: "v-1.mp4"), byteCount: 1)
        let track = OutputListing.Track(
            name: "v", kind: .video, playlistName: "v.m3u8", contentType: "video/mp4", style: .live(windowSeconds: 300),
            targetDuration: 60, segments: [segment])
        uploader.list(
            OutputListing(
                origin: 5, tracks: [track], multivariantName: "index.m3u8", multivariant: "#EXTM3U\n", isEnded: false,
                nextMediaSequence: 1))
        try await waitUntil("the first upload is complete") { uploader.statistics.taken == 1 }
        _ = await uploader.finish(by: 0)
        try await channel.close()
    }

    /// An address without a listener; reports which objects were to go there.
    private struct Place: UploadTarget {
        let name: String
        let asked: @Sendable (String) -> Void

        var shown: String { self.name }

        func request(_ head: ObjectRequest, at now: Int64) -> (url: String, fields: [(name: String, value: String)]) {
            self.asked("\(self.name) \(head.name)")
            return ("http://127.0.0.1:1/\(head.name)", head.fields)
        }

        func isSame(as other: any UploadTarget) -> Bool { self.shown == other.shown }
    }

    @Test("after the store's keys are replaced, later requests use the new ones")
    func renewed() async {
        let (told, tell) = AsyncStream.makeStream(of: String.self)
        let uploader = Uploader(
            outputID: "x", target: Place(name: "old") { tell.yield($0) }, rules: UploadRules(), connections: 2,
            files: Files(), clock: Stopped(), notify: { _ in })
        var asked = told.makeAsyncIterator()
        uploader.begin()
        uploader.put("a.jpg", [1], contentType: "image/jpeg")
        #expect(await asked.next() == "old a.jpg")
        uploader.replace(Place(name: "new") { tell.yield($0) })
        #expect(uploader.target.shown == "new")
        uploader.put("b.jpg", [1], contentType: "image/jpeg")
        #expect(await asked.next() == "new b.jpg")
        _ = await uploader.finish(by: 0)
    }

    /// A directory that stores records, until it stops doing so.
    private final class Notes: EmptyFiles {
        private let kept = Mutex<(record: UploadRecord?, isFull: Bool, isDurable: Bool)>((nil, false, false))

        func record() -> UploadRecord? { self.kept.withLock(\.record) }
        var isDurable: Bool { self.kept.withLock(\.isDurable) }
        func keep(_ record: UploadRecord, durable: Bool) -> Bool {
            self.kept.withLock { kept in
                if !kept.isFull { (kept.record, kept.isDurable) = (record, durable) }
                return !kept.isFull
            }
        }
        func forget() { self.kept.withLock { ($0.record, $0.isDurable) = (nil, false) } }
        func fill() { self.kept.withLock { $0.isFull = true } }
    }

    @Test("at the end, unfinished uploads are written to the upload record; if that fails, it is reported")
    func noted() async {
        func uploader(_ files: Notes) -> Uploader {
            Uploader(
                outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
                files: files, clock: Stopped(), notify: { _ in })
        }
        let files = Notes()
        // The queue never learned of it.
        let late = uploader(files)
        late.list(SimulatedOrigin.listing(through: 7, isFirst: true, isEnded: true))
        #expect(await late.finish(by: 0, isLast: false) == .incomplete(isNoted: false), "a successor gets everything")
        #expect(await late.finish(by: 0) == .incomplete(isNoted: true))
        #expect(files.record() == UploadRecord(origin: 5, next: 0) && files.isDurable)
        // It was queued and recorded; then the record was removed.
        let (told, tell) = AsyncStream.makeStream(of: Void.self)
        let known = Uploader(
            outputID: "x", target: HTTPOrigin(url: "http://127.0.0.1:1"), rules: UploadRules(), connections: 2,
            files: files, clock: Stopped(), notify: { _ in tell.yield() })
        known.begin()
        known.list(SimulatedOrigin.listing(through: 7, isFirst: true))
        for await _ in told { break }
        #expect(await known.finish(by: 0, isLast: false) == .incomplete(isNoted: true))
        let note = files.record()
        files.forget()
        #expect(await known.finish(by: 0) == .incomplete(isNoted: true) && files.record() == note && note != nil)
        #expect(files.isDurable, "nothing else could restore it")
        files.fill()
        #expect(await late.finish(by: 0) == .incomplete(isNoted: true), "an older record still counts")
        files.forget()
        #expect(await late.finish(by: 0) == .incomplete(isNoted: false))
    }
}
