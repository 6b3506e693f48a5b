package import HLS
import HTTPListener
import MediaKernels
package import MediaTypes
import NIOCore
import Synchronization

/// The live edge of a low-latency stream, in memory: playlists, parts and the newest segments, and the requests that wait
/// for the next ones. What it does not hold comes from a second place, such as the directory.
///
/// Spec: rfc8216bis §6.2.5.2 (blocking reload), §6.2.6 (preload hints).
///
/// Requests that wait for the same are in one list. ``publish(_:)`` is the only thing that wakes: it looks at each list once,
/// whatever its length, and hands over those that need not wait any longer as one piece of work, so that a thousand players
/// cost the publisher one wake-up.
package final class LiveContent: OriginContent {
    /// What is waited for.
    private struct Awaited: Hashable {
        let path: String
        let directives: ReloadDirectives

        init(_ request: OriginRequest) {
            self.path = request.path
            self.directives = request.directives
        }
    }

    private struct Waiter {
        let id: UInt64
        let request: OriginRequest
        /// Nanoseconds of the clock.
        let since: Int64
        let answer: @Sendable (OriginAnswer) -> Void
    }

    /// Where a woken request's answer is.
    private enum Source {
        case version(PlaylistVersion)
        case answer(OriginAnswer)
    }

    private typealias Woken = (waiters: [Waiter], source: Source)

    private struct State {
        var versions: [String: PlaylistVersion] = [:]
        var objects: [String: OriginObject] = [:]
        /// Each list in the order of its numbers.
        var waiters: [Awaited: [Waiter]] = [:]
        var waiterCount = 0
        var nextID: UInt64 = 0
        var isClosed = false
    }

    /// Requests that may wait at once; more are answered 503. Each costs about a kilobyte.
    private static let longestQueue = 10_000

    private let control: ServerControl
    private let playlistNames: Set<String>
    private let clock: any MonotonicClock
    private let elsewhere: @Sendable (String) -> OriginObject?
    private let isOver: @Sendable () -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - playlistNames: Of the media playlists: they come from here or not at all, since a player that has seen the plain
    ///     one stops at the numbers of this one.
    ///   - clock: Tells how long a request has waited.
    ///   - elsewhere: An object that is not at the live edge.
    ///   - ended: The room is over.
    package init(
        control: ServerControl, playlistNames: Set<String>, clock: any MonotonicClock,
        elsewhere: @escaping @Sendable (String) -> OriginObject?, ended: @escaping @Sendable () -> Bool
    ) {
        self.control = control
        self.playlistNames = playlistNames
        self.clock = clock
        self.elsewhere = elsewhere
        self.isOver = ended
    }

    package var ended: Bool { self.isOver() }

    /// Requests that wait now.
    package var waitingCount: Int { self.state.withLock { $0.waiterCount } }

    /// Bytes held in memory; shared bytes count once.
    package var heldBytes: Int {
        self.state.withLock { state in
            state.objects.values.reduce(0) { sum, object in
                if case .buffers(let buffers) = object.body, buffers.count == 1 { sum + object.body.count } else { sum }
            }
        }
    }

    /// Texts of playlists in memory: every viewer's own token is put into one that all share.
    package var textCount: Int { self.state.withLock { $0.versions.values.reduce(0) { $0 + $1.textCount } } }

    // MARK: Publishing

    /// Shows what is new. Calls must not overlap. Returns without waiting for those it wakes.
    package func publish(_ update: LiveUpdate) {
        // Outside the lock: the only copy of the bytes on their way to any number of viewers.
        let whole = update.added.compactMap { object -> (name: String, object: OriginObject)? in
            guard case .whole(let memory) = object.content else { return nil }
            return (object.name, Self.object([Self.buffer(memory)], object))
        }
        let woken = self.state.withLock { state in
            for (name, object) in whole { state.objects[name] = object }
            for object in update.added {
                guard case .parts(let names) = object.content else { continue }
                state.objects[object.name] = Self.object(
                    names.flatMap { state.objects[$0]?.body.sharedBuffers ?? [] }, object)
            }
            for name in update.removed { state.objects[name] = nil }
            // All of them before any is made: each reports on the others.
            let positions = Dictionary(
                update.playlists.compactMap { name, playlist in playlist.reported.map { (name, $0) } },
                uniquingKeysWith: { $1 })
            for (name, playlist) in update.playlists {
                let others = Set(state.versions.keys).union(positions.keys).subtracting([name]).sorted()
                state.versions[name] = PlaylistVersion(
                    playlist,
                    reports: others.compactMap { other in
                        (positions[other] ?? state.versions[other]?.playlist.reported)?.report(uri: other)
                    })
            }
            guard !state.isClosed, state.waiterCount > 0 else { return [] as [Woken] }
            return self.takeSettled(&state)
        }
        Self.wake(woken)
    }

    /// Takes out the waiters that are waited for by what is there now.
    private func takeSettled(_ state: inout State) -> [Woken] {
        var woken: [Woken] = []
        for awaited in Array(state.waiters.keys) {
            guard let source = self.settled(awaited, state), let waiters = state.waiters.removeValue(forKey: awaited)
            else { continue }
            woken.append((waiters, source))
            state.waiterCount -= waiters.count
        }
        return woken
    }

    /// Where the answer is; `nil`: the request has to wait.
    private func settled(_ awaited: Awaited, _ state: State) -> Source? {
        if let version = state.versions[awaited.path] {
            switch version.position.decide(awaited.directives, advancePartLimit: self.control.advancePartLimit) {
            case .serve: return .version(version)
            case .hold: return nil
            case .refuse(let reason): return .answer(.refused(reason))
            }
        }
        if let object = state.objects[awaited.path] { return .answer(.object(object)) }
        // The hinted part of a playlist (§6.2.6). A hint that has been given up leaves nothing to wait for.
        for version in state.versions.values where !version.position.isEnded {
            if version.playlist.edge?.hint == awaited.path { return nil }
        }
        return .answer(.missing)
    }

    /// One piece of work for all clients of an event loop, away from the publisher's thread.
    private static func wake(_ woken: [Woken]) {
        var loops: [ObjectIdentifier: any EventLoop] = [:]
        var groups: [ObjectIdentifier?: [Woken]] = [:]
        for (waiters, source) in woken {
            for (id, waiters) in Dictionary(
                grouping: waiters, by: { $0.request.client.eventLoop.map(ObjectIdentifier.init) })
            {
                if let id { loops[id] = waiters.first?.request.client.eventLoop }
                groups[id, default: []].append((waiters, source))
            }
        }
        for (id, group) in groups {
            let work: @Sendable () -> Void = {
                for (waiters, source) in group {
                    for waiter in waiters {
                        waiter.request.client.forget()
                        waiter.answer(Self.answer(from: source, to: waiter.request))
                    }
                }
            }
            if let id, let loop = loops[id] { loop.execute(work) } else { Task { work() } }
        }
    }

    private static func answer(from source: Source, to request: OriginRequest) -> OriginAnswer {
        switch source {
        case .version(let version):
            version.object(for: request).map(OriginAnswer.object) ?? .refused(QueryPassing.tooLong)
        case .answer(let answer): answer
        }
    }

    // MARK: Requests

    package func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        let awaited = Awaited(request)
        guard let source = self.state.withLock({ self.settled(awaited, $0) }) else {
            return self.enqueue(request, awaited, answer)
        }
        if case .answer(.missing) = source, !self.playlistNames.contains(request.path),
            let object = self.elsewhere(request.path)
        {
            return answer(.object(object))
        }
        answer(Self.answer(from: source, to: request))
    }

    private func enqueue(
        _ request: OriginRequest, _ awaited: Awaited, _ answer: @escaping @Sendable (OriginAnswer) -> Void
    ) {
        let now = self.clock.now()
        let (id, source) = self.state.withLock { state -> (UInt64, Source?) in
            // What was waited for may have come between the first look and this one.
            if let source = self.settled(awaited, state) { return (0, source) }
            if state.isClosed { return (0, .answer(.late("the listener stops"))) }
            guard state.waiterCount < Self.longestQueue else { return (0, .answer(.late("too many requests wait"))) }
            state.nextID += 1
            let waiter = Waiter(id: state.nextID, request: request, since: now, answer: answer)
            state.waiters[awaited, default: []].append(waiter)
            state.waiterCount += 1
            return (waiter.id, nil)
        }
        if let source { return answer(Self.answer(from: source, to: request)) }
        request.client.whenGone { [weak self] in self?.drop(id, awaited) }
    }

    /// The client has left.
    private func drop(_ id: UInt64, _ awaited: Awaited) {
        let waiter = self.state.withLock { state -> Waiter? in
            guard let index = state.waiters[awaited]?.firstIndex(where: { $0.id == id }) else { return nil }
            state.waiterCount -= 1
            let waiter = state.waiters[awaited]?.remove(at: index)
            if state.waiters[awaited]?.isEmpty == true { state.waiters[awaited] = nil }
            return waiter
        }
        waiter?.answer(.late("the client has left"))
    }

    /// Spec: §6.2.5.2: a request is held for no longer than three target durations.
    package func expire() {
        let deadline = self.clock.now() &- Int64(self.control.longestHold) &* TimeMath.nanoseconds
        self.takeAll("what was asked for did not come in time") { $0.since <= deadline }
    }

    package func close() {
        self.state.withLock { $0.isClosed = true }
        self.takeAll("the listener stops") { _ in true }
    }

    private func takeAll(_ reason: String, where isTaken: (Waiter) -> Bool) {
        let woken = self.state.withLock { state in
            var woken: [Woken] = []
            for (awaited, waiters) in state.waiters where waiters.contains(where: isTaken) {
                let taken = waiters.filter(isTaken)
                woken.append((taken, .answer(.late(reason))))
                state.waiterCount -= taken.count
                let kept = waiters.filter { !isTaken($0) }
                state.waiters[awaited] = kept.isEmpty ? nil : kept
            }
            return woken
        }
        Self.wake(woken)
    }

    // MARK: Objects

    private static func buffer(_ memory: PacketMemory) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: memory.count)
        memory.withBytes { bytes in _ = buffer.writeBytes(bytes) }
        return buffer
    }

    private static func object(_ buffers: [ByteBuffer], _ object: LiveUpdate.Object) -> OriginObject {
        OriginObject(
            body: .buffers(buffers), contentType: object.kind == .video ? "video/mp4" : "audio/mp4",
            // A name never gets other bytes.
            cacheControl: "public, max-age=31536000, immutable", entityTag: "\"\(object.name)\"", heads: SharedHeads())
    }
}

extension MediaPlaylist {
    /// For the other playlists' reports; an I-frame playlist needs none (appendix B.1).
    fileprivate var reported: PlaylistPosition? { self.isIFramesOnly ? nil : self.position }
}

extension OriginObject.Body {
    fileprivate var sharedBuffers: [ByteBuffer] { if case .buffers(let buffers) = self { buffers } else { [] } }
}
