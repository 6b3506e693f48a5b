import HLS
import LibAV
import MediaKernels
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("MPEG-TS segments beside an fMP4 output: RFC 8216 §4.3.2.4, §5.2, §6.2.1")
struct TransportOutputTests {
    /// An output, and the MPEG-TS segments made from it.
    private struct Pair {
        let store: MemoryStore
        let streamStore: MemoryStore
        let output: Output
        let streams: MPEGTSOutput
        private let said: Said

        /// Reports of the output: a failure, or a recovery.
        private final class Said: Sendable {
            let reports = Mutex<[MediaError?]>([])
        }

        var reports: [MediaError?] { self.said.reports.withLock { $0 } }

        init(
            _ store: MemoryStore = MemoryStore(), _ streamStore: MemoryStore = MemoryStore(), waits: Bool = true,
            tracks: [TrackDescription] = [Output.video("720p"), Output.audio],
            _ change: (inout HLSOutputSettings) -> Void = { $0.windowSeconds = 600 }
        ) throws {
            let said = Said()
            self.said = said
            self.store = store
            self.streamStore = streamStore
            self.output = try Output(store, settings: Output.settings(change), tracks: tracks)
            self.streams = MPEGTSOutput(
                outputID: "ts", packager: self.output.packager, store: streamStore, multivariantName: "index.m3u8",
                waits: waits
            ) { error in said.reports.withLock { $0.append(error) } }
            try self.streams.begin()
        }

        func begin(now: Int64 = Output.origin) throws -> Int64 { try self.output.packager.begin(now: now).firstTick }

        /// Feeds segments of 64 frames.
        func feed(_ segments: Range<Int64>) {
            for segment in segments {
                self.output.feed((segment * 64)..<((segment + 1) * 64))
                _ = self.output.packager.step()
            }
        }

        func end(endlist: Bool = true) {
            self.output.packager.finish(endlist: endlist)
            _ = self.output.packager.step()
        }

        var list: ListText { ListText(self.streamStore.text("720p.m3u8")) }

        /// Whether the first packet of each stream in a segment signals a discontinuity.
        func isMarked(_ name: String) throws -> Bool {
            let bytes = try #require(self.streamStore.read(name))
            var marks: [Int: Bool] = [:]
            for start in stride(from: 0, to: bytes.count, by: 188) {
                try #require(bytes[start] == 0x47)
                let identifier = Int(bytes[start + 1] & 0x1F) << 8 | Int(bytes[start + 2])
                guard identifier == 0x100 || identifier == 0x101, marks[identifier] == nil else { continue }
                let hasField = bytes[start + 3] & 0x20 != 0 && bytes[start + 4] > 0
                marks[identifier] = hasField && bytes[start + 5] & 0x80 != 0
            }
            try #require(marks.count == 2 && Set(marks.values).count == 1, "\(name): \(marks)")
            return marks.values.allSatisfy(\.self)
        }
    }

    private static let encryption = EncryptionSettings(room: "r", rotation: 3, secret: Array("operator's".utf8))

