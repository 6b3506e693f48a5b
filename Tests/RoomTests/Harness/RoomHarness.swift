import Control
import Dispatch
import Events
import Glibc
import HTTPTypes
import Ingest
import Logging
import MediaTypes
import Packager
import PipelineSpec
import Room
import RoomAPI
import Threading
import Synchronization
import Testing

/// A room in the test process, without sockets, whose time is moved by the test.
///
/// The stages are the product's: admission, decoders, program, x264, packager and the directory on disk. Publishers are
/// scripted (``connect(_:sending:tones:key:)``), commands are requests to the control API's responder
/// (``command(_:_:_:)``), and time passes only in methods that advance it, such as ``run(seconds:)``.
final class RoomHarness: Sendable {
    /// What the room does when it starts, which decides when its threads are idle.
    enum Beginning {
        /// Waits for its first publisher.
        case waiting
        /// Shows slate to viewers of the worker before.
        case slate
        /// Ends at once.
        case over
    }

    /// A publication, with the frames that are due next.
    private struct Script {
        let publisher: ScriptedPublisher
        let content: ScriptedContent
        let began: Int64
        /// Video frames and AAC frames sent so far.
        private var frames: Int64 = 0
        private var blocks: Int64 = 0
        var hasBegun = false

        init(_ publisher: ScriptedPublisher, _ content: ScriptedContent, began: Int64) {
            (self.publisher, self.content, self.began) = (publisher, content, began)
        }

        private var frameDue: Int64 {
            self.content.appearance == nil ? .max : self.began + self.frames * RoomHarness.second / ScriptedClip.fps
        }
        private var blockDue: Int64 {
            let samples = self.blocks * ScriptedTone.length
            return self.content.tones.isEmpty
                ? .max : self.began + samples * RoomHarness.second / ScriptedTone.sampleRate
        }
        /// When the next frame is due, on the machine's clock.
        var due: Int64 { min(self.frameDue, self.blockDue) }

        /// The items due at ``due``.
        mutating func next(arrival: Int64) throws -> [SourceItem] {
            if let appearance = self.content.appearance, self.frameDue <= self.blockDue {
                defer { self.frames += 1 }
                return [try ScriptedClip.packet(self.frames, appearance, arrival: arrival)]
            }
            defer { self.blocks += 1 }
            return try self.content.tones.sorted { $0.key < $1.key }.map { track, hertz in
                .packet(try ScriptedTone.packet(self.blocks, hertz, track: track, arrival: arrival))
            }
        }
    }

    static let second: Int64 = 1_000_000_000
    /// 2026-01-01T00:00:00Z.
    static let date: Int64 = 1_767_225_600 * RoomHarness.second

    let clock: TestClock
    let wall: TestWallClock
    let events: ToldEvents
    let room: Room
    let responder: ControlResponder
    /// Sends the room's events to its webhooks; nil: events are not sent.
    private let delivery: EventDelivery?
    private let scripts = Mutex<[String: Script]>([:])
    private let outcome = Mutex<RoomOutcome?>(nil)
    private let isOver = DispatchSemaphore(value: 0)

    private init(
        _ room: Room, _ events: ToldEvents, _ clock: TestClock, _ wall: TestWallClock, _ delivery: EventDelivery?
    ) {
        (self.room, self.events, self.clock, self.wall, self.delivery) = (room, events, clock, wall, delivery)
        self.responder = ControlResponder(
            room: room, guardian: AccessGuard(listen: .unix(path: "unused"), token: nil))
    }

