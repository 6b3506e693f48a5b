import AsyncHTTPClient
import Egress
import Dispatch
package import HLS
package import MediaTypes
import NIOCore
import NIOHTTP1
import NIOSSL
package import Packager
import Stages
import Synchronization

/// Carries what a room lists to a store elsewhere, in a task of its own: one that is slow or away holds up nobody else, and no
/// media.
package final class Uploader: Sendable {
    /// Called from any thread; must not block.
    package typealias Notify = @Sendable (UploadNotice) -> Void

    /// What a store is like now.
    package struct Statistics: Sendable, Hashable {
        package var isFailing = false
        package var waitingSlots = 0
        /// Objects and attempts since the worker began.
        package var taken: Int64 = 0
        package var failed: Int64 = 0
        /// Segments of tracks that were given up.
        package var lost: Int64 = 0
        package var bytes: Int64 = 0
    }

    private struct State {
        var queue: UploadQueue
        var record: UploadRecord?
        /// Time up to which it is waited for what is under way, on the clock; `nil`: nothing ends yet.
        var deadline: Int64?
        /// The room is over.
        var isLast = false
        /// When the last deletions are not waited for any longer; `nil`: they are not waited for yet.
        var deletionEnd: Int64?
        var bytes: Int64 = 0
    }

    /// Nanoseconds to wait for a server's handshake.
    private static let connectTimeout: Int64 = 2_000_000_000
    /// Nanoseconds for deletions when a room is over and everything else is there: some dozen of them. What they leave behind
    /// is known to nobody, but a room that is over is to be gone.
    private static let deletionPatience: Int64 = 2_000_000_000
    /// Bytes of an answer that are read: what it says of an error.
    private static let longestAnswer = 64 << 10

    package let outputID: String
    private let place: Mutex<any UploadTarget>
    private let method: String
    private let files: any UploadFiles
    private let notify: Notify
    private let connections: Int
    private let authorities: String?
    /// From ``begin()`` to ``finish(by:)``: one that is thrown away without its end is a fault of AsyncHTTPClient's.
    private let client = Mutex<HTTPClient?>(nil)
    private let clock: any MonotonicClock
    private let state: Mutex<State>
    /// What was listed and the queue does not know yet; apart, so that who lists it never waits for a playlist's text.
    private let news = Mutex<[OutputListing]>([])
    private let signal: AsyncStream<Void>.Continuation
    private let signals: AsyncStream<Void>
    private let work = Mutex<Task<Void, Never>?>(nil)
    /// A disk that hangs holds up this store alone.
    private let disk: DispatchQueue

    /// - Parameters:
    ///   - method: What objects are sent with, PUT or POST.
    ///   - connections: At once, one for each track.
    ///   - authorities: PEM file of those that may have signed the server's certificate; `nil`: the system's.
    package init(
        outputID: String, target: any UploadTarget, method: String = "PUT", rules: UploadRules, connections: Int,
        files: any UploadFiles, clock: any MonotonicClock, authorities: String? = nil, notify: @escaping Notify
    ) {
        self.authorities = authorities
        self.outputID = outputID
        self.place = Mutex(target)
        self.method = method
        self.files = files
        self.notify = notify
        self.clock = clock
        self.state = Mutex(State(queue: UploadQueue(rules: rules)))
        (self.signals, self.signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.disk = DispatchQueue(label: "upload-\(outputID)")
        self.connections = connections
    }

    private func makeClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(2, self.connections + 1)
        configuration.timeout.connect = .nanoseconds(Self.connectTimeout)
        // One request, one attempt: when it is tried again is the queue's to say.
        configuration.connectionPool.retryConnectionEstablishment = false
        var tls = TLSConfiguration.makeClientConfiguration()
        if let file = self.authorities { tls.trustRoots = .file(file) }
        // A store that reads nothing says no farewell either, and the client waits for it when it is shut down.
        tls.shutdownTimeout = .seconds(1)
        configuration.tlsConfiguration = tls
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Where the store is, and how it knows us now.
    package var target: any UploadTarget { self.place.withLock { $0 } }

    /// What is sent from now on is sent there: the same store, which knows us by other keys.
    ///
    /// - Returns: Whether they are others.
    @discardableResult
    package func replace(_ target: any UploadTarget) -> Bool {
        self.place.withLock { place in
            defer { place = target }
            return !place.isSame(as: target)
        }
    }

    /// Listings that may wait for a disk that does not say how far the store was.
    private static let mostNews = 64

    /// Takes over what is listed. Returns at once.
    ///
    /// - Returns: False where too many wait: all of them are forgotten, and the next is to be a whole one. The last of a room is
    ///   always taken.
    @discardableResult
    package func list(_ listing: OutputListing) -> Bool {
        let isTaken = self.news.withLock { news in
            guard news.count < Self.mostNews || listing.isEnded else {
                news = []
                return false
            }
            news.append(listing)
            return true
        }
        self.signal.yield()
        return isTaken
    }

    /// Sends an object that is no media. Returns at once.
    package func put(_ name: String, _ bytes: [UInt8], contentType: String) {
        self.state.withLock { $0.queue.put(name, bytes, contentType: contentType) }
        self.signal.yield()
    }

    /// Sends sheets of stills that have changed, and their index behind them. Returns at once.
    package func put(_ update: SpriteUpdate) {
        self.state.withLock { $0.queue.put(update) }
        self.signal.yield()
    }

    /// Begins to send.
    package func begin() {
        let client = self.makeClient()
        self.client.withLock { $0 = client }
        let task = Task {
            await withDiscardingTaskGroup { group in
                await self.run(&group, client)
                group.cancelAll()
            }
        }
        self.work.withLock { $0 = task }
    }

    /// What has become of a store when nothing more is listed.
    package enum End: Sendable, Hashable {
        /// Everything is there, and the end with it.
        case whole
        /// Something is not; where that is noted another worker finds how far it was.
        case owed(isNoted: Bool)
    }

    /// Nothing more is listed: sends what is left, and stops.
    ///
    /// - Parameter isLast: The room is over: what is not sent is noted, whether or not that is news, for the note alone says that
    ///   there is something.
    package func finish(by deadline: Int64, isLast: Bool = true) async -> End {
        self.state.withLock { state in
            state.deadline = deadline
            state.isLast = isLast
        }
        self.signal.yield()
        let task = self.work.withLock { $0.take() }
        let clock = self.clock
        let alarm = Task {
            try? await Task.sleep(for: .nanoseconds(max(0, deadline &- clock.now())))
            task?.cancel()
        }
        await task?.value
        alarm.cancel()
        try? await self.client.withLock { $0.take() }?.shutdown()
        // What the queue was never told it knows nothing of.
        let unknown = self.news.withLock(\.last)
        let isWhole = unknown == nil && self.state.withLock { $0.queue.isWhole }
        let isOwed = isLast && !isWhole
        // For whoever goes on: what was taken last is not noted yet.
        let record = self.state.withLock { state -> UploadRecord? in
            guard let record = state.queue.record, record != state.record || isOwed else { return nil }
            state.record = record
            return record
        }
        let begun = isOwed ? unknown.map { UploadRecord(origin: $0.origin, next: 0) } : nil
        let isNoted = await self.soon { files in
            // What is owed nobody finds out again: the room is over.
            if let record, files.keep(record, durable: isOwed) { return true }
            if files.record() != nil { return true }
            return begun.map { files.keep($0, durable: true) } ?? false
        }
        return isWhole ? .whole : .owed(isNoted: isNoted ?? false)
    }

    /// Nobody goes on with it: the room is over. Waits for the disk, two seconds at most.
    package func forget() async { _ = await self.soon { $0.forget() } }

    /// Nanoseconds a disk has for the last notes.
    private static let notePatience: Int64 = 2_000_000_000

    /// Everything the disk was asked to do is done when this returns, and this behind it, unless it hangs.
    ///
    /// - Returns: `nil` where it hangs.
    private func soon<R: Sendable>(_ body: @escaping @Sendable (any UploadFiles) -> R) async -> R? {
        let work = Task { await self.onDisk(body) }
        let alarm = Task {
            try? await Task.sleep(for: .nanoseconds(Self.notePatience))
            work.cancel()
        }
        let result = await work.value
        alarm.cancel()
        return result
    }

    package var statistics: Statistics {
        let listed = self.news.withLock(\.count)
        return self.state.withLock { state in
            Statistics(
                isFailing: state.queue.isFailing, waitingSlots: state.queue.waitingSlots + listed,
                taken: state.queue.taken, failed: state.queue.failed, lost: state.queue.lost, bytes: state.bytes)
        }
    }

    // MARK: The task

    private struct Step {
        var requests: [UploadRequest]
        var notices: [UploadNotice]
        /// What is to be noted for a successor, where that is another than before.
        var record: UploadRecord?
        var wake: Int64?
        var isOver: Bool
    }

    private func run(_ group: inout DiscardingTaskGroup, _ client: HTTPClient) async {
        var waiting = self.signals.makeAsyncIterator()
        let record = await self.onDisk { $0.record() } ?? nil
        self.state.withLock { state in
            state.record = record
        }
        while !Task.isCancelled {
            let now = self.clock.now()
            let step = self.step(at: now)
            for notice in step.notices { self.notify(notice) }
            if let record = step.record { self.disk.async { _ = self.files.keep(record, durable: false) } }
            for request in step.requests { group.addTask { await self.perform(request, client) } }
            if step.isOver { break }
            let alarm = step.wake.map { wake in
                Task {
                    try? await Task.sleep(for: .nanoseconds(max(1_000_000, wake &- now)))
                    self.signal.yield()
                }
            }
            _ = await waiting.next()
            alarm?.cancel()
        }
        for notice in self.state.withLock({ $0.queue.takeNotices() }) { self.notify(notice) }
    }

    private func step(at now: Int64) -> Step {
        let news = self.news.withLock { news in
            defer { news = [] }
            return news
        }
        return self.state.withLock { state in
            for listing in news { state.queue.list(listing, record: state.record, at: now) }
            let requests = state.queue.next(at: now)
            let record = state.queue.record
            let isNew = record?.isNews(after: state.record) ?? false
            if isNew { state.record = record }
            let isOver = Self.isOver(&state, at: now)
            let times = [state.queue.wake(after: now), state.deletionEnd.flatMap { $0 > now ? $0 : nil }]
            return Step(
                requests: requests, notices: state.queue.takeNotices(), record: isNew ? record : nil,
                wake: times.compactMap { $0 }.min(), isOver: isOver)
        }
    }

    private static func isOver(_ state: inout State, at now: Int64) -> Bool {
        guard state.deadline != nil, state.queue.isSettled else { return false }
        // A successor finds in the note what is to be deleted; of a room that is over there is none.
        guard state.isLast, state.queue.isDeleting else { return true }
        let end = state.deletionEnd ?? now &+ Self.deletionPatience
        state.deletionEnd = end
        return now >= end
    }

    private func perform(_ request: UploadRequest, _ client: HTTPClient) async {
        let started = self.clock.now()
        let outcome = await self.outcome(of: request, client)
        // The end of the worker is no failure of its store.
        if Task.isCancelled, case .failed = outcome { return }
        self.state.withLock { state in
            state.queue.answered(
                request.id, outcome, at: max(started, self.clock.now()), jitter: Int64.random(in: 0..<1000))
        }
        self.signal.yield()
    }

    private func outcome(of request: UploadRequest, _ client: HTTPClient) async -> UploadOutcome {
        guard case .put(let source) = request.action else {
            return await self.send(UploadHead(method: "DELETE", name: request.name), request.timeout, client)
        }
        let bytes: [UInt8]?
        switch source {
        case .bytes(let text): bytes = text
        case .file: bytes = await self.onDisk { $0.bytes(of: request.name) } ?? nil
        case .fileIn(let directory): bytes = await self.onDisk { $0.bytes(of: request.name, in: directory) } ?? nil
        case .slate(let segment, let track): bytes = await self.onDisk { $0.slate(like: segment, track: track) } ?? nil
        }
        // Whoever is stopped while it asks the disk has not heard that the file is gone.
        guard let bytes else { return Task.isCancelled ? .failed("stopped") : .absent }
        let head = UploadHead(
            method: self.method, name: request.name,
            fields: [("content-type", request.contentType), ("cache-control", request.cacheControl)], body: bytes)
        let outcome = await self.send(head, request.timeout, client)
        if outcome == .done { self.state.withLock { $0.bytes += Int64(bytes.count) } }
        return outcome
    }

    private func send(_ head: UploadHead, _ timeout: Int64, _ client: HTTPClient) async -> UploadOutcome {
        let (url, fields) = self.target.request(head, at: SystemClock.wallClock() / TimeMath.nanoseconds)
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: head.method)
        for field in fields { request.headers.add(name: field.name, value: field.value) }
        request.headers.add(name: "user-agent", value: TandemVersion.userAgent)
        if head.method != "DELETE" { request.body = .bytes(ByteBuffer(bytes: head.body)) }
        do {
            let response = try await client.execute(request, timeout: .nanoseconds(timeout))
            // Read, so that the connection can be used again, whatever it says. The timeout of `execute` ends with the head.
            let answer = response.body
            let body =
                await Deadline.run(within: timeout) { try? await answer.collect(upTo: Self.longestAnswer) } ?? nil
            switch (response.status.code, head.method) {
            case (200..<300, _), (404, "DELETE"), (410, "DELETE"): return .done
            default:
                let bytes = body.map { Array($0.readableBytesView) } ?? []
                return .failed(self.target.reason(status: Int(response.status.code), bytes))
            }
        } catch let error as HTTPClientError {
            // Its description names the case, and no part of the URL.
            return .failed(error.shortDescription)
        } catch is CancellationError {
            return .failed("stopped")
        } catch let error as MediaError {
            return .failed(error.what)
        } catch {
            return .failed(ConnectionFailure.text(error) ?? "no connection: \(type(of: error))")
        }
    }

    /// - Returns: `nil` where this task was cancelled meanwhile: a disk that hangs must not hold up the end of a room.
    private func onDisk<R: Sendable>(_ body: @escaping @Sendable (any UploadFiles) -> R) async -> R? {
        let answer = DiskAnswer<R>()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(continuation)
                self.disk.async { answer.give(body(self.files)) }
            }
        } onCancel: {
            answer.give(nil)
        }
    }
}

