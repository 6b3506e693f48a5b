package import Control
package import Events
import HLS
package import MediaTypes
package import PipelineSpec
package import RoomAPI
package import Threading
import Dispatch
import Secrets
import Synchronization

/// Sends stills of the sources to a moderation webhook and into a store, and carries out the answers.
///
/// The room calls ``step(_:_:isPaused:)`` several times per second. Stills are made by ``SourceStills``, requests are
/// asynchronous, and commands are carried out on a queue of their own, so a slow or dead receiver delays nothing.
package final class ModerationService: Sendable {
    /// Carries out a command for a source.
    ///
    /// - Returns: Whether it has changed something.
    package typealias Act =
        @Sendable (SourceID, ModerationAnswer.Action, ModerationAnswer) throws(ControlFailure) -> Bool

    /// What the moderation service needs of the room.
    package struct Parts: Sendable {
        package var room: String
        package var incarnation: Int64
        package var stills: SourceStills
        package var clocks: Clocks
        package var events: RoomEvents
        /// Uploads a still under a name; nil if the stills are not stored.
        package var store: (@Sendable (_ name: String, _ jpeg: [UInt8]) -> Void)?
        package var act: Act

        package init(
            room: String, incarnation: Int64, stills: SourceStills, clocks: Clocks, events: RoomEvents,
            store: (@Sendable (_ name: String, _ jpeg: [UInt8]) -> Void)?, act: @escaping Act
        ) {
            (self.room, self.incarnation, self.stills, self.clocks) = (room, incarnation, stills, clocks)
            (self.events, self.store, self.act) = (events, store, act)
        }
    }

    private struct SentStill: Sendable {
        var event: SourceStillEvent
        var number: Int64
    }

    private struct State {
        var schedule = StillSchedule()
        var deliveries = StillDeliveries<SentStill>()
        /// Tag of the last still of each source.
        var tags: [SourceID: String] = [:]
        var number: Int64 = 0
        var actions: [ModerationAnswer.Action: Int64] = [:]
        var tasks: [Int64: Task<Void, Never>] = [:]
        var isStopped = false
    }

    /// How long deliveries must have failed before there is an alarm, in nanoseconds.
    private static let patience: Int64 = 30 * TimeMath.nanoseconds

    private let parts: Parts
    private let post: Mutex<StillPost?>
    /// When this worker started, in milliseconds since the Unix epoch; makes ids unique.
    private let origin: Int64
    private let commands = DispatchQueue(label: "moderation")
    private let state = Mutex(State())

    private init(_ parts: Parts, _ post: StillPost?) {
        self.parts = parts
        self.post = Mutex(post)
        self.origin = parts.clocks.wall.now() / 1_000_000
    }

    /// Makes the service of a pipeline with `moderation`.
    ///
    /// - Throws: ``MediaError`` if the URL or a secret cannot be read, or if the URL is invalid.
    package static func open(_ settings: Pipeline.Moderation, _ parts: Parts) throws(MediaError) -> ModerationService {
        ModerationService(parts, try self.webhook(settings).map { StillPost($0) })
    }

    /// Reads the URL and the secrets of the webhook again; they apply from the next still on. Reads nothing if the webhook
    /// has no secrets.
    ///
    /// - Returns: Whether there is a webhook with secrets.
    /// - Throws: Like ``open(_:_:)``; the old ones then stay in force.
    package func renew(_ settings: Pipeline.Moderation) throws(MediaError) -> Bool {
        guard settings.stills.webhook?.secret != nil, let webhook = try Self.webhook(settings) else { return false }
        self.post.withLock { $0?.renew(webhook) }
        return true
    }

    private static func webhook(_ settings: Pipeline.Moderation) throws(MediaError) -> Webhook? {
        let place = "moderation.stills.webhook"
        guard let webhook = settings.stills.webhook else { return nil }
        let secrets = try webhook.secret?.lines(place: place) ?? []
        let url = try webhook.url.resolved(place: place)
        guard EventSink.isURL(url) else {
            throw MediaError(
                .rejected, "the URL is not http://host/path or https://host/path", at: place,
                fix: "correct the URL, or the variable that contains it")
        }
        return Webhook(url: url, timeout: Int64(webhook.timeoutMs) * 1_000_000, secrets: secrets)
    }

    /// Requests the stills that are due, and sends waiting ones. Returns at once.
    ///
    /// - Parameters:
    ///   - sources: The sources of the room.
    ///   - settings: The current settings; the interval and the width may change.
    ///   - isPaused: Whether the machine is overloaded, so that no stills are made.
    package func step(_ sources: [SourceID: RoomSource], _ settings: Pipeline.Moderation.Stills, isPaused: Bool) {
        let now = self.parts.clocks.machine.now()
        if let interval = settings.intervalSeconds, !isPaused {
            let published = sources.values.filter { !$0.isFile && $0.isPublishing }.map(\.spec.id)
            let due = self.state.withLock { state -> [(SourceID, String?)] in
                let due = state.schedule.next(published, interval: Int64(interval) * TimeMath.nanoseconds, now: now)
                if state.tags.count > published.count {
                    state.tags = state.tags.filter { published.contains($0.key) }
                }
                return due.map { ($0, state.tags[$0]) }
            }
            for (id, tag) in due {
                guard let source = sources[id] else { continue }
                self.request(
                    source, width: settings.width, known: tag, interval: Int64(interval) * 1_000, isPaused: isPaused)
            }
        }
        self.sendNext()
    }

    /// Requests one still of a source, whatever the interval.
    ///
    /// - Throws: The reason if no still can be made now.
    package func request(_ source: RoomSource, width: Int, isPaused: Bool) throws(ControlFailure) {
        if let refusal = self.parts.stills.refusal(of: source, isPaused: isPaused) { throw refusal }
        self.request(source, width: width, known: nil, interval: nil, isPaused: isPaused)
    }

    /// - Parameter interval: Milliseconds between two stills; nil for a still on request.
    private func request(_ source: RoomSource, width: Int, known: String?, interval: Int64?, isPaused: Bool) {
        let id = source.spec.id
        self.parts.stills.request(of: source, width: width, known: known, isPaused: isPaused) { [weak self] result in
            guard let self else { return }
            // Browsers send a key frame only if they are asked for one.
            if let interval, (try? result.get().ageMs) ?? .max > interval { source.decode.wantKeyFrame() }
            if case .success(let still) = result, let bytes = still.bytes {
                self.take(still, bytes, of: id)
            } else if interval != nil {
                // There is no still, or its frame is the one that was sent last: the next one follows soon after the key
                // frame, and not a whole interval later.
                let now = self.parts.clocks.machine.now()
                self.state.withLock { $0.schedule.failed(id, now: now) }
            }
        }
    }

    private func take(_ still: SourceStill, _ bytes: [UInt8], of source: SourceID) {
        let arrived = self.parts.clocks.wall.now() &- still.ageMs &* 1_000_000
        let number = self.state.withLock { state -> Int64 in
            state.number += 1
            state.tags[source] = still.tag
            return state.number
        }
        self.parts.store?(Self.name(of: source, number, self.origin), bytes)
        guard self.post.withLock({ $0 != nil }) else { return }
        let event = SourceStillEvent(
            room: self.parts.room, incarnation: self.parts.incarnation, origin: self.origin, sequence: number,
            source: source, time: ProgramDate.format(arrived),
            programTimeMs: still.programTime.map { $0 / 1_000_000 }, ageMs: still.ageMs, jpeg: bytes)
        self.state.withLock { $0.deliveries.add(SentStill(event: event, number: number), of: source) }
        self.sendNext()
    }

    /// Name of a stored still: letters, digits, `.`, `_` and `-`; other characters of the uid become `_`.
    private static func name(of source: SourceID, _ number: Int64, _ origin: Int64) -> String {
        let uid = String(
            source.uid.map { character in
                character.isASCII && (character.isLetter || character.isNumber || character == "-") ? character : "_"
            })
        let type = source.streamType == .main ? "" : "-sub"
        return "moderation-\(uid)\(type)-\(origin)-\(number).jpg"
    }

    // MARK: Sending

    private func sendNext() {
        guard let post = self.post.withLock({ $0 }) else { return }
        let now = self.parts.clocks.machine.now()
        self.state.withLock { state in
            while !state.isStopped, let (source, still) = state.deliveries.next(now: now) {
                let number = still.number
                // The task can remove itself only after the lock is released.
                state.tasks[number] = Task {
                    let outcome = await post.send(still.event)
                    self.finished(source, outcome, number)
                }
            }
        }
    }

    private func finished(_ source: SourceID, _ outcome: StillPost.Outcome, _ number: Int64) {
        let now = self.parts.clocks.machine.now()
        let failure: String? = if case .failed(let reason) = outcome { reason } else { nil }
        let (notice, isStopped) = self.state.withLock { state in
            state.tasks[number] = nil
            let notice = state.deliveries.finished(source, failure: failure, now: now, jitter: .random(in: 0..<1000))
            return (notice, state.isStopped)
        }
        // A cancellation by the end of the worker is not a failure of the receiver.
        if isStopped { return }
        switch notice {
        case .failing(let reason): self.parts.events.emit("moderation.failing", ["reason": .string(reason)])
        case .restored(let failures):
            self.parts.events.emit("moderation.restored", ["failures": JSONValue(failures)])
        case nil: break
        }
        if case .answered(let answer) = outcome, !answer.actions.isEmpty {
            self.commands.async { self.carryOut(answer, source, number) }
        }
        self.sendNext()
    }

    private func carryOut(_ answer: ModerationAnswer, _ source: SourceID, _ number: Int64) {
        for action in answer.actions {
            var isChange = false
            // If the room ends or the source has left it, then there is nothing to do.
            do throws(ControlFailure) { isChange = try self.parts.act(source, action, answer) } catch {}
            guard isChange else { continue }
            self.state.withLock { $0.actions[action, default: 0] += 1 }
            self.parts.events.emit(
                "source.moderated",
                [
                    "uid": .string(source.description), "action": .string(action.rawValue),
                    "reason": .string(answer.reason), "still": .integer(number),
                ])
        }
        if answer.actions.contains(.kick) { self.state.withLock { $0.deliveries.discard(source) } }
    }

    // MARK: State

    /// The alarm while deliveries have failed for half a minute; nil while they have not.
    package var alarm: RoomAlarm? {
        let now = self.parts.clocks.machine.now()
        let (since, reason) = self.state.withLock { ($0.deliveries.failingSince, $0.deliveries.reason) }
        guard let since, now &- since >= Self.patience else { return nil }
        return RoomAlarm(
            "moderation.failing", "alert_2", kind: "config", subject: "moderation",
            message:
                "the moderation webhook has accepted no still for \((now &- since) / TimeMath.nanoseconds) s: \(reason)"
        )
    }

    /// Adds metrics of the stills and of the commands.
    package func addMetrics(_ metrics: inout MetricsText) {
        let (counts, actions) = self.state.withLock { ($0.deliveries.counts, $0.actions) }
        metrics.family(
            "tandem_moderation_stills_total", .counter,
            "Stills for the moderation webhook: delivered, failed, or replaced by a newer one before they were sent.")
        for (result, count) in [
            ("delivered", counts.delivered), ("failed", counts.failed), ("replaced", counts.replaced),
        ] {
            metrics.sample("tandem_moderation_stills_total", ["result": result], count)
        }
        metrics.family(
            "tandem_moderation_actions_total", .counter, "Commands of the moderation webhook that had an effect.")
        for action in ModerationAnswer.Action.allCases {
            metrics.sample("tandem_moderation_actions_total", ["action": action.rawValue], actions[action] ?? 0)
        }
    }

    /// Ends all requests and closes the connections.
    package func stop() async {
        let tasks = self.state.withLock { state -> [Task<Void, Never>] in
            state.isStopped = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await self.post.withLock { $0 }?.close()
    }
}
