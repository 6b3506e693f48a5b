import Control
import Dispatch
import MediaTypes
import Packager
import PipelineSpec
import Room
import Threading
import Synchronization
import TestSupport
import Testing

@Suite("CommandStore: writes commands.json, and tells whether a command's change is durable")
struct CommandStoreTests {
    /// A disk that stores writes, and fails, blocks or dies on request.
    private final class Disk: CommandPlace {
        private struct State {
            var bytes: [UInt8]?
            var hasAside = true
            var writes = 0
            var failure: MediaError.Code?
            /// Number of writes that still succeed; nil: all.
            var life: Int?
        }

        private let state: Mutex<State>
        let gate = DispatchSemaphore(value: 0)
        let waits: Bool

        init(life: Int? = nil, waits: Bool = false) {
            self.state = Mutex(State(life: life))
            self.waits = waits
        }

        var writes: Int { self.state.withLock { $0.writes } }
        var content: CommandedState? { self.read().flatMap { CommandedState.read($0)?.state } }
        func fail(_ code: MediaError.Code?) { self.state.withLock { $0.failure = code } }

        func read() -> [UInt8]? { self.state.withLock { $0.bytes } }
        func remove() throws(MediaError) { self.state.withLock { $0.bytes = nil } }
        func removeAside() throws(MediaError) { self.state.withLock { $0.hasAside = false } }
        var hasAside: Bool { self.state.withLock { $0.hasAside } }

        func write(_ bytes: [UInt8]) throws(MediaError) {
            if self.waits { self.gate.wait() }
            let failure = self.state.withLock { state -> MediaError.Code? in
                if let failure = state.failure { return failure }
                if let life = state.life, state.writes >= life { return .outputLost }
                state.writes += 1
                state.bytes = bytes
                return nil
            }
            if let failure { throw MediaError(failure, "the disk is a test", at: "commands", fix: "none") }
        }
    }

    private static func store(_ disk: Disk, superseded: @escaping @Sendable () -> Void = {}) -> CommandStore {
        let store = CommandStore(
            CommandedState(roomID: "1", salt: "00"), file: nil, place: disk, clock: SystemClock(),
            superseded: superseded)
        store.start()
        return store
    }

    /// Runs a command and waits for what its reply would say.
    private static func command(
        _ store: CommandStore, _ urgency: CommandStore.Urgency = .now, _ change: (inout CommandedState) -> Void
    ) -> CommandDurability {
        store.begin()
        store.update(urgency, change)
        return self.answer(store)
    }

    private static func answer(_ store: CommandStore) -> CommandDurability {
        let (result, done) = (Answer(), DispatchSemaphore(value: 0))
        store.end { durability in
            result.value.withLock { $0 = durability }
            done.signal()
        }
        done.wait(for: "the command is stored")
        return result.value.withLock { $0 }
    }

    private final class Answer: Sendable { let value = Mutex(CommandDurability.late) }

    private static let source = SourceID(uid: "2002")

    @Test(
        "a command's change is in commands.json when its reply says durable; a command without a change writes nothing"
    )
    func durable() {
        let disk = Disk()
        let store = Self.store(disk)
        #expect(Self.command(store) { $0.change(Self.source) { $0.videoPush = false } } == .durable)
        #expect(disk.content?.sources[Self.source]?.videoPush == false)
        let writes = disk.writes
        #expect(Self.command(store) { $0.change(Self.source) { $0.videoPush = false } } == .durable)
        store.close(within: 2_000_000_000)
        #expect(disk.writes == writes)
    }

    @Test("all changes of one command are written to disk in one write")
    func together() {
        let disk = Disk()
        let store = Self.store(disk)
        store.begin()
        store.update(.now) { $0.isEnded = true }
        store.update(.now) { $0.revision = 2 }
        #expect(Self.answer(store) == .durable)
        #expect(disk.writes == 1)
        #expect(disk.content?.revision == 2)
        store.close(within: 2_000_000_000)
    }

    @Test("while a write hangs, a reply says not durable; the next write has everything that arrived meanwhile")
    func hanging() {
        let disk = Disk(waits: true)
        let store = Self.store(disk)
        #expect(Self.command(store) { $0.revision = 2 } == .late)
        #expect(store.problem != nil)
        store.update(.now) { $0.revision = 3 }
        store.update(.soon) { $0.scores["pk"] = .init(left: 1, right: 0) }
        #expect(disk.content == nil)
        for _ in 0..<8 { disk.gate.signal() }
        store.close(within: 5_000_000_000)
        #expect(disk.content?.revision == 3)
        #expect(disk.content?.scores["pk"]?.left == 1)
        // The write that hung, and one for everything that arrived meanwhile.
        #expect(disk.writes == 2)
        #expect(store.problem == nil)
    }

