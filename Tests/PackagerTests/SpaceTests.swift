import Dispatch
import Foundation
import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Packager
import Synchronization
import Testing

/// A store in memory with limited capacity, which can also refuse all writes.
private final class TightStore: SegmentStore {
    struct Content {
        var files: [String: [UInt8]] = [:]
        var removed: [String] = []
        var capacity = Int.max
        var isReadOnly = false
        var isHanging = false
    }

    let content = Mutex(Content())
    let hanging = DispatchSemaphore(value: 0)

    func prepare() throws(MediaError) {}

    func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
        if self.content.withLock(\.isHanging) { self.hanging.wait() }
        let code = self.content.withLock { content -> MediaError.Code? in
            if content.isReadOnly { return .outputLost }
            let bytes = pieces.flatMap(\.bytes)
            let others = content.files.reduce(0) { $0 + ($1.key == name ? 0 : $1.value.count) }
            guard others + bytes.count <= content.capacity else { return .diskFull }
            content.files[name] = bytes
            return nil
        }
        if let code { throw MediaError(code, "refused \(name)", at: "test", fix: "none") }
    }

    func remove(_ name: String) throws(MediaError) {
        let isRefused = self.content.withLock { content in
            guard !content.isReadOnly else { return true }
            if content.files.removeValue(forKey: name) != nil { content.removed.append(name) }
            return false
        }
        if isRefused { throw MediaError(.outputLost, "refused to remove \(name)", at: "test", fix: "none") }
    }

    func read(_ name: String) -> [UInt8]? { self.content.withLock { $0.files[name] } }
    func contains(_ name: String) -> Bool { self.read(name) != nil }
    func path(of name: String) -> String? { "/memory/\(name)" }

    func change(_ body: (inout Content) -> Void) { self.content.withLock { body(&$0) } }
    var names: Set<String> { self.content.withLock { Set($0.files.keys) } }
    var removed: [String] { self.content.withLock(\.removed) }
    func list(_ name: String) -> ListText { ListText(String(decoding: self.read(name) ?? [], as: UTF8.self)) }
}

@Suite("Stores with little space, or that fail for a while")
struct SpaceTests {
    private static let segmentTicks: Int64 = 64
    private static let playlists = ["720p", "360p", "audio"]

    private static func settings() throws -> HLSOutputSettings {
        try Output.settings {
            $0.windowSeconds = 600
            $0.deleteGraceSeconds = 60
        }
    }

    private static func feed(_ output: Output, _ segments: Range<Int64>) {
        for segmentIndex in segments {
            output.feed(segmentIndex * Self.segmentTicks..<(segmentIndex + 1) * Self.segmentTicks, size: 400)
            #expect(output.packager.step() == nil)
        }
    }

    /// Checks that every listed segment exists, and that all playlists start with the same number.
    private static func expectWhole(_ store: TightStore) {
        let lists = Self.playlists.map { store.list("\($0).m3u8") }
        #expect(Set(lists.map(\.mediaSequence)).count == 1)
        for list in lists { #expect(Set(list.uris).isSubset(of: store.names)) }
    }

    @Test("a lower window limit drops the oldest segments from playlists at once, and their files after a delay")
    func limited() throws {
        let store = TightStore()
        let output = try Output(store, settings: Self.settings())
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<20)
        output.packager.limitWindow(to: HLSPackager.fewestSegments)
        #expect(output.packager.step() == nil)
        Self.expectWhole(store)
        #expect(store.list("720p.m3u8").uris == (10..<20).map { "720p-1-\($0).m4s" })
        #expect(store.removed.isEmpty)
        // Three target durations of 2 s are 2.8 segments.
        Self.feed(output, 20..<22)
        #expect(store.removed.isEmpty)
        Self.feed(output, 22..<24)
        #expect(store.removed.contains("720p-1-0.m4s") && !store.names.contains("audio-1-9.m4s"))
        #expect(store.list("720p.m3u8").uris.count == HLSPackager.fewestSegments)
        Self.expectWhole(store)
        output.packager.limitWindow(to: nil)
        Self.feed(output, 24..<30)
        #expect(store.list("720p.m3u8").uris == (14..<30).map { "720p-1-\($0).m4s" })
        #expect(output.events.published.map(\.mediaSequence) == Array(0..<30))
    }

