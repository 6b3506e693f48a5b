import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Packager
import Synchronization
import TestSupport
import Testing

@Suite("A listed URI keeps its bytes and its number: rfc8216bis §6.2.1, §6.2.2")
struct ListedNameTests {
    /// A store that records its operations, so that a test can stop it after any of them.
    private final class JournalStore: SegmentStore {
        enum Operation: Sendable {
            case put(String, [UInt8])
            case remove(String)
        }

        private let inner = MemoryStore()
        private let journal = Mutex<[Operation]>([])

        var operations: [Operation] { self.journal.withLock { $0 } }

        func prepare() throws(MediaError) {}
        func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
            self.journal.withLock { $0.append(.put(name, pieces.flatMap(\.bytes))) }
            try self.inner.put(name, pieces, durable: durable)
        }
        func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError) { try self.inner.overwrite(name, bytes) }
        func remove(_ name: String) throws(MediaError) {
            self.journal.withLock { $0.append(.remove(name)) }
            try self.inner.remove(name)
        }
        func read(_ name: String) -> [UInt8]? { self.inner.read(name) }
        func contains(_ name: String) -> Bool { self.inner.contains(name) }
        func path(of name: String) -> String? { self.inner.path(of: name) }
    }

    /// How many parts each of the three tracks is ahead of the slowest one.
    static let interleavings: [[Int64]] = (Int64(0)..<64).compactMap { number in
        let ahead: [Int64] = [number / 16, number / 4 % 4, number % 4]
        return ahead.contains(0) ? ahead : nil
    }

    /// Feeds the tracks part by part, each a number of parts ahead.
    private static func feed(_ output: Output, parts: Range<Int64>, ahead: [Int64], isStepping: Bool = true) {
        for part in parts {
            for track in 0..<3 {
                let first = part == 0 ? 0 : part + ahead[track]
                output.feed(first * 16..<(part + ahead[track] + 1) * 16, only: [track])
                if isStepping { _ = output.packager.step() }
            }
        }
    }

    /// Whole segments by playlist and number, from the last version of each playlist.
    private static func listed(_ viewer: EdgeViewer) -> [String: String] {
        var listed: [String: String] = [:]
        for list in EdgeTests.lists {
            let text = ListText(viewer.last(list))
            for (offset, uri) in text.uris.enumerated() {
                listed["\(list) \((text.mediaSequence ?? 0) + Int64(offset))"] = uri
            }
        }
        return listed
    }

    private static func isGap(_ uri: String, _ viewer: EdgeViewer) -> Bool {
        EdgeTests.lists.contains { ListText(viewer.last($0)).tags(before: uri).contains("#EXT-X-GAP") }
    }

    /// Starts a successor with the same viewer; every listed name must still be there.
    ///
    /// - Returns: Gaps in its playlists.
    private static func succeed(
        _ store: MemoryStore, _ viewer: EdgeViewer, at frame: Int64, _ what: String
    ) throws -> Int {
        let before = Self.listed(viewer)
        let count = EdgeTests.lists.map { viewer.texts($0).count }
        let bytes = viewer.seen.withLock(\.objects)
        let second = try Output(store)
        second.packager.attach(viewer.take)
        let slate = second.packager.canContinue(at: SlateTests.nanoseconds(frame)) ? SlateTests.slate() : nil
        let beginning = try second.packager.begin(now: SlateTests.nanoseconds(frame), slate: slate)
        var next = beginning.firstTick
        while next < beginning.firstTick + 64 {
            second.feed(next..<next + 32)
            _ = second.packager.step()
            next += 32
        }
        let after = Self.listed(viewer)
        for (place, uri) in before {
            #expect(after[place] == uri, "\(what): \(place) was \(uri)")
            #expect(
                store.text(String(place.prefix { $0 != " " })).contains("\(uri)\n"), "\(what): \(uri) in the directory")
            if Self.isGap(uri, viewer) { continue }
            #expect(store.read(uri) == bytes[uri], "\(what): \(uri) has other bytes")
        }
        // The first playlist of the successor already has them.
        for (list, count) in zip(EdgeTests.lists, count) where count > 0 {
            let text = viewer.texts(list)[count]
            for (place, uri) in before where place.hasPrefix(list) {
                #expect(text.contains("\n\(uri)\n"), "\(what): \(uri) is not in the first playlist")
            }
        }
        return EdgeTests.lists.reduce(0) { $0 + EdgeTests.tags(viewer.last($1), "#EXT-X-GAP").count }
    }

    /// Each of the interleavings is stopped at a quarter of the operations, a different one each; `make proofs`: at all.
    @Test(
        "after the store stops at any operation, a successor lists the same names and bytes",
        arguments: Self.interleavings.indices)
    func storeStops(index: Int) throws {
        let ahead = Self.interleavings[index]
        let store = JournalStore()
        let updates = Mutex<[(Int, LiveEdgeUpdate)]>([])
        let output = try Output(store)
        output.packager.attach { update in updates.withLock { $0.append((store.operations.count, update)) } }
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, parts: 0..<5, ahead: ahead)
        let first = store.operations.count
        Self.feed(output, parts: 5..<9, ahead: ahead)
        let operations = store.operations
        // The files and the viewers' state after each operation.
        var files: [String: [UInt8]] = [:]
        let witness = EdgeViewer()
        var rest = updates.withLock { $0 }[...]
        for stop in 0...operations.count {
            if stop > 0 {
                switch operations[stop - 1] {
                case .put(let name, let bytes): files[name] = bytes
                case .remove(let name): files[name] = nil
                }
            }
            while let (count, update) = rest.first, count <= stop {
                witness.take(update)
                rest.removeFirst()
            }
            guard stop >= first, Proof.runs(stop, of: index, share: 4) else { continue }
            let (left, viewer) = (MemoryStore(), EdgeViewer())
            left.content.withLock { [files] in $0.files = files }
            let seen = witness.seen.withLock { $0 }
            viewer.seen.withLock { $0 = seen }
            let isLong = stop % 5 == 0
            let what = "\(ahead) stopped behind \(stop - first), \(isLong ? "long" : "short")"
            let gaps = try Self.succeed(left, viewer, at: isLong ? 4_000 : 180, what)
            let faults = viewer.faults.filter { !isLong || !$0.hasSuffix("is gone from the end") }
            #expect(faults.isEmpty, "\(what): \(faults)")
            if !isLong {
                #expect(gaps == 0, "\(what)")
                try SlateTests.expectContinuous(left)
            }
        }
    }

    @Test(
        "while the store refuses writes, parts are listed; a successor lists missing segments as gaps of the same name",
        arguments: [[0, 0, 0], [0, 0, 3], [3, 0, 0], [0, 2, 3], [1, 3, 0], [2, 0, 1]] as [[Int64]], [20, 4_000])
    func storeRefuses(ahead: [Int64], away: Int64) throws {
        for from in Int64(5)..<9 {
            for more in [1, 2, 3, 4, 7] as [Int64] {
                let (store, viewer) = (MemoryStore(), EdgeViewer())
                let output = try Output(store)
                output.packager.attach(viewer.take)
                _ = try output.packager.begin(now: Output.origin)
                Self.feed(output, parts: 0..<from, ahead: ahead)
                store.refuse { _ in true }
                Self.feed(output, parts: from..<from + more, ahead: ahead)
                let parts = EdgeTests.tags(viewer.last("720p.m3u8"), "#EXT-X-PART:").count
                #expect(viewer.last("720p.m3u8").contains("-\((from + more + ahead[0] - 1) / 4).m4s") || parts > 0)
                store.refuse { _ in false }
                let what = "\(ahead) refused from part \(from), \(more) more, \(away) away"
                let gaps = try Self.succeed(store, viewer, at: (from + more + 3) * 16 + away, what)
                if more > 4 { #expect(gaps > 0, "\(what): nothing of some segments was kept") }
                // A segment that becomes a gap loses its parts, and its tag comes before its name.
                let faults = viewer.faults.filter {
                    !$0.hasSuffix("is gone from the end") && !$0.contains("something came in before")
                }
                #expect(faults.isEmpty, "\(what): \(faults)")
            }
        }
    }

    @Test(
        "segments of an unwritten codec change keep their map; the successor's follow a discontinuity",
        arguments: [200, 4_000])
    func otherConfiguration(at frame: Int64) throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        let output = try Output(store)
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<128)
        _ = output.packager.step()
        try ConfigurationChangeTests.changed(output, to: Output.otherH264, height: 360, at: 128)
        // Complete and listed, but not yet written.
        output.feed(128..<208)
        #expect(viewer.last("720p.m3u8").contains("\n720p-1-2.m4s\n") && !store.text("720p.m3u8").contains("1-2.m4s"))
        _ = try Self.succeed(store, viewer, at: frame, "another configuration, \(frame)")
        for list in EdgeTests.lists {
            let text = ListText(store.text(list))
            let name = String(list.dropLast(5))
            #expect(text.tags(before: "\(name)-1-2.m4s").contains("#EXT-X-DISCONTINUITY"), "\(list)")
            if name == "720p" {
                #expect(text.tags(before: "720p-1-2.m4s").contains("#EXT-X-MAP:URI=\"720p-1-1.mp4\""))
                #expect(text.maps.last != "#EXT-X-MAP:URI=\"720p-1-1.mp4\"" && store.contains("720p-1-1.mp4"))
            }
            #expect(text.count("#EXT-X-GAP") == 0 && text.count("#EXT-X-DISCONTINUITY") == 2, "\(list): \(text.lines)")
        }
        if frame == 200 {
            // The parts of the incomplete segment have a configuration that slate does not have.
            let faults = viewer.faults.filter { !$0.contains(".m3u8 3") && !$0.contains("-3.") }
            #expect(faults.isEmpty, "\(faults)")
        }
    }
}
