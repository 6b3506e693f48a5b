import Foundation
import HLS
import MediaKernels
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("A store that fails, and a real directory")
struct FailureTests {
    @Test("a segment whose write fails once is written with the next one, and is no gap")
    func writtenLater() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        store.refuse { $0.hasPrefix("360p-1-0") }
        output.feed(0..<64)
        #expect(output.packager.step() == nil)
        #expect(output.events.failures.count == 1)
        #expect(output.events.published.isEmpty)
        #expect(store.files["index.m3u8"] == nil)
        store.refuse { _ in false }
        output.feed(64..<128)
        #expect(output.packager.step() == nil)
        #expect(output.events.published.map(\.mediaSequence) == [0, 1])
        #expect(!store.text("360p.m3u8").contains("GAP"))
        #expect(store.files["360p-1-0.m4s"]?.count == output.events.published[0].bytes["360p"])
    }

    /// A store that is slow to read the state file, with a clock advanced by the test.
    private final class SlowStore: SegmentStore, MonotonicClock {
        let inner = MemoryStore()
        private let time = Atomic<Int64>(1)
        /// In nanoseconds.
        let latency = Atomic<Int64>(0)
        let asked = Atomic<Int>(0)

        func now() -> Int64 { self.time.load(ordering: .relaxed) }
        func pass(_ nanoseconds: Int64) { self.time.add(nanoseconds, ordering: .relaxed) }

        func prepare() throws(MediaError) {}
        func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
            try self.inner.put(name, pieces, durable: durable)
        }
        func remove(_ name: String) throws(MediaError) { try self.inner.remove(name) }
        func read(_ name: String) -> [UInt8]? {
            if name == "state.json" {
                self.asked.add(1, ordering: .relaxed)
                self.pass(self.latency.load(ordering: .relaxed))
            }
            return self.inner.read(name)
        }
        func contains(_ name: String) -> Bool { self.inner.contains(name) }
        func path(of name: String) -> String? { self.inner.path(of: name) }
    }

    @Test("after a pause, the state file of a slow store is read twice, not for each packet")
    func slowAnswer() throws {
        let store = SlowStore()
        let packager = try HLSPackager.open(
            Output.settings(), tracks: [Output.video("720p")], store: store, clock: store, report: EventLog().report)
        _ = try packager.begin(now: Output.origin)
        for frame in Int64(0)..<32 { packager.receive(track: 0, Output.picture(frame)) }
        store.latency.store(600_000_000, ordering: .relaxed)
        store.pass(1_000_000_000)
        let before = store.asked.load(ordering: .relaxed)
        for frame in Int64(32)..<64 {
            packager.receive(track: 0, Output.picture(frame))
            store.pass(33_000_000)
        }
        #expect(store.asked.load(ordering: .relaxed) - before == 2)
        #expect(packager.step() == nil && store.inner.text("720p.m3u8").contains("720p-1-0.m4s"))
        // Another worker has taken the room: the answer changes.
        _ = try Output(store.inner, tracks: [Output.video("720p")])
        store.pass(1_000_000_000)
        packager.receive(track: 0, Output.picture(64))
        #expect(store.asked.load(ordering: .relaxed) - before > 2)
        #expect(packager.step() == .superseded)
    }

    @Test("a segment that cannot be written for its own duration becomes a gap in its playlist only")
    func becomesGap() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        _ = output.packager.step()
        store.refuse { $0.hasPrefix("360p-1-1") }
        output.feed(64..<192)
        #expect(output.packager.step() == nil)
        let list = ListText(store.text("360p.m3u8"))
        #expect(list.uris.count == 3)
        #expect(list.tags(before: "360p-1-1.m4s").contains("#EXT-X-GAP"))
        #expect(list.count("#EXT-X-GAP") == 1)
        #expect(!store.text("720p.m3u8").contains("GAP"))
        #expect(output.events.published.map { $0.bytes["360p"] == 0 } == [false, true, false])
        #expect(output.packager.object(named: "360p-1-1.m4s") == nil)
    }

    @Test(
        "while the store is full its files stay; when it has space again, numbers continue after three gaps")
    func fullStore() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        _ = output.packager.step()
        let before = store.files
        store.refuse { _ in true }
        output.feed(64..<320)
        #expect(output.packager.step() == nil)
        #expect(store.files == before)
        #expect(output.packager.object(named: "720p.m3u8")?.body == .bytes(before["720p.m3u8"] ?? []))
        #expect(output.events.failures.count > 3)
        store.refuse { _ in false }
        output.feed(320..<384)
        #expect(output.packager.step() == nil)
        let list = ListText(store.text("720p.m3u8"))
        #expect(list.uris == (0..<6).map { "720p-1-\($0).m4s" })
        #expect(list.count("#EXT-X-GAP") == 3)
        #expect(output.events.published.map(\.mediaSequence) == [0, 1, 2, 3, 4, 5])
    }

    @Test("if the store becomes full at any write, the state file is not older than any playlist", arguments: 0...16)
    func fullAtAnyWrite(writes: Int) throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        #expect(output.packager.step() == nil)
        let left = Mutex(writes)
        store.refuse { _ in
            left.withLock { count -> Bool in
                count -= 1
                return count < 0
            }
        }
        output.feed(64..<192)
        #expect(output.packager.step() == nil)
        let state = store.text("state.json")
        let next = try #require(state.firstMatch(of: /"nextMediaSequence": ([0-9]+)/).flatMap { Int($0.output.1) })
        // The numbers begin with 0, and none has left the window.
        for name in ["720p", "360p", "audio"] {
            let count = ListText(store.text("\(name).m3u8")).uris.count
            #expect(count <= next, "\(name)")
            #expect(writes < 16 || count == 3, "\(name): enough writes for two segments")
        }
    }

    @Test("as long as the state file cannot be written, no playlist is published")
    func stateFirst() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        store.refuse { $0 == "state.json" }
        output.feed(0..<64)
        #expect(output.packager.step() == nil)
        #expect(store.files["720p.m3u8"] == nil)
        #expect(output.packager.object(named: "720p.m3u8") == nil)
        store.refuse { _ in false }
        output.packager.finish(endlist: false)
        #expect(output.packager.step() == .drained)
        #expect(ListText(store.text("720p.m3u8")).uris == ["720p-1-0.m4s"])
    }

    /// Counts the ends that a recording receives.
    private final class Keeper: ListingObserver {
        private let ends = Mutex(0)

        func keep(_ segmentIndex: ListedSegmentSet) {}
        func keep(_ change: DateRange.Change) {}
        func keep(multivariant: String) {}
        func ended(nextMediaSequence: Int64) { self.ends.withLock { $0 += 1 } }
        var endCount: Int { self.ends.withLock { $0 } }
    }

    @Test(
        "if the store refuses the playlists' end, the write is retried, and the end is announced only once it is written",
        arguments: [1, 5, 17])
    func endWhileReadOnly(attempts: Int) throws {
        let store = MemoryStore()
        let keeper = Keeper()
        let output = try Output(store, keeper: keeper)
        let ends = Mutex(0)
        output.packager.watchListing { listing in
            if listing.isEnded { ends.withLock { $0 += 1 } }
            return true
        }
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<200)
        #expect(output.packager.step() == nil)
        store.refuse { _ in true }
        output.packager.finish(endlist: true)
        for _ in 0..<attempts { #expect(output.packager.step() == nil) }
        #expect(!output.events.isEnded && keeper.endCount == 0 && ends.withLock { $0 } == 0)
        #expect(!store.text("720p.m3u8").contains("#EXT-X-ENDLIST"))
        store.refuse { _ in false }
        #expect(output.packager.step() == .ended)
        #expect(output.events.isEnded && keeper.endCount == 1 && ends.withLock { $0 } == 1)
        for name in ["720p.m3u8", "360p.m3u8", "audio.m3u8"] {
            let list = ListText(store.text(name))
            #expect(list.count("#EXT-X-ENDLIST") == 1 && list.uris.count == 4)
        }
        #expect(store.text("state.json").contains("\"ended\": true"))
    }

    @Test(
        "the last segments, state and playlists of a drain are retried until the store accepts them",
        arguments: ["720p-1-2", "state.json", "360p.m3u8", ""], [1, 7])
    func drainWhileFull(name: String, attempts: Int) throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<128)
        #expect(output.packager.step() == nil)
        store.refuse { $0.hasPrefix(name) }
        output.feed(128..<192)
        output.packager.finish(endlist: false)
        for _ in 0..<attempts { #expect(output.packager.step() == nil) }
        #expect(output.events.published.count == 2 && !output.events.isEnded)
        store.refuse { _ in false }
        #expect(output.packager.step() == .drained)
        for name in ["720p.m3u8", "360p.m3u8", "audio.m3u8"] {
            let list = ListText(store.text(name))
            #expect(list.uris.count == 3 && list.count("#EXT-X-GAP") == 0 && list.count("#EXT-X-ENDLIST") == 0)
        }
        #expect(output.events.published.map(\.mediaSequence) == [0, 1, 2])
        #expect(!store.text("state.json").contains("\"ended\": true"))
    }

    @Test("a multivariant playlist that failed before a drain is written during it")
    func drainStale() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<128)
        #expect(output.packager.step() == nil)
        let plain = store.text("index.m3u8")
        store.refuse { $0 == "index.m3u8" }
        output.packager.declare(
            BitRates(bitrate: 4_000_000, maxBitrate: 4_800_000, bufferSize: 4_800_000), track: 0)
        #expect(output.packager.step() == nil)
        output.packager.finish(endlist: false)
        #expect(output.packager.step() == nil && store.text("index.m3u8") == plain)
        store.refuse { _ in false }
        #expect(output.packager.step() == .drained && store.text("index.m3u8") != plain)
    }

    @Test(
        "after a kill at any write while a room ends, its playlists have ended, or the next worker ends them",
        arguments: 0..<16)
    func endHalfWritten(operations: Int) throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<200)
        #expect(output.packager.step() == nil)
        let left = Mutex(operations)
        store.refuse { _ in
            left.withLock { count -> Bool in
                count -= 1
                return count < 0
            }
        }
        output.packager.finish(endlist: true)
        _ = output.packager.step()
        store.refuse { _ in false }
        if !store.text("state.json").contains("\"ended\": true") {
            let next = try Output(store)
            _ = try next.packager.begin(now: Output.origin + 10_000_000_000)
            next.packager.finish(endlist: true)
            #expect(next.packager.step() == .ended)
        }
        for name in ["720p.m3u8", "360p.m3u8", "audio.m3u8"] {
            let list = ListText(store.text(name))
            #expect(list.count("#EXT-X-ENDLIST") == 1 && list.uris.count >= 3, "\(name)")
        }
        #expect(store.text("state.json").contains("\"ended\": true"))
    }

    @Test("an offline job whose store refuses the playlists' end reports that and exits")
    func jobWithoutEnd() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Output.settings { $0.waitsForStore = true })
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        store.refuse { _ in true }
        output.packager.finish(endlist: true)
        #expect(output.packager.run() == .endLost)
        #expect(!output.events.isEnded)
    }

    @Test(
        "invalid track names and configurations, duplicate tracks and an output without tracks are refused with a reason"
    )
    func badTracks() throws {
        let cases: [([TrackDescription], String)] = [
            ([], "no track"), ([Output.audio, Output.audio], "taken"),
            ([Output.video("a"), Output.video("a")], "taken"), ([Output.video("index")], "taken"),
            ([Output.video("../x")], "cannot be a track name"), ([Output.video("")], "cannot be a track name"),
            ([Output.video(".x")], "cannot be a track name"), ([Output.video("v", [1, 2])], "configuration"),
        ]
        for (tracks, word) in cases {
            let error = #expect(throws: MediaError.self) { try Output(MemoryStore(), tracks: tracks) }
            #expect(error?.what.contains(word) == true)
        }
    }

    private static func folder() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("packager-\(UUID().uuidString)").path
    }

    @Test("if a directory cannot be made, the error is notCreatable")
    func notCreatable() throws {
        let file = Self.folder()
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        for path in [file, "\(file)/deeper/still", "/proc/nothing/here"] {
            let error = #expect(throws: MediaError.self) {
                try HLSPackager.open(
                    Output.settings { $0.directory = path }, tracks: [Output.audio], clock: FixedClock(),
                    report: { _ in })
            }
            #expect(error?.code == .notCreatable)
        }
    }

    @Test("a directory that disappears is reported and made again")
    func vanishingDirectory() throws {
        let path = Self.folder() + "/a/b"
        let events = EventLog()
        let packager = try HLSPackager.open(
            Output.settings { $0.directory = path }, tracks: [Output.video("v")], clock: FixedClock(),
            report: events.report)
        _ = try packager.begin(now: Output.origin)
        try FileManager.default.removeItem(atPath: path)
        for frame in Int64(0)..<128 { packager.receive(track: 0, Output.picture(frame)) }
        #expect(packager.step() == nil)
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(events.restored == [0] && events.failures.isEmpty)
        for frame in Int64(128)..<256 { packager.receive(track: 0, Output.picture(frame)) }
        #expect(packager.step() == nil)
        let text = try String(contentsOfFile: "\(path)/v.m3u8", encoding: .utf8)
        #expect(ListText(text).uris == (0..<4).map { "v-1-\($0).m4s" })
    }

    @Test("a partial file of a killed worker is removed by its successor")
    func halfAFile() throws {
        let path = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: path) }
        for run in Int64(0)..<2 {
            let packager = try HLSPackager.open(
                Output.settings { $0.directory = path }, tracks: [Output.video("v")], clock: FixedClock(),
                report: { _ in })
            let first = try packager.begin(now: Output.origin + run * 5_000_000_000).firstTick
            for frame in first..<(first + 64) { packager.receive(track: 0, Output.picture(frame)) }
            #expect(packager.step() == nil)
            if run == 0 {
                for name in [".v-1-1.m4s.tmp", ".v.m3u8.tmp"] {
                    try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                }
            }
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        #expect(files == ["index.m3u8", "state.json", "v-1-0.m4s", "v-1.mp4", "v-2-1.m4s", "v.m3u8"])
    }

    @Test("with encoders and the writer on separate threads a reader never sees a torn playlist")
    func threads() throws {
        let path = Self.folder()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let events = EventLog()
        let settings = try Output.settings {
            $0.directory = path
            $0.waitsForStore = true
            $0.playlistType = .event
        }
        let packager = try HLSPackager.open(
            settings, tracks: [Output.video("a"), Output.video("b"), Output.audio], clock: FixedClock(),
            report: events.report)
        _ = try packager.begin(now: Output.origin)
        let isOver = Atomic(false)
        let torn = Atomic(0)
        let reads = Atomic(0)
        let outcome = Mutex<HLSPackager.Outcome?>(nil)
        let writer = DispatchGroup()
        let feeders = DispatchGroup()
        func start(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
            group.enter()
            Thread.detachNewThread {
                body()
                group.leave()
            }
        }
        start(writer) {
            let result = packager.run()
            outcome.withLock { $0 = result }
            isOver.store(true, ordering: .relaxed)
        }
        let readers = DispatchGroup()
        start(readers) {
            while !isOver.load(ordering: .relaxed) {
                for name in ["a.m3u8", "audio.m3u8", "index.m3u8", "state.json"] {
                    guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { continue }
                    let text = String(decoding: data, as: UTF8.self)
                    let isWhole =
                        name == "state.json"
                        ? text.hasSuffix("]\n}\n") : text.hasPrefix("#EXTM3U\n") && text.hasSuffix("\n")
                    if !isWhole { torn.add(1, ordering: .relaxed) }
                    reads.add(1, ordering: .relaxed)
                }
            }
        }
        for track in 0..<2 {
            start(feeders) { for frame in Int64(0)..<6_400 { packager.receive(track: track, Output.picture(frame)) } }
        }
        start(feeders) {
            for frame in Int64(0)..<10_000 { packager.receive(track: 2, Output.audioPacket(frame * 1_024)) }
        }
        #expect(feeders.wait(timeout: .now() + 60) == .success, "the packager accepts everything")
        packager.finish(endlist: true)
        try #require(writer.wait(timeout: .now() + 60) == .success, "the packager writes to the end")
        #expect(readers.wait(timeout: .now() + 20) == .success)
        #expect(outcome.withLock { $0 } == .ended)
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect(reads.load(ordering: .relaxed) > 0)
        #expect(events.failures.isEmpty)
        #expect(events.published.map(\.mediaSequence) == Array(0..<100))
        let files = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(files.filter { $0.contains(".tmp") }.isEmpty)
        #expect(files.count == 300 + 3 + 3 + 2)
    }
}