    @Test(
        "even with a window limit of 0 segments, a live playlist keeps three segments, and an EVENT playlist keeps all")
    func rules() throws {
        for type in [HLSOutputSettings.PlaylistType.live, .event] {
            let store = TightStore()
            var settings = try Self.settings()
            settings.playlistType = type
            let output = try Output(store, settings: settings)
            output.packager.limitWindow(to: 0)
            _ = try output.packager.begin(now: Output.origin)
            Self.feed(output, 0..<12)
            #expect(store.list("720p.m3u8").uris.count == (type == .event ? 12 : 3))
        }
    }

    @Test("a full store drops the oldest segments at once, and nothing at the live edge")
    func full() throws {
        let store = TightStore()
        let output = try Output(store, settings: Self.settings())
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<12)
        let used = store.content.withLock { $0.files.values.reduce(0) { $0 + $1.count } }
        store.change { $0.capacity = used * 3 / 2 }
        Self.feed(output, 12..<60)
        Self.expectWhole(store)
        #expect(output.events.published.map(\.mediaSequence) == Array(0..<60))
        #expect(!store.list("720p.m3u8").lines.contains("#EXT-X-GAP"))
        #expect(output.events.published.allSatisfy { !$0.bytes.values.contains(0) })
        #expect(output.events.failures.contains { $0.code == .diskFull })
        let gone = store.removed.filter { $0.hasPrefix("720p-1-") && $0.split(separator: ".").count == 2 }
            .compactMap { Int64($0.dropFirst(7).prefix { $0.isNumber }) }
        #expect(!gone.isEmpty && gone == gone.sorted(), "the oldest are removed first: \(gone)")
        // Viewers of the live edge see no removed segment.
        let live = viewer.last("720p.m3u8")
        #expect(ListText(live).uris.allSatisfy { store.names.contains($0) || viewer.object($0) != nil })
    }

    @Test(
        "while the store refuses writes, the live edge continues; playlists on disk get gaps, and no file is left behind"
    )
    func readOnly() throws {
        let store = TightStore()
        var settings = try Self.settings()
        settings.windowSeconds = 8
        settings.deleteGraceSeconds = 0
        let output = try Output(store, settings: settings)
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<20)
        let before = store.names
        store.change { $0.isReadOnly = true }
        Self.feed(output, 20..<30)
        #expect(store.names == before)
        // Viewers of the live edge have the parts and segments of the outage.
        let live = ListText(viewer.last("720p.m3u8"))
        #expect(live.uris.suffix(3).allSatisfy { viewer.object($0) != nil } && live.count("#EXT-X-GAP") == 0)
        store.change { $0.isReadOnly = false }
        Self.feed(output, 30..<31)
        let gaps = store.list("720p.m3u8")
        #expect(gaps.count("#EXT-X-GAP") > 0)
        let listed = zip(gaps.uris, gaps.uris.map { gaps.tags(before: $0).contains("#EXT-X-GAP") })
        #expect(listed.allSatisfy { uri, isGap in isGap || store.names.contains(uri) })
        Self.feed(output, 31..<50)
        Self.expectWhole(store)
        #expect(store.list("720p.m3u8").count("#EXT-X-GAP") == 0)
        let files = store.names.filter { $0.hasPrefix("720p-1-") && $0.hasSuffix(".m4s") }
        #expect(files.count < 24, "nothing is left behind: \(files.sorted())")
        #expect(output.events.published.map(\.mediaSequence) == Array(0..<50))
    }

    @Test("while a store hangs, segments that waited longer than a minute become gaps, and the feed is not blocked")
    func hanging() throws {
        let store = TightStore()
        let output = try Output(store, settings: Self.settings())
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<2)
        store.change { $0.isHanging = true }
        let isOver = DispatchSemaphore(value: 0)
        let writer = Thread {
            _ = output.packager.run()
            isOver.signal()
        }
        writer.start()
        for segmentIndex in Int64(2)..<80 {
            output.feed(segmentIndex * Self.segmentTicks..<(segmentIndex + 1) * Self.segmentTicks)
        }
        store.change { $0.isHanging = false }
        for _ in 0..<8 { store.hanging.signal() }
        output.packager.finish(endlist: true)
        #expect(isOver.wait(timeout: .now() + 20) == .success && output.events.isEnded)
        let list = store.list("720p.m3u8")
        #expect(list.uris.count == 80)
        // Segments that waited more than a minute are gaps in the directory.
        #expect((40...50).contains(list.count("#EXT-X-GAP")), "\(list.count("#EXT-X-GAP"))")
        #expect(list.uris.suffix(32).allSatisfy { store.names.contains($0) })
    }

    @Test("disk use counts whole blocks, and a file with two names once")
    func measured() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("use-\(UUID().uuidString)")
        let other = folder.appendingPathComponent("other")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func measure(_ paths: [String]) -> DiskUse? { DiskUse.measure(paths.map { DiskUse.Place($0, .live) }) }
        let empty = try #require(measure([folder.path, other.path]))
        let file = folder.appendingPathComponent("file")
        try Data(repeating: 1, count: 1_000_000).write(to: file)
        try FileManager.default.linkItem(at: file, to: other.appendingPathComponent("again"))
        let use = try #require(measure([folder.path, other.path]))
        #expect((1_000_000...1_200_000).contains(use.used - empty.used))
        #expect(use.volumes.count == 1 && use.volumes.allSatisfy { $0.free > 0 && $0.used == use.used })
        #expect(measure([folder.path + "/nowhere"]) == nil)
        // Subdirectories count if requested.
        let deep = other.appendingPathComponent("deep")
        try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
        try Data(repeating: 2, count: 1_000_000).write(to: deep.appendingPathComponent("more"))
        #expect(try #require(measure([folder.path, other.path])).used == use.used)
        var below = DiskUse.Place(other.path, .clips)
        below.isDeep = true
        let all = try #require(DiskUse.measure([DiskUse.Place(folder.path, .live), below]))
        #expect((1_000_000...1_200_000).contains(all.used - use.used))
    }

    @Test("disk use is counted per file system, and one with only thumbnails is not reported")
    func volumes() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("two-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, size) in [("live/a", 1_000_000), ("live/still-1.jpg", 300_000), ("run/still.jpg", 100_000)] {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(repeating: 1, count: size).write(to: file)
        }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("rec"), withIntermediateDirectories: true)
        var stills = [DiskUse.Place(folder.path + "/live", []), DiskUse.Place(folder.path + "/run", [])]
        for index in stills.indices { stills[index].prefixes = ["still"] }
        let places = [DiskUse.Place(folder.path + "/rec", .recording)] + stills
        let systems: [String: (id: UInt64, free: Int64)] = ["live": (1, 500), "rec": (2, 900), "run": (3, 7)]
        func measure(_ places: [DiskUse.Place]) -> DiskUse? {
            DiskUse.measure(places) { systems[String($0.split(separator: "/").last ?? "")] }
        }
        let use = try #require(measure([DiskUse.Place(folder.path + "/live", .live)] + places))
        let all = use.volumes.map { "\($0.purpose.rawValue) \($0.free)" }
        #expect(all == ["1 500", "2 900"], "a file system with only stills is not reported: \(use)")
        #expect((1_300_000...1_350_000).contains(use.volumes[0].used) && use.volumes[1].used == 0)
        // Between two measurements the free space is still current.
        let fresh = use.refreshed { path in path.hasSuffix("live") ? (1, 20) : nil }
        #expect(fresh.volumes.map(\.free) == [20, 900] && fresh.used == use.used)
        #expect(fresh.volumes.map(\.path) == [folder.path + "/live", folder.path + "/rec"])
        #expect((100_000...120_000).contains(use.used - use.volumes[0].used), "it still counts against a limit")
        // In a directory of stills only the stills count.
        let few = try #require(measure(places))
        #expect((400_000...450_000).contains(few.used) && few.volumes.map(\.free) == [900])
    }

    @Test("directory entries are visited one at a time, filtered by prefixes of their names")
    func listing() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("list-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("still-d"), withIntermediateDirectories: true)
        for name in ["still.jpg", "still-1.jpg", "other", ".still"] {
            try Data([1]).write(to: folder.appendingPathComponent(name))
        }
        func names(_ prefixes: String...) -> Set<String> {
            var names: [String] = []
            let isRead = DiskUse.forEachEntry(of: folder.path, prefixes: prefixes) { entry in
                names.append(entry.name + (entry.isDirectory ? "/" : ""))
            }
            #expect(isRead)
            #expect(Set(names).count == names.count)
            return Set(names)
        }
        #expect(names() == ["still.jpg", "still-1.jpg", "other", ".still", "still-d/"])
        #expect(names("still-") == ["still-1.jpg", "still-d/"] && names("x").isEmpty && names(".") == [".still"])
        #expect(names("still.", "other") == ["still.jpg", "other"])
        #expect(!DiskUse.forEachEntry(of: folder.path + "/nowhere") { _ in Issue.record("the directory is missing") })
    }

    @Test("a directory inside another is recognized through symbolic links and relative paths")
    func inside() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("in-\(UUID().uuidString)")
        let inner = folder.appendingPathComponent("live/a/b")
        let beside = folder.appendingPathComponent("live-too")
        defer { try? FileManager.default.removeItem(at: folder) }
        for path in [inner, beside] {
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        }
        let link = folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: inner)
        func lies(_ path: String, in other: String) -> Bool {
            DirectoryStore(directory: folder.path + path).lies(in: DirectoryStore(directory: folder.path + other))
        }
        #expect(lies("/live/a/b", in: "/live") && lies("/live", in: "/live/a/..") && lies("/link", in: "/live"))
        #expect(lies("/live-too/../live/a", in: "/live"))
        #expect(!lies("/live-too", in: "/live") && !lies("/live", in: "/live/a") && !lies("/nowhere", in: "/live"))
        #expect(DirectoryStore(directory: folder.path).lies(in: DirectoryStore(directory: "/")))
    }
}