    @Test("a write to a full disk is retried until it succeeds; then replies say durable again")
    func full() async throws {
        let disk = Disk()
        disk.fail(.diskFull)
        let store = Self.store(disk)
        #expect(Self.command(store) { $0.isEnded = true } == .late)
        #expect(store.problem == "the disk is a test")
        disk.fail(nil)
        try await waitUntil("the write is retried") { disk.content?.isEnded == true }
        #expect(Self.command(store) { $0.revision = 2 } == .durable)
        #expect(disk.content?.revision == 2)
        #expect(store.problem == nil)
        store.close(within: 5_000_000_000)
    }

    @Test(
        "once a write finds that a newer worker owns the room, nothing more is written and every reply says superseded")
    func superseded() {
        let (disk, told) = (Disk(), Answer())
        disk.fail(.superseded)
        let store = Self.store(disk) { told.value.withLock { $0 = .superseded } }
        #expect(Self.command(store) { $0.isEnded = true } == .superseded)
        disk.fail(nil)
        #expect(Self.command(store) { $0.revision = 2 } == .superseded)
        store.close(within: 2_000_000_000)
        #expect(disk.writes == 0)
        #expect(told.value.withLock { $0 } == .superseded)
    }

    @Test(
        "fifty score changes in quick succession take at most 25 writes, the last with the newest score; no reply waits for the disk"
    )
    func coalesced() {
        let disk = Disk()
        let store = Self.store(disk)
        for points in 0..<50 {
            #expect(Self.command(store, .soon) { $0.scores["pk"] = .init(left: points, right: 0) } == .durable)
        }
        store.close(within: 2_000_000_000)
        #expect(disk.content?.scores["pk"]?.left == 49)
        #expect(disk.writes <= 25)

        let blocked = Disk(waits: true)
        let other = Self.store(blocked)
        for points in 0..<50 {
            #expect(Self.command(other, .soon) { $0.scores["pk"] = .init(left: points, right: 0) } == .durable)
        }
        #expect(blocked.writes == 0, "a reply that waits for this disk is late")
        for _ in 0..<8 { blocked.gate.signal() }
        other.close(within: 5_000_000_000)
        #expect(blocked.content?.scores["pk"]?.left == 49)
    }

    @Test(
        "the end of the room deletes commands.json and the copy that was set aside; a worker that hands over keeps both"
    )
    func discarded() {
        let disk = Disk()
        let store = Self.store(disk)
        #expect(Self.command(store) { $0.isEnded = true } == .durable)
        store.discard(within: 2_000_000_000)
        #expect(disk.read() == nil && !disk.hasAside)
        let handedOn = Disk()
        let other = Self.store(handedOn)
        #expect(Self.command(other) { $0.revision = 2 } == .durable)
        other.close(within: 2_000_000_000)
        #expect(handedOn.read() != nil && handedOn.hasAside)
    }

    @Test(
        "a reply after the store is closed does not say durable; after the room's end it does, since nothing must be restored"
    )
    func closed() {
        let disk = Disk()
        let store = Self.store(disk)
        store.close(within: 2_000_000_000)
        #expect(Self.command(store) { $0.revision = 2 } == .late)
        #expect(disk.content == nil)
        let ended = Self.store(Disk())
        ended.discard(within: 2_000_000_000)
        #expect(Self.command(ended) { $0.revision = 2 } == .durable)
    }

    /// Forty commands of eight kinds, each for another id.
    private static let commands: [@Sendable (inout CommandedState) -> Void] = (0..<40).map { index in
        let id = SourceID(uid: "\(index)")
        return { state in
            state.revision += 1
            switch index % 8 {
            case 0: state.change(id) { $0.videoPush = false }
            case 1: state.change(id) { $0.audioPush = false }
            case 2: state.change(id) { $0.refusedUntil = Int64(index) }
            case 3: state.texts["t\(index)"] = "\(index)"
            case 4: state.scores["s\(index)"] = .init(left: index, right: 0)
            case 5: state.relays.append(.init(source: id, id: "r", url: "rtmp://h/a/\(index)"))
            case 6: state.onAir = .init(scene: "s\(index)", tick: Int64(index))
            default:
                state.replies.append(
                    .init(key: "k\(index)", fingerprint: "f", status: 200, entityTag: nil, contentType: nil, body: "{}")
                )
            }
        }
    }

    @Test(
        "if a worker dies at any write, its successor reads all that was answered as durable",
        arguments: 0...40)
    func killed(writes: Int) {
        let disk = Disk(life: writes)
        let store = Self.store(disk)
        var durable = CommandedState(roomID: "1", salt: "00")
        var wanted = durable
        for command in Self.commands {
            // The command during which the worker dies gets no reply.
            guard disk.writes < writes else {
                store.update(.now, command)
                break
            }
            command(&wanted)
            if Self.command(store, .now, command) == .durable { durable = wanted } else { break }
        }
        #expect(disk.content ?? CommandedState(roomID: "1", salt: "00") == durable)
        #expect(durable.revision == Int64(min(writes, 40)) + 1)
        store.close(within: 2_000_000_000)
    }
}
