import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("A worker is killed after each operation of its store, and a successor continues")
struct KillTests {
    /// A store whose worker dies: from then on no write arrives.
    final class MortalStore: SegmentStore {
        private let inner: MemoryStore
        private let left: Mutex<Int>

        init(_ inner: MemoryStore, operations: Int) {
            self.inner = inner
            self.left = Mutex(operations)
        }

        var isDead: Bool { self.left.withLock { $0 <= 0 } }

        private func spend() -> Bool {
            self.left.withLock { left in
                left -= 1
                return left >= 0
            }
        }

        private static let death = MediaError(.outputLost, "dead", at: "test", fix: "none")

        func prepare() throws(MediaError) {}
        func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
            guard self.spend() else { throw Self.death }
            try self.inner.put(name, pieces, durable: durable)
        }
        func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
            if !self.isDead { try self.inner.overwrite(name, bytes) }
        }
        func remove(_ name: String) throws(MediaError) {
            guard self.spend() else { throw Self.death }
            try self.inner.remove(name)
        }
        func read(_ name: String) -> [UInt8]? { self.inner.read(name) }
        func contains(_ name: String) -> Bool { self.inner.contains(name) }
        func path(of name: String) -> String? { self.inner.path(of: name) }
    }

    /// What players of all workers have seen together.
    struct History {
        var segments: [String: String] = [:]
        var heads: [String: Int64] = [:]
        var objects: [String: [UInt8]] = [:]
        var faults: [String] = []

        mutating func note(_ place: String, _ uri: String) {
            if let known = self.segments[place], known != uri {
                self.faults.append("\(place) was \(known) and is \(uri)")
            }
            self.segments[place] = uri
        }

        /// Reads the directory in its current state.
        mutating func look(_ store: MemoryStore) {
            for name in SlateTests.lists where store.contains("\(name).m3u8") {
                let list = ListText(store.text("\(name).m3u8"))
                guard let first = list.mediaSequence else { continue }
                if first < self.heads[name] ?? 0 { self.faults.append("\(name) fell to \(first)") }
                self.heads[name] = first
                for (offset, uri) in list.uris.enumerated() {
                    self.note("\(name).m3u8 \(first + Int64(offset))", uri)
                    guard let bytes = store.read(uri) else {
                        self.faults.append("\(uri) is listed and not there")
                        continue
                    }
                    self.note(uri, bytes)
                }
                for tag in ["#EXT-X-DISCONTINUITY", "#EXT-X-GAP"] where list.count(tag) > 0 {
                    self.faults.append("\(name) has \(tag)")
                }
                if Set(list.maps).count > 1 { self.faults.append("\(name): \(list.maps)") }
            }
        }

        mutating func note(_ name: String, _ bytes: [UInt8]) {
            if self.objects[name, default: bytes] != bytes { self.faults.append("\(name) has other bytes") }
            self.objects[name] = bytes
        }

        /// Adds what players of the listener have seen.
        mutating func look(_ viewer: EdgeViewer) {
            viewer.seen.withLock { seen in
                for (place, uri) in seen.places where place.contains(".m3u8 ") { self.note(place, uri) }
                for (name, bytes) in seen.objects { self.note(name, bytes) }
                self.faults += seen.faults
            }
        }
    }

    /// Runs a worker until its death.
    ///
    /// - Returns: The frame after its last.
    private func live(
        _ store: MemoryStore, operations: Int, from frame: Int64, frames: Int64, _ history: inout History
    ) throws -> Int64 {
        let mortal = MortalStore(store, operations: operations)
        guard let output = try? Output(mortal, settings: Output.settings { $0.windowSeconds = 12 }) else {
            return frame
        }
        let viewer = EdgeViewer()
        output.packager.attach { update in if !mortal.isDead { viewer.take(update) } }
        let slate = output.packager.canContinue(at: SlateTests.nanoseconds(frame)) ? SlateTests.slate() : nil
        let begin = try? output.packager.begin(now: SlateTests.nanoseconds(frame), slate: slate)
        history.look(store)
        guard let begin else { return frame + 5 }
        var next = begin.firstTick
        while next < max(begin.firstTick, frame) + frames, !mortal.isDead {
            output.feed(next..<(next + 16))
            _ = output.packager.step()
            history.look(store)
            next += 16
        }
        if !mortal.isDead {
            output.packager.finish(endlist: false)
            _ = output.packager.step()
        }
        history.look(viewer)
        return next
    }

    @Test(
        "after a kill at any of 89 store operations, listed segments and parts keep their numbers, names and bytes",
        arguments: 1..<90)
    func everyStep(operations: Int) throws {
        let store = MemoryStore()
        var history = History()
        var frame = try self.live(store, operations: 200, from: 0, frames: 300, &history)
        // It dies after some operations, and its successor after a few, mostly while it fills the outage.
        frame = try self.live(store, operations: operations, from: frame + 60, frames: 900, &history)
        frame = try self.live(store, operations: 1 + operations * 7 % 31, from: frame + 40, frames: 200, &history)
        frame = try self.live(store, operations: .max, from: frame + 100, frames: 200, &history)
        #expect(history.faults.isEmpty, "\(history.faults)")
        try SlateTests.expectContinuous(store)
        let listed = Set(SlateTests.lists.flatMap { ListText(store.text("\($0).m3u8")).uris })
        let state = store.text("state.json") + store.text("edge.json")
        for name in store.files.keys where name.hasSuffix(".m4s") {
            #expect(listed.contains(name) || state.contains("\"\(name)\""), "\(name) is never removed")
        }
    }
}