    @Test(
        "every encrypted MPEG-TS segment decrypts with its listed key and vector to the bytes of the unencrypted one"
    )
    func encrypted() throws {
        let tracks = [Output.video("720p"), Output.video("360p"), Output.audio]
        let clear = try Pair(tracks: tracks)
        let sealed = try Pair(tracks: tracks) {
            $0.windowSeconds = 600
            $0.encryption = Self.encryption
        }
        for pair in [clear, sealed] {
            _ = try pair.begin()
            pair.feed(0..<10)
            pair.end()
            #expect(pair.reports.isEmpty, "\(pair.reports)")
        }
        var vectors: Set<String> = []
        for name in ["720p", "360p"] {
            let text = sealed.streamStore.text("\(name).m3u8")
            #expect(text.contains("#EXT-X-VERSION:3\n") && text.contains("#EXT-X-ENDLIST"))
            var lock: (key: [UInt8], vector: [UInt8])?
            var opened = 0
            var uris: [String] = []
            for line in ListText(text).lines {
                if let match = line.firstMatch(of: /#EXT-X-KEY:METHOD=AES-128,URI="([^"]*)",IV=0x([0-9a-f]{32})$/) {
                    // Viewers find it beside the playlist that names it.
                    guard
                        case .bytes(let key)? = sealed.streams.object(named: String(match.output.1))?.body
                    else { return #expect(Bool(false), "no key \(line)") }
                    lock = (key, Output.hex(String(match.output.2)))
                    vectors.insert(String(match.output.2))
                    uris.append(String(match.output.1))
                } else if !line.hasPrefix("#") {
                    let (bytes, lock) = try (#require(sealed.streamStore.read(line)), #require(lock))
                    let plain = try #require(clear.streamStore.read(line))
                    #expect(plain.first == 0x47 && plain.count.isMultiple(of: 188))
                    #expect(BlockCipher.opened(bytes, key: lock.key, vector: lock.vector) == plain, "\(line)")
                    guard case .file(_, let size)? = sealed.streams.object(named: line)?.body else {
                        return #expect(Bool(false), "\(line) is not served")
                    }
                    #expect(size == bytes.count)
                    opened += 1
                }
            }
            #expect(opened == 10)
            // The same keys at the same numbers as the video's own playlist, with different initialization vectors.
            let fragments = ListText(sealed.store.text("\(name).m3u8")).lines.filter { $0.hasPrefix("#EXT-X-KEY") }
            #expect(fragments.count == 4 && uris == (0..<4).map { "\(name)-\($0).key" })
            for (line, uri) in zip(fragments, uris) {
                #expect(line.contains("\"\(uri)\""))
                vectors.insert(String(line.suffix(32)))
            }
        }
        #expect(vectors.count == 16)
        #expect(sealed.streams.object(named: "720p-9.key") == nil && sealed.streams.object(named: ".keys.json") == nil)
    }

    @Test(
        "fMP4 segments dropped before conversion to MPEG-TS because too many waited become gaps, and a discontinuity follows"
    )
    func behind() throws {
        let pair = try Pair(waits: false)
        _ = try pair.begin()
        pair.feed(0..<278)
        pair.streams.finish()
        pair.streams.run()
        #expect(pair.reports.isEmpty, "\(pair.reports)")
        let list = pair.list
        let listed = ListText(pair.store.text("720p.m3u8")).uris.count
        #expect(list.uris.count == listed && listed >= 276 && list.mediaSequence == 0)
        let gaps = list.count("#EXT-X-GAP")
        #expect(gaps >= listed - 258 && gaps < 60, "\(gaps) of \(listed)")
        let after = try #require(list.uris.dropFirst().first { pair.streamStore.read($0) != nil && $0 != list.uris[1] })
        #expect(list.tags(before: after).contains("#EXT-X-DISCONTINUITY") && list.count("#EXT-X-DISCONTINUITY") == 1)
        #expect(try pair.isMarked(after))
        let last = try #require(list.uris.last)
        #expect(try !pair.isMarked(last))
        #expect(pair.streams.made.segments == Int64(listed - gaps))
    }

    @Test(
        "if segments are dropped before the first MPEG-TS segment is made, the playlist starts after them, without gaps"
    )
    func behindFromTheStart() throws {
        let first = try Pair()
        _ = try first.begin()
        first.feed(0..<4)
        first.end(endlist: false)
        // With a new rendition the playlists of both start where the worker does.
        let tracks = [Output.video("720p"), Output.video("360p"), Output.audio]
        let second = try Pair(first.store, first.streamStore, waits: false, tracks: tracks)
        let start = try second.begin(now: Output.origin + 9_000_000_000) / 64
        second.feed(start..<(start + 300))
        second.streams.finish()
        second.streams.run()
        #expect(second.reports.isEmpty, "\(second.reports)")
        let list = ListText(second.streamStore.text("360p.m3u8"))
        #expect(list.uris.count > 250 && list.count("#EXT-X-GAP") == 0)
        #expect(list.uris == second.list.uris.map { $0.replacing("720p-", with: "360p-") })
        #expect(list.uris.last.map { second.streamStore.read($0) != nil } == true)
    }

    @Test("an MPEG-TS playlist's end that the store refuses is written as soon as the store accepts it")
    func endWhileFull() throws {
        let pair = try Pair(waits: false)
        _ = try pair.begin()
        pair.feed(0..<4)
        #expect(!pair.streams.step())
        pair.streamStore.refuse { $0.hasSuffix(".m3u8") }
        pair.end()
        pair.streams.finish()
        for _ in 0..<3 { #expect(!pair.streams.step()) }
        #expect(!pair.streamStore.text("720p.m3u8").contains("#EXT-X-ENDLIST"))
        pair.streamStore.refuse { _ in false }
        #expect(pair.streams.step())
        let list = pair.list
        #expect(list.count("#EXT-X-ENDLIST") == 1 && list.uris.count == 4 && list.count("#EXT-X-GAP") == 0)
        #expect(pair.reports.count == 2 && pair.reports[0] != nil && pair.reports[1] == nil, "\(pair.reports)")
    }

    @Test("an MPEG-TS segment that cannot be written is a gap; the next one is marked discontinuous")
    func refused() throws {
        let pair = try Pair()
        pair.streamStore.refuse { $0 == "720p-1-3.ts" }
        _ = try pair.begin()
        pair.feed(0..<7)
        pair.end()
        let list = pair.list
        #expect(list.uris.count == 7 && list.count("#EXT-X-GAP") == 1)
        #expect(list.tags(before: "720p-1-3.ts").contains("#EXT-X-GAP"))
        #expect(pair.reports.count == 2 && pair.reports[0] != nil && pair.reports[1] == nil, "\(pair.reports)")
        let marks = try [0, 1, 2, 4, 5, 6].map { try pair.isMarked("720p-1-\($0).ts") }
        #expect(marks == [true, false, false, true, false, false])
    }

    @Test(
        "a successor keeps its predecessor's MPEG-TS segments and makes empty or truncated ones again; files of another room are removed"
    )
    func successor() throws {
        let first = try Pair()
        let foreign = "#EXTM3U\n720p-9-1.ts\n../720p-9-2.ts\n"
        for name in ["720p-1-0.ts", "720p-9-1.ts"] {
            try first.streamStore.put(name, [.init([1, 2, 3])], durable: false)
        }
        try first.streamStore.put("720p.m3u8", [.init(Array(foreign.utf8))], durable: false)
        _ = try first.begin()
        first.feed(0..<4)
        first.end(endlist: false)
        #expect(first.streamStore.read("720p-9-1.ts") == nil)
        #expect(first.streamStore.read("720p-1-0.ts")?.first == 0x47)
        // A worker that makes it again would write other bytes.
        let kept = try #require(first.streamStore.read("720p-1-0.ts")) + [UInt8](repeating: 0x47, count: 188)
        try first.streamStore.put("720p-1-0.ts", [.init(kept)], durable: false)
        // After a machine crash one of them is empty, and another is truncated.
        let cut = try #require(first.streamStore.read("720p-1-2.ts")).prefix(500)
        try first.streamStore.put("720p-1-1.ts", [], durable: false)
        try first.streamStore.put("720p-1-2.ts", [.init(Array(cut))], durable: false)
        let second = try Pair(first.store, first.streamStore)
        let start = try second.begin(now: Output.origin + 9_000_000_000) / 64
        second.feed(start..<(start + 4))
        second.end()
        #expect(first.streamStore.read("720p-1-0.ts") == kept)
        for name in ["720p-1-1.ts", "720p-1-2.ts"] {
            let made = try #require(first.streamStore.read(name))
            #expect(made.count > 500 && made.count.isMultiple(of: 188), "\(name)")
        }
        let list = second.list
        let fragments = ListText(second.store.text("720p.m3u8"))
        #expect(list.uris == fragments.uris.map { $0.replacing(".m4s", with: ".ts") })
        #expect(list.count("#EXT-X-DISCONTINUITY") == fragments.count("#EXT-X-DISCONTINUITY"))
        let own = try #require(list.uris.first { $0.hasPrefix("720p-2-") && second.streamStore.read($0) != nil })
        #expect(try second.isMarked(own))
        #expect(second.reports.isEmpty, "\(second.reports)")
    }

    @Test("a successor keeps unlisted files as long as clients may request them: rfc8216bis §6.2.2")
    func retained() throws {
        let first = try Pair { $0.windowSeconds = 12 }
        _ = try first.begin()
        first.feed(0..<12)
        first.end(endlist: false)
        let left = "720p-1-0.ts"
        let shown = try #require(first.streams.object(named: left))
        #expect(!first.list.uris.contains(left) && first.list.uris.count > 3)
        let second = try Pair(first.store, first.streamStore) { $0.windowSeconds = 12 }
        let start = try second.begin(now: Output.origin + 26_000_000_000) / 64
        #expect(second.streams.object(named: left) == shown)
        second.feed(start..<(start + 12))
        #expect(second.streams.object(named: left) == nil && second.streamStore.read(left) == nil)
    }

    @Test("when disk space is short, the MPEG-TS playlist is shortened like the fMP4 output's, and files are removed")
    func short() throws {
        let pair = try Pair()
        _ = try pair.begin()
        pair.feed(0..<20)
        let before = pair.list.uris
        #expect(before.count >= 19)
        pair.output.packager.limitWindow(to: 5)
        pair.feed(20..<32)
        #expect(pair.list.uris.count == 5)
        #expect(pair.list.mediaSequence == ListText(pair.store.text("720p.m3u8")).mediaSequence)
        #expect(before.prefix(15).allSatisfy { pair.streamStore.read($0) == nil })
        #expect(pair.list.uris.allSatisfy { pair.streamStore.read($0) != nil })
        pair.output.packager.limitWindow(to: nil)
        pair.feed(32..<40)
        #expect(pair.list.uris.count == 13)
    }

    @Test("MPEG-TS files that could not be deleted are deleted once the store permits it")
    func stuck() throws {
        let pair = try Pair()
        _ = try pair.begin()
        pair.feed(0..<20)
        let before = pair.list.uris.prefix(15)
        pair.streamStore.content.withLock { $0.isStuck = true }
        pair.output.packager.limitWindow(to: 5)
        pair.feed(20..<32)
        #expect(before.allSatisfy { pair.streamStore.read($0) != nil && pair.streams.object(named: $0) == nil })
        pair.streamStore.content.withLock { $0.isStuck = false }
        pair.feed(32..<34)
        #expect(before.allSatisfy { pair.streamStore.read($0) == nil })
        #expect(pair.reports.count == 2 && pair.reports[0] != nil && pair.reports[1] == nil, "\(pair.reports)")
    }

    @Test("in an emptied directory the MPEG-TS playlists are written again, with gaps for lost segments")
    func emptied() throws {
        let pair = try Pair()
        _ = try pair.begin()
        pair.feed(0..<4)
        let before = pair.list.uris
        try #require(before.count >= 3 && pair.streamStore.contains("index.m3u8"))
        let note = pair.streamStore.files.keys.filter { !$0.hasSuffix(".ts") && !$0.hasSuffix(".m3u8") }
        pair.streamStore.content.withLock { $0.files = [:] }
        pair.feed(4..<6)
        #expect(pair.streamStore.text("index.m3u8").contains("720p.m3u8"))
        #expect(pair.list.uris.starts(with: before) && pair.list.uris.count == before.count + 2)
        #expect(pair.list.count("#EXT-X-GAP") == before.count)
        for uri in pair.list.uris.suffix(2) { #expect(pair.streamStore.contains(uri)) }
        for name in note { #expect(pair.streamStore.contains(name), "a successor trusts the files") }
        #expect(pair.streams.loss.segments == Int64(before.count))
        let reports = pair.reports
        #expect(reports.count == 2 && reports.first.map { $0 != nil } == true && reports.last.map { $0 == nil } == true)
    }
}