    /// Opens and runs a room.
    ///
    /// - Parameters:
    ///   - date: Time of day at which it opens, in nanoseconds since the Unix epoch.
    ///   - receivers: Receivers of its webhooks; nil: events are not sent.
    ///   - change: Changes the settings, like flags of the command line.
    static func open(
        _ pipeline: String, at date: Int64 = RoomHarness.date, _ beginning: Beginning = .waiting,
        receivers: ScriptedReceivers? = nil, change: (inout RoomSettings) -> Void = { _ in }
    ) async throws -> RoomHarness {
        let clock = TestClock(now: 1_000 * Self.second)
        let wall = TestWallClock(clock, now: date)
        let document = try RoomDocument.read(Array(pipeline.utf8)).get().document
        var settings = RoomSettings(
            pipeline: document.pipeline, document: document,
            clocks: Clocks(machine: clock, wall: wall, processCPU: IdleCPUClock()))
        settings.opensListeners = false
        change(&settings)
        let told = ToldEvents()
        let harness = try await offPool { [settings] in
            let events = RoomEvents(
                roomID: settings.pipeline.room.roomID, directory: settings.pipeline.eventDirectory,
                vocabularies: settings.pipeline.control.compat, wall: wall
            ) { told.take($0) }
            let delivery = try receivers.map { receivers in
                EventDelivery(
                    try settings.pipeline.webhooks(), of: events.log, roomID: settings.pipeline.room.roomID,
                    directory: settings.pipeline.eventDirectory, egress: settings.egress,
                    substitute: { receivers.receive($0, $1) }, notify: { events.tell($0, $1) })
            }
            delivery?.begin(new: events.log.last)
            let logger = Logger(label: "room") { _ in SwiftLogNoOpLogHandler() }
            let room = try Room.open(settings, events: events, delivery: delivery, logger: logger)
            return RoomHarness(room, told, clock, wall, delivery)
        }
        Task { [harness] in
            let outcome = await harness.room.run()
            harness.outcome.withLock { $0 = outcome }
            harness.isOver.signal()
        }
        // One decoder thread per source, the room's life, the scene builder, the writer of commands and the disk check;
        // then the program.
        let threads = document.pipeline.sources.count + 4
        try await offPool {
            try told.wait("room.ready")
            switch beginning {
            case .waiting: try clock.waitForThreads(threads)
            case .slate:
                try told.wait("program.started")
                try clock.waitForTimekeeper()
                try clock.waitForThreads(threads + 1)
            case .over: break
            }
        }
        return harness
    }

    // MARK: Time

    /// Advances time. Publishers send meanwhile. When it returns, the threads that wait on the test clock have done what was
    /// due; encoders and packager may still work.
    func run(seconds: Double) async throws {
        let target = self.clock.now() + Int64((seconds * Double(Self.second)).rounded())
        try await offPool { try self.advance(to: target) }
    }

    /// Advances time until an event arrives.
    ///
    /// - Parameters:
    ///   - start: Index of the first event to consider.
    ///   - limit: Seconds of room time after which the test fails, exact to 50 ms.
    ///   - isWanted: Selects among events of the type.
    @discardableResult
    func run(
        until type: String, uid: String? = nil, from start: Int = 0, within limit: Double = 5,
        where isWanted: @escaping @Sendable (ToldEvent) -> Bool = { _ in true }
    ) async throws -> ToldEvent {
        let end = self.clock.now() + Int64(limit * Double(Self.second))
        return try await offPool {
            while true {
                if let event = self.events.all(type, uid: uid, from: start).first(where: isWanted) { return event }
                guard self.clock.now() < end else {
                    throw TestClock.Timeout(
                        description: "no \(type) in \(limit) s; told: \(self.events.types(from: start))")
                }
                try self.advance(to: self.clock.now() + Self.second / 20)
            }
        }
    }

    private func advance(to target: Int64) throws {
        while true {
            try self.sendDue()
            let next = min(target, self.scripts.withLock { $0.values.map(\.due).min() } ?? .max)
            try self.clock.advance(to: next) { try self.waitForEncoders() }
            if next == target { return }
        }
    }

    /// Encoders run in real time. If the room's time advanced without waiting for them, it would see an overload.
    private func waitForEncoders() throws {
        let limit = DispatchTime.now() + TestClock.patience
        while self.room.unencodedTicks > 1 {
            usleep(100)
            if .now() > limit { throw TestClock.Timeout(description: "the encoders do not follow the program") }
        }
    }

    // MARK: Publishers

    /// Connects a publisher of a source, which is admitted and then sends. If the source has a publisher, the new one
    /// takes over.
    ///
    /// - Parameters:
    ///   - appearance: The video it sends; nil: the default of its source.
    ///   - tones: Frequency in hertz of the tone in each audio track it sends.
    ///   - key: The stream key it uses; nil: that of the source.
    /// - Throws: ``ScriptedPublisher/Refused``.
    func connect(
        _ uid: String, sending appearance: ScriptedClip.Appearance? = nil, tones: [UInt8: Int] = [:], key: String? = nil
    ) async throws {
        let content = ScriptedContent(appearance: appearance ?? HarnessRooms.appearance(of: uid), tones: tones)
        try await self.connect(uid, content, key: key)
    }

