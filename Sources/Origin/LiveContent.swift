package import HLS
import HTTPListener
import MediaKernels
package import MediaTypes
import NIOCore
import Synchronization

/// The live edge of a low-latency stream in memory: playlists, parts and the newest segments, and the blocking requests
/// that wait for the next ones. Other objects come from a fallback, such as the output directory.
///
/// Spec: rfc8216bis §6.2.5.2 (blocking reload), §6.2.6 (preload hints).
///
/// Requests that wait for the same playlist state or object share a list. ``publish(_:)`` checks each list once,
/// whatever its length, and answers all its requests in one task per event loop. So a thousand waiting players cost the
/// publisher one wake-up per event loop.
package final class LiveContent: OriginContent {
    /// Renditions that sleep while nobody requests them.
    package struct Demand: Sendable {
        /// Called with the path of every request. Must not block.
        package var requested: @Sendable (String) -> Void
        /// Whether sleeping renditions do not wake now, so that requests for them are answered with status 503.
        package var isRefusing: @Sendable () -> Bool

        package init(
            requested: @escaping @Sendable (String) -> Void, isRefusing: @escaping @Sendable () -> Bool
        ) {
            (self.requested, self.isRefusing) = (requested, isRefusing)
        }
    }

    /// The playlist state or object that requests wait for.
    private struct WaitKey: Hashable {
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
        /// Time of the request in nanoseconds of the clock.
        let since: Int64
        let answer: @Sendable (OriginAnswer) -> Void
    }

    /// How to make the answer to a waiting request.
    private enum Source {
        case version(PlaylistVersion)
        case answer(OriginAnswer)
    }

    private typealias Woken = (waiters: [Waiter], source: Source)

    private struct State {
        var versions: [String: PlaylistVersion] = [:]
        var objects: [String: OriginObject] = [:]
        /// Waiting requests; each list is in the order of ids.
        var waiters: [WaitKey: [Waiter]] = [:]
        var waiterCount = 0
        var nextID: UInt64 = 0
        var isClosed = false
        /// Playlists of sleeping renditions; requests for them wait until the rendition wakes.
        var asleep: Set<String> = []
        /// Playlists of renditions that have woken and list fewer than three segments: players that do not wait for
        /// parts need three. hls.js rejects a playlist that lists only parts.
        var waking: Set<String> = []
    }

    /// Maximum number of waiting requests; further requests are answered with status 503. Each needs about a kilobyte.
    private static let longestQueue = 10_000

    private let control: ServerControl
    private let playlistNames: Set<String>
    private let clock: any MonotonicClock
    private let elsewhere: @Sendable (String) -> OriginObject?
    private let isOver: @Sendable () -> Bool
    private let demand: Demand?
    private let state = Mutex(State())

    /// Makes content without playlists or objects; see ``publish(_:)``.
    ///
    /// - Parameters:
    ///   - playlistNames: Names of the media playlists, which are never served from the fallback: a player that has
    ///     seen the plain playlist in the directory would stop at the sequence numbers of the low-latency one.
    ///   - clock: Measures how long a request has waited.
    ///   - elsewhere: Looks up an object that is not at the live edge.
    ///   - demand: `nil` if no rendition ever sleeps.
    ///   - ended: Whether the room has ended.
    package init(
        control: ServerControl, playlistNames: Set<String>, clock: any MonotonicClock,
        elsewhere: @escaping @Sendable (String) -> OriginObject?, demand: Demand? = nil,
        ended: @escaping @Sendable () -> Bool
    ) {
        self.demand = demand
        self.control = control
        self.playlistNames = playlistNames
        self.clock = clock
        self.elsewhere = elsewhere
        self.isOver = ended
    }

    package var ended: Bool { self.isOver() }

    /// Number of waiting requests.
    package var waitingCount: Int { self.state.withLock { $0.waiterCount } }

    /// Number of bytes of objects in memory, without playlists; for tests. A segment that shares the bytes of several
    /// parts does not count. The bytes of a segment with a single part count twice, although it shares them too.
    package var heldBytes: Int {
        self.state.withLock { state in
            state.objects.values.reduce(0) { sum, object in
                if case .buffers(let buffers) = object.body, buffers.count == 1 { sum + object.body.count } else { sum }
            }
        }
    }

    /// Number of rendered playlist texts in memory. Viewers with different tokens share a text.
    package var textCount: Int { self.state.withLock { $0.versions.values.reduce(0) { $0 + $1.textCount } } }

    // MARK: Publishing

    /// Publishes an update and answers the requests that waited for it. Calls must not overlap. Returns without waiting
    /// for the answers.
    package func publish(_ update: LiveEdgeUpdate) {
        // The bytes are copied outside the lock, and only once, however many viewers there are.
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
            for name in update.asleep {
                state.versions[name] = nil
                state.asleep.insert(name)
                state.waking.insert(name)
            }
            // All positions are collected before any playlist is made, because each playlist contains reports on the
            // others.
            let positions = Dictionary(
                update.playlists.compactMap { name, playlist in playlist.reported.map { (name, $0) } },
                uniquingKeysWith: { $1 })
            for (name, playlist) in update.playlists where !state.asleep.isEmpty || !state.waking.isEmpty {
                state.asleep.remove(name)
                if playlist.segments.count >= Self.enough || playlist.isEnded { state.waking.remove(name) }
            }
            for (name, playlist) in update.playlists {
                let others = Set(state.versions.keys).union(positions.keys).union(state.asleep).subtracting([name])
                    .sorted()
                state.versions[name] = PlaylistVersion(
                    playlist,
                    reports: others.compactMap { other in
                        // A sleeping rendition will have the same segments as this one.
                        (positions[other] ?? state.versions[other]?.playlist.reported
                            ?? (state.asleep.contains(other) ? playlist.reported : nil))?.report(uri: other)
                    })
            }
            guard !state.isClosed, state.waiterCount > 0 else { return [] as [Woken] }
            return self.takeSettled(&state)
        }
        Self.wake(woken)
    }

    /// Removes and returns the requests that can be answered now.
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

    /// Returns how to answer a request; `nil` if it has to wait.
    private func settled(_ awaited: WaitKey, _ state: State) -> Source? {
        if state.asleep.contains(awaited.path) {
            return self.demand?.isRefusing() == true
                ? .answer(.late("the rendition is not encoded, because the machine is overloaded")) : nil
        }
        if let version = state.versions[awaited.path] {
            if state.waking.contains(awaited.path), awaited.directives.isImmediate || version.playlist.segments.isEmpty
            {
                return nil
            }
            switch version.position.decide(awaited.directives, advancePartLimit: self.control.advancePartLimit) {
            case .serve: return .version(version)
            case .hold: return nil
            case .refuse(let reason): return .answer(.refused(reason))
            }
        }
        if let object = state.objects[awaited.path] { return .answer(.object(object)) }
        // The hinted part of a playlist (§6.2.6). A request for a hint that is no longer listed does not wait.
        for version in state.versions.values where !version.position.isEnded {
            if version.playlist.edge?.hint == awaited.path { return nil }
        }
        return .answer(.missing)
    }

    /// Answers waiting requests in one task per event loop, outside the publisher's thread.
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
            version.object(for: request).map(OriginAnswer.object) ?? .refused(QueryPropagation.tooLong)
        case .answer(let answer): answer
        }
    }

    // MARK: Requests

    package func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        self.demand?.requested(request.path)
        let awaited = WaitKey(request)
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
        _ request: OriginRequest, _ awaited: WaitKey, _ answer: @escaping @Sendable (OriginAnswer) -> Void
    ) {
        let now = self.clock.now()
        let (id, source) = self.state.withLock { state -> (UInt64, Source?) in
            // The object may have been published between the first check and this one.
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

    /// Removes the request of a client that has disconnected, and answers it with status 503, which the client no
    /// longer gets.
    private func drop(_ id: UInt64, _ awaited: WaitKey) {
        let waiter = self.state.withLock { state -> Waiter? in
            guard let index = state.waiters[awaited]?.firstIndex(where: { $0.id == id }) else { return nil }
            state.waiterCount -= 1
            let waiter = state.waiters[awaited]?.remove(at: index)
            if state.waiters[awaited]?.isEmpty == true { state.waiters[awaited] = nil }
            return waiter
        }
        waiter?.answer(.late("the client has disconnected"))
    }

    /// Answers requests that have waited too long. Spec: §6.2.5.2: at most three target durations. Requests without
    /// directives for a rendition that wakes wait for up to four target durations, and then get what is listed, or
    /// status 503 if no segment is.
    package func expire() {
        let now = self.clock.now()
        let deadline = now &- Int64(self.control.longestHold) &* TimeMath.nanoseconds
        let longer = now &- 4 &* Int64(self.control.targetDuration) &* TimeMath.nanoseconds
        let waking = self.state.withLock(\.waking)
        if !waking.isEmpty {
            let woken = self.state.withLock { state in
                state.waiters.keys.filter { $0.directives.isImmediate && waking.contains($0.path) }.compactMap {
                    awaited -> Woken? in
                    guard let waiters = state.waiters[awaited], let version = state.versions[awaited.path],
                        !version.playlist.segments.isEmpty
                    else { return nil }
                    let taken = waiters.filter { $0.since <= longer }
                    guard !taken.isEmpty else { return nil }
                    state.waiterCount -= taken.count
                    let kept = waiters.filter { $0.since > longer }
                    state.waiters[awaited] = kept.isEmpty ? nil : kept
                    return (taken, .version(version))
                }
            }
            Self.wake(woken)
        }
        self.takeAll("the requested object was not published in time") { waiter in
            let isPatient = waiter.request.directives.isImmediate && waking.contains(waiter.request.path)
            return waiter.since <= (isPatient ? longer : deadline)
        }
    }

    /// Number of segments that players need in a playlist that they load without directives.
    private static let enough = 3

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

    private static func object(_ buffers: [ByteBuffer], _ object: LiveEdgeUpdate.Object) -> OriginObject {
        OriginObject(
            body: .buffers(buffers),
            contentType: object.contentType ?? (object.kind == .video ? "video/mp4" : "audio/mp4"),
            // A name never gets other bytes.
            cacheControl: "public, max-age=31536000, immutable", entityTag: "\"\(object.name)\"", heads: SharedHeads())
    }
}

extension MediaPlaylist {
    /// The position that other playlists report; `nil` for an I-frame playlist, which is not reported (appendix B.1).
    fileprivate var reported: PlaylistPosition? { self.isIFramesOnly ? nil : self.position }
}

extension OriginObject.Body {
    fileprivate var sharedBuffers: [ByteBuffer] { if case .buffers(let buffers) = self { buffers } else { [] } }
}
