import AsyncHTTPClient
import Egress
import Dispatch
package import HLS
package import MediaTypes
import NIOCore
import NIOHTTP1
import NIOSSL
package import Packager
import Threading
import Synchronization

/// Uploads the playlists and segments of a room to a remote store. It runs in a task of its own, so that a slow or
/// unreachable store delays nothing else.
package final class Uploader: Sendable {
    /// A callback for notices; called from any thread, must not block.
    package typealias Notify = @Sendable (UploadNotice) -> Void

    /// Statistics of an upload.
    package struct Statistics: Sendable, Hashable {
        /// Whether an upload has failed since the store last accepted one.
        package var isFailing = false
        /// Why the last upload failed; nil if the store has accepted one since.
        package var failure: String?
        /// Number of media sequence numbers that the store's playlists do not list yet, plus listings that the queue
        /// has not processed yet.
        package var waitingSegments = 0
        /// Number of uploads that the store has accepted, including playlists.
        package var taken: Int64 = 0
        /// Number of failed uploads; each attempt counts, deletions do not.
        package var failed: Int64 = 0
        /// Number of segments that were given up; each track's segment counts.
        package var lost: Int64 = 0
        /// Number of uploaded bytes.
        package var bytes: Int64 = 0
    }

    private struct State {
        var queue: UploadQueue
        var record: UploadRecord?
        /// Time on the clock by which the upload must end; `nil` before ``finish(by:isLast:)``.
        var deadline: Int64?
        /// Whether the room has ended.
        var isLast = false
        /// Time by which the last deletions must end; `nil` until only deletions are left.
        var deletionEnd: Int64?
        var bytes: Int64 = 0
    }

    /// Connect timeout in nanoseconds.
    private static let connectTimeout: Int64 = 2_000_000_000
    /// Maximum time in nanoseconds for deletions after a room has ended and everything else is sent: enough for some
    /// dozens. Objects that remain are not recorded anywhere, but the worker of an ended room must exit soon.
    private static let deletionPatience: Int64 = 2_000_000_000
    /// Maximum size in bytes of a response body; a longer one is not searched for an error code.
    private static let longestAnswer = 64 << 10

    package let outputID: String
    private let place: Mutex<any UploadTarget>
    private let method: String
    private let files: any UploadFiles
    private let notify: Notify
    private let connections: Int
    private let authorities: String?
    /// The HTTP client; it exists from ``begin()`` to ``finish(by:isLast:)``. AsyncHTTPClient treats a client that is
    /// released without a shutdown as a programming error.
    private let client = Mutex<HTTPClient?>(nil)
    private let clock: any MonotonicClock
    private let state: Mutex<State>
    /// Listings that the queue has not processed yet. They have a separate lock, so that ``list(_:)`` never waits while
    /// a playlist is rendered.
    private let news = Mutex<[OutputListing]>([])
    private let signal: AsyncStream<Void>.Continuation
    private let signals: AsyncStream<Void>
    private let work = Mutex<Task<Void, Never>?>(nil)
    /// Dispatch queue for file access, one per store, so that a hanging disk only delays this store.
    private let disk: DispatchQueue

    /// Makes an uploader; ``begin()`` starts it.
    ///
    /// - Parameters:
    ///   - method: HTTP method for uploads, PUT or POST.
    ///   - connections: Number of the output's media playlists. Each media track uploads one segment at a time. The
    ///     HTTP client's soft limit of connections is one more than this number, and at least two.
    ///   - authorities: PEM file with the CA certificates to verify the server; `nil`: the system's.
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
        // The HTTP client does not retry, because the queue decides about retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        var tls = TLSConfiguration.makeClientConfiguration()
        if let file = self.authorities { tls.trustRoots = .file(file) }
        // A store that hangs does not answer a TLS close either, and shutting down the client waits for that.
        tls.shutdownTimeout = .seconds(1)
        configuration.tlsConfiguration = tls
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// The store's current address and credentials.
    package var target: any UploadTarget { self.place.withLock { $0 } }

    /// Replaces the credentials for all further requests to the same store.
    ///
    /// - Returns: Whether the credentials differ from the old ones.
    @discardableResult
    package func replace(_ target: any UploadTarget) -> Bool {
        self.place.withLock { place in
            defer { place = target }
            return !place.isSame(as: target)
        }
    }

    /// Maximum number of listings that wait while the record of the previous worker is read from disk.
    private static let mostNews = 64

    /// Queues a listing of the output. Returns at once.
    ///
    /// - Returns: False if too many listings wait. Then this one and all waiting listings are dropped, and the next one
    ///   must be complete. The last listing of a room is always accepted.
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

    /// Queues an object that is not media. Returns at once.
    package func put(_ name: String, _ bytes: [UInt8], contentType: String) {
        self.state.withLock { $0.queue.put(name, bytes, contentType: contentType) }
        self.signal.yield()
    }

    /// Queues an object with a name of its own, which is sent once. Returns at once.
    package func put(single name: String, _ bytes: [UInt8], contentType: String) {
        self.state.withLock { $0.queue.put(single: name, bytes, contentType: contentType) }
        self.signal.yield()
    }

    /// Queues changed thumbnail sheets and their index. Returns at once.
    package func put(_ update: SpriteUpdate) {
        self.state.withLock { $0.queue.put(update) }
        self.signal.yield()
    }

    /// Starts the upload task.
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

    /// State of the upload after ``finish(by:isLast:)``.
    package enum End: Sendable, Hashable {
        /// The store has everything, including the end of the playlists, or nothing was ever listed.
        case whole
        /// Objects are missing in the store. If `isNoted` is true, a record on disk lets another worker continue.
        case incomplete(isNoted: Bool)
    }

    /// Sends what is left until a time on the clock, and stops.
    ///
    /// - Parameter isLast: Whether the room has ended. Then a record is written for unsent media even if it has not
    ///   changed, because later workers only learn from its existence that something is left to send.
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
        // Listings that have not been processed are unknown to the queue.
        let unknown = self.news.withLock(\.last)
        let isWhole = unknown == nil && self.state.withLock { $0.queue.isWhole }
        let isOwed = isLast && !isWhole
        // The record for the next worker is written again: the last accepted objects are not in it yet.
        let record = self.state.withLock { state -> UploadRecord? in
            guard let record = state.queue.record, record != state.record || isOwed else { return nil }
            state.record = record
            return record
        }
        let begun = isOwed ? unknown.map { UploadRecord(origin: $0.origin, next: 0) } : nil
        let isNoted = await self.soon { files in
            // Pending uploads of an ended room are only known from this record.
            if let record, files.keep(record, durable: isOwed) { return true }
            if files.record() != nil { return true }
            return begun.map { files.keep($0, durable: true) } ?? false
        }
        return isWhole ? .whole : .incomplete(isNoted: isNoted ?? false)
    }

    /// Removes the record, because the room has ended and nothing is left to send. Waits for the disk, at most two
    /// seconds.
    package func forget() async { _ = await self.soon { $0.forget() } }

    /// Maximum wait in nanoseconds for the last writes of the record.
    private static let notePatience: Int64 = 2_000_000_000

    /// Runs `body` on the disk queue after everything queued before, and waits for the result, but at most two seconds.
    ///
    /// - Returns: The result; `nil` if the disk hangs.
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
                isFailing: state.queue.isFailing, failure: state.queue.failure,
                waitingSegments: state.queue.waitingSegments + listed,
                taken: state.queue.taken, failed: state.queue.failed, lost: state.queue.lost, bytes: state.bytes)
        }
    }

    // MARK: The task

    private struct Step {
        var requests: [UploadRequest]
        var notices: [UploadNotice]
        /// The record to write for the next worker, if it has changed.
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
        // The next worker finds pending deletions in the record; an ended room has no next worker.
        guard state.isLast, state.queue.isDeleting else { return true }
        let end = state.deletionEnd ?? now &+ Self.deletionPatience
        state.deletionEnd = end
        return now >= end
    }

    private func perform(_ request: UploadRequest, _ client: HTTPClient) async {
        let started = self.clock.now()
        let outcome = await self.outcome(of: request, client)
        // A request that is cancelled by the end of the worker is not a failure of the store.
        if Task.isCancelled, case .failed = outcome { return }
        self.state.withLock { state in
            state.queue.answered(
                request.id, outcome, at: max(started, self.clock.now()), jitter: Int64.random(in: 0..<1000))
        }
        self.signal.yield()
    }

    private func outcome(of request: UploadRequest, _ client: HTTPClient) async -> UploadOutcome {
        guard case .put(let source) = request.action else {
            return await self.send(ObjectRequest(method: "DELETE", name: request.name), request.timeout, client)
        }
        let bytes: [UInt8]?
        switch source {
        case .bytes(let text): bytes = text
        case .file: bytes = await self.onDisk { $0.bytes(of: request.name) } ?? nil
        case .fileIn(let directory): bytes = await self.onDisk { $0.bytes(of: request.name, in: directory) } ?? nil
        case .slate(let segment, let track): bytes = await self.onDisk { $0.slate(like: segment, track: track) } ?? nil
        }
        // A cancelled read does not mean that the file is gone.
        guard let bytes else { return Task.isCancelled ? .failed("stopped") : .absent }
        let head = ObjectRequest(
            method: self.method, name: request.name,
            fields: [("content-type", request.contentType), ("cache-control", request.cacheControl)], body: bytes)
        let outcome = await self.send(head, request.timeout, client)
        if outcome == .done { self.state.withLock { $0.bytes += Int64(bytes.count) } }
        return outcome
    }

    private func send(_ head: ObjectRequest, _ timeout: Int64, _ client: HTTPClient) async -> UploadOutcome {
        let (url, fields) = self.target.request(head, at: SystemClock.wallClock() / TimeMath.nanoseconds)
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: head.method)
        for field in fields { request.headers.add(name: field.name, value: field.value) }
        request.headers.add(name: "user-agent", value: TandemVersion.userAgent)
        if head.method != "DELETE" { request.body = .bytes(ByteBuffer(bytes: head.body)) }
        let began = self.clock.now()
        do {
            let response = try await client.execute(request, timeout: .nanoseconds(timeout))
            // Read the body even if it is not used, so that the connection can be reused. The timeout of `execute` only
            // covers the head; the body gets the rest of the time.
            let answer = response.body
            let rest = timeout &- (self.clock.now() &- began)
            let body = await Deadline.run(within: rest) { try? await answer.collect(upTo: Self.longestAnswer) } ?? nil
            switch (response.status.code, head.method) {
            case (200..<300, _), (404, "DELETE"), (410, "DELETE"): return .done
            default:
                let bytes = body.map { Array($0.readableBytesView) } ?? []
                return .failed(self.target.reason(status: Int(response.status.code), bytes))
            }
        } catch let error as HTTPClientError {
            // The description names the error case and contains no part of the URL.
            return .failed(error.shortDescription)
        } catch is CancellationError {
            return .failed("stopped")
        } catch let error as MediaError {
            return .failed(error.what)
        } catch {
            return .failed(ConnectionFailure.text(error) ?? "no connection: \(type(of: error))")
        }
    }

    /// Runs `body` on the disk queue and waits for the result.
    ///
    /// - Returns: `nil` if this task was cancelled meanwhile, because a hanging disk must not delay the end of a room.
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

/// Resumes a waiting task with the disk's result or with nil on cancellation, whichever comes first.
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

/// Access to an uploader's local files. The methods are called one at a time on a dispatch queue, and may block.
package protocol UploadFiles: Sendable {
    /// Reads a file of the output; `nil` if it cannot be read.
    func bytes(of name: String) -> [UInt8]?

    /// Reads a file in another directory; `nil` if it cannot be read.
    func bytes(of name: String, in directory: String) -> [UInt8]?

    /// Makes slate that replaces a segment; `nil` if slate is not available.
    func slate(like segment: Segment, track: String) -> [UInt8]?

    /// Reads the record of the previous worker; `nil` if there is none or it is damaged.
    func record() -> UploadRecord?

    /// Writes the record for the next worker.
    ///
    /// - Parameter durable: If true, the record survives a crash of the machine once this returns.
    /// - Returns: Whether the record could be written.
    @discardableResult
    func keep(_ record: UploadRecord, durable: Bool) -> Bool

    /// Removes the record.
    func forget()
}