/// Whatever comes first: what the disk says, or that nobody wants to know any more.
private final class DiskAnswer<R: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<R?, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func wait(_ continuation: CheckedContinuation<R?, Never>) {
        let isCancelled = self.state.withLock { state in
            if !state.isCancelled { state.continuation = continuation }
            return state.isCancelled
        }
        if isCancelled { continuation.resume(returning: nil) }
    }

    func give(_ result: R?) {
        let continuation = self.state.withLock { state in
            state.isCancelled = true
            return state.continuation.take()
        }
        continuation?.resume(returning: result)
    }
}

/// What an uploader reads and notes on this machine. Called on one thread, which may block.
package protocol UploadFiles: Sendable {
    /// A file of the output; `nil` where it is not there any more.
    func bytes(of name: String) -> [UInt8]?

    /// A file of another directory; `nil` where it is not there any more.
    func bytes(of name: String, in directory: String) -> [UInt8]?

    /// Slate that takes a segment's place; `nil`: there is none.
    func slate(like segment: Segment, track: String) -> [UInt8]?

    func record() -> UploadRecord?

    /// - Parameter durable: It must survive a crash of the machine once this returns.
    /// - Returns: Whether it could be written.
    @discardableResult
    func keep(_ record: UploadRecord, durable: Bool) -> Bool

    /// Removes the record.
    func forget()
}