    /// Connects a publisher that sends the media in `content`; see ``connect(_:sending:tones:key:)``.
    func connect(_ uid: String, _ content: ScriptedContent, key: String? = nil) async throws {
        try await offPool {
            let publisher = try ScriptedPublisher.connect(key ?? HarnessRooms.key(of: uid), to: self.server)
            self.scripts.withLock { $0[uid] = Script(publisher, content, began: self.clock.now()) }
            try self.sendDue()
            // The very first packet starts the program.
            try self.events.wait("program.started")
            try self.clock.waitForTimekeeper()
        }
    }

    /// Calls ``connect(_:sending:tones:key:)`` and waits until the sources are live.
    func goLive(_ uids: String...) async throws {
        for uid in uids {
            let start = self.events.count
            try await self.connect(uid)
            try await self.run(until: "source.live", uid: uid, from: start)
        }
    }

    /// Calls ``connect(_:sending:tones:key:)`` and waits until the source is live.
    func goLive(_ uid: String, sending appearance: ScriptedClip.Appearance, tones: [UInt8: Int] = [:]) async throws {
        let start = self.events.count
        try await self.connect(uid, sending: appearance, tones: tones)
        try await self.run(until: "source.live", uid: uid, from: start)
    }

    /// A source's publisher stops sending; its connection stays open.
    func silence(_ uid: String) { self.scripts.withLock { $0[uid] = nil } }

    /// Cuts the connection of a source's publisher.
    func drop(_ uid: String) async throws {
        let script = self.scripts.withLock { $0.removeValue(forKey: uid) }
        try await offPool {
            try script?.publisher.drop(from: self.server)
            try self.clock.settle()
        }
    }

    private var server: IngestServer {
        get throws {
            guard let server = self.room.ingest else {
                throw TestClock.Timeout(description: "the room admits nobody; told: \(self.events.types())")
            }
            return server
        }
    }

    private func sendDue() throws {
        // An ended room has closed its listeners and their publishers.
        guard self.room.ingest != nil else { return self.scripts.withLock { $0 = [:] } }
        let now = self.clock.now()
        for (uid, script) in self.scripts.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            var script = script
            var items: [SourceItem] = []
            if !script.hasBegun { items = try script.content.configurations() }
            script.hasBegun = true
            while script.due <= now { items += try script.next(arrival: now) }
            guard !items.isEmpty else { continue }
            let isSent = try script.publisher.send(items, to: self.server)
            self.scripts.withLock { [script] in $0[uid] = isSent ? script : nil }
        }
    }

    // MARK: Scenes

    /// Blocks the scene builder until the returned semaphore is signalled.
    func blockBuilder() async throws -> DispatchSemaphore {
        let (isBlocked, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        self.room.onBuilder {
            isBlocked.signal()
            gate.wait()
        }
        try await offPool {
            guard isBlocked.wait(timeout: .now() + TestClock.patience) == .success else {
                throw TestClock.Timeout(description: "the thread that builds scenes does not come")
            }
        }
        return gate
    }

    // MARK: The end

    /// Runs a room that was asked to stop to its end. All its events are checked against their declarations.
    func finish() async throws -> RoomOutcome {
        self.scripts.withLock { $0 = [:] }
        let outcome = try await offPool {
            // Work after the program's end needs no time: the deadlines of the room's end must not pass meanwhile.
            while self.clock.hasTimekeeper { try self.advance(to: self.clock.now() + Self.second / 10) }
            guard self.isOver.wait(timeout: .now() + TestClock.patience) == .success,
                let outcome = self.outcome.withLock({ $0 })
            else { throw TestClock.Timeout(description: "the room does not end; told: \(self.events.types())") }
            return outcome
        }
        if let delivery = self.delivery {
            self.room.events.close()
            await delivery.finish(within: .seconds(5))
        }
        #expect(self.events.faults == [])
        return outcome
    }

    /// Ends the room by command.
    @discardableResult
    func end() async throws -> RoomOutcome {
        try await self.command(.post, "/v1/room:end", status: 202)
        return try await self.finish()
    }

    /// Stops all work of the room, as if its process had been killed. Its files stay.
    func kill() { self.clock.freeze() }
}