/// A store that records what is durable.
private final class LazyStore: SegmentStore {
    struct Content {
        var files: Set<String> = []
        var durable: Set<String> = []
        var bytes: [String: [UInt8]] = [:]
    }

    let content = Mutex(Content())

    func prepare() throws(MediaError) {}
    func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
        self.content.withLock {
            $0.files.insert(name)
            $0.bytes[name] = pieces.flatMap(\.bytes)
            if durable { $0.durable.insert(name) } else { $0.durable.remove(name) }
        }
    }
    func remove(_ name: String) throws(MediaError) {
        self.content.withLock {
            $0.files.remove(name)
            $0.bytes[name] = nil
        }
    }
    func synchronize(_ names: [String]) throws(MediaError) { self.content.withLock { $0.durable.formUnion(names) } }
    func read(_ name: String) -> [UInt8]? { self.content.withLock { $0.bytes[name] } }
    func contains(_ name: String) -> Bool { self.content.withLock { $0.files.contains(name) } }
    func path(of name: String) -> String? { nil }
}

@Suite("The end of an output is on disk before it is announced")
struct DurableEndTests {
    @Test("every listed file is synced to disk before the end of the output is announced")
    func durable() throws {
        let store = LazyStore()
        let told = Mutex<Set<String>?>(nil)
        let packager = try HLSPackager.open(
            Output.settings(), tracks: [Output.video("720p"), Output.audio], store: store, clock: FixedClock()
        ) { event in
            if case .playlistEnded = event {
                told.withLock { $0 = store.content.withLock { $0.files.subtracting($0.durable) } }
            }
        }
        _ = try packager.begin(now: Output.origin)
        for frame: Int64 in 0..<200 {
            packager.receive(track: 0, Output.picture(frame))
            for pts in Output.audioTimes(frame) { packager.receive(track: 1, Output.audioPacket(pts)) }
        }
        packager.finish(endlist: true)
        #expect(packager.step() == .ended)
        #expect(told.withLock { $0 } == [], "not durable when the end was announced")
    }
}
