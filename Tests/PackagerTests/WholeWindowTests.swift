import HLS
import MediaKernels
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("Windows of more than ten minutes: short live playlists, and playlists of the whole window")
struct WholeWindowTests {
    private static let segmentTicks: Int64 = 64
    private static let lists = ["720p", "360p", "audio"]

    /// A store that counts the bytes that are written to each name.
    private final class CountingStore: SegmentStore {
        let inner = MemoryStore()
        private let written = Mutex<[String: Int]>([:])

        private func count(_ name: String, _ bytes: Int) {
            self.written.withLock { $0[name, default: 0] += bytes }
        }

        /// Bytes written since the last call to the state file, the journal and the live playlists.
        func takeLive() -> Int {
            self.written.withLock { written in
                defer { written = [:] }
                return written.filter { name, _ in
                    name == "state.json" || name.hasSuffix(".journal")
                        || (name.hasSuffix(".m3u8") && !name.contains("-dvr"))
                }.values.reduce(0, +)
            }
        }

        func prepare() throws(MediaError) {}
        func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError) {
            self.count(name, pieces.reduce(0) { $0 + $1.count })
            try self.inner.put(name, pieces, durable: durable)
        }
        func append(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
            guard let old = self.inner.read(name) else {
                throw MediaError(.outputLost, "\(name) does not exist", at: "test", fix: "none")
            }
            self.count(name, bytes.count)
            self.inner.content.withLock { $0.files[name] = old + bytes }
        }
        func remove(_ name: String) throws(MediaError) { try self.inner.remove(name) }
        func read(_ name: String) -> [UInt8]? { self.inner.read(name) }
        func contains(_ name: String) -> Bool { self.inner.contains(name) }
        func path(of name: String) -> String? { self.inner.path(of: name) }
    }

    private static func settings(_ window: Int, iFrames: Bool = false) throws -> HLSOutputSettings {
        try Output.settings {
            $0.windowSeconds = window
            $0.iFramePlaylists = iFrames
        }
    }

    private static func feed(_ output: Output, _ segments: Range<Int64>) {
        for segmentIndex in segments {
            output.feed(segmentIndex * Self.segmentTicks..<(segmentIndex + 1) * Self.segmentTicks, size: 8)
            #expect(output.packager.step() == nil)
        }
    }

    /// Starts a worker with a window of a day in a directory in which another one has listed that many segments.
    private static func afterADay(_ store: CountingStore, segments: Int64) throws -> (Output, next: Int64) {
        let first = try Output(store, settings: Self.settings(86_400))
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<40)
        first.packager.finish(endlist: false)
        #expect(first.packager.step() == .drained)
        // The same as if the worker had run for a day: every segment has the same files and length.
        let state = store.inner.text("state.json")
        let name = "window-1.journal"
        #expect(state.contains("\"journal\": \"\(name)\""))
        let shift = segments - 40
        var journal = ""
        for (track, scale) in [("720p", 64), ("360p", 64), ("audio", 102_400)] as [(String, Int64)] {
            let size = try #require(store.read("\(track)-1-5.m4s")?.count)
            for number in 0..<segments {
                store.inner.content.withLock { files in
                    files.files["\(track)-1-\(number).m4s"] = files.files["\(track)-1-5.m4s"]
                }
                guard number < segments - 29 else { continue }
                let start = number * scale
                journal +=
                    "[\"s\",\"\(track)\",\"\(track)-1.mp4\",[\(number),1,\(start),\(scale),\(size),0,4]]\n"
            }
        }
        store.inner.content.withLock { $0.files[name] = Array(journal.utf8) }
        #expect(shift > 0)
        var text = ""
        for line in state.split(separator: "\n", omittingEmptySubsequences: false) {
            text += Self.shifted(String(line), by: shift) + "\n"
        }
        store.inner.content.withLock { $0.files["state.json"] = Array(text.utf8) }
        let second = try Output(store, settings: Self.settings(86_400))
        let now = Output.origin + segments * Self.segmentTicks * 1_000_000_000 / 30
        let frame = try second.packager.begin(now: now).firstTick
        return (second, (frame + Self.segmentTicks - 1) / Self.segmentTicks)
    }

    /// A line of a state file, as if the worker had listed `shift` segments more before.
    private static func shifted(_ line: String, by shift: Int64) -> String {
        func value(_ key: String, _ step: Int64) -> String? {
            guard line.hasPrefix("\"\(key)\": "), let number = Int64(line.dropFirst(key.count + 4).dropLast()) else {
                return nil
            }
            return "\"\(key)\": \(number + step),"
        }
        if let text = value("nextMediaSequence", shift) ?? value("nextFrame", shift * Self.segmentTicks) { return text }
        guard line.hasPrefix("["), let end = line.lastIndex(of: "]"), line.contains(where: \.isNumber) else {
            return line
        }
        let tail = line[end...]
        var fields = line[line.index(after: line.startIndex)..<end].split(separator: ",").map(String.init)
        guard fields.count >= 7, let number = Int64(fields[0]), let start = Int64(fields[2]) else { return line }
        let isAudio = (Int64(fields[3]) ?? 0) > 1_000
        fields[0] = "\(number + shift)"
        fields[2] = "\(start + shift * (isAudio ? 102_400 : Self.segmentTicks))"
        // The rest of the row, after `]`, may begin another member.
        return "[\(fields.joined(separator: ","))\(tail)"
    }

    @Test(
        "an ended room is listed with the times of its segments, also if the pipeline file has another frame rate since"
    )
    func ended() throws {
        let (store, settings) = (MemoryStore(), try Self.settings(900))
        let output = try Output(store, settings: settings)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<40)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        var other = settings
        other.grid = try OutputGrid(fps: 25)
        let times = try [settings, other].map { settings in
            let listing = try EndedOutput.open(settings, store: store)?
                .listing(["720p": .video, "360p": .video, "audio": .audio])
            return listing?.tracks.map { $0.segments.map { "\($0.start) \($0.duration) \($0.programDate)" } }
        }
        #expect(times[0]?.map(\.count) == [40, 40, 40] && times[1] == times[0])
    }

    @Test(
        "live playlists list the last minute of media; the `-dvr` playlists list the whole window, at most 30 s behind while live"
    )
    func lists() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings(900, iFrames: true))
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<320)
        for name in Self.lists {
            let live = ListText(store.text("\(name).m3u8"))
            let whole = ListText(store.text("\(name)-dvr.m3u8"))
            #expect(live.uris.count == 29 && live.mediaSequence == 291, "\(name)")
            #expect(live.value("EXT-X-TARGETDURATION") == "2" && whole.value("EXT-X-TARGETDURATION") == "30")
            // It is at most 30 s, 14 segments, behind.
            let first = try #require(whole.mediaSequence)
            let last = first + Int64(whole.uris.count)
            #expect((306...320).contains(last) && whole.uris.first == "\(name)-1-\(first).m4s", "\(name)")
            #expect((422...423).contains(whole.uris.count) || whole.mediaSequence == 0, "\(name)")
            for uri in whole.uris {
                #expect(store.contains(uri) && output.packager.object(named: uri) != nil, "\(uri)")
            }
        }
        let frames = ListText(store.text("720p-dvr-iframes.m3u8"))
        #expect(frames.mediaSequence == 0 && frames.lines.contains("#EXT-X-I-FRAMES-ONLY"))
        let variants = store.text("index-dvr.m3u8")
        #expect(variants.contains("720p-dvr.m3u8") && variants.contains("URI=\"audio-dvr.m3u8\""))
        #expect(variants.contains("URI=\"720p-dvr-iframes.m3u8\"") && !variants.contains("\"audio.m3u8\""))
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        let ended = ListText(store.text("720p-dvr.m3u8"))
        #expect(ended.lines.last == "#EXT-X-ENDLIST" && ended.uris.count == 320 && ended.mediaSequence == 0)
    }

    @Test("the file of a segment that left the whole window stays for some time; the oldest files are deleted")
    func deletion() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings(660))
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<900)
        let whole = ListText(store.text("360p-dvr.m3u8"))
        #expect((300...330).contains(whole.uris.count), "\(whole.uris.count)")
        #expect(whole.uris.allSatisfy { store.contains($0) })
        #expect(!store.contains("360p-1-0.m4s") && output.packager.object(named: "360p-1-0.m4s") == nil)
        let media = store.files.keys.filter { $0.hasPrefix("360p-1-") && $0.hasSuffix(".m4s") }
        #expect(media.count < 700, "\(media.count)")
        let unlisted = try #require(whole.mediaSequence) - 1
        #expect(output.packager.object(named: "360p-1-\(unlisted).m4s") != nil, "players may still request it")
        #expect(output.packager.object(named: "360p-2-\(unlisted).m4s") == nil)
    }

    @Test(
        "with a window of a day, state, journal and live playlists take at most twice the bytes per segment of a one-minute window"
    )
    func bytes() throws {
        let minute = CountingStore()
        let short = try Output(minute, settings: Self.settings(60))
        _ = try short.packager.begin(now: Output.origin)
        Self.feed(short, 0..<100)
        _ = minute.takeLive()
        Self.feed(short, 100..<160)
        let bar = minute.takeLive() / 60
        let day = CountingStore()
        let (long, next) = try Self.afterADay(day, segments: 40_500)
        let listed = ListText(day.inner.text("720p.m3u8"))
        Self.feed(long, next..<(next + 40))
        _ = day.takeLive()
        Self.feed(long, (next + 40)..<(next + 100))
        let bytes = day.takeLive() / 60
        print("MEASURED: \(bytes) bytes a segment at a day's window, \(bar) at a minute's")
        #expect(bytes <= 2 * bar, "\(bytes) and \(bar) bytes")
        #expect(long.events.failures.isEmpty && listed.uris.count < 40)
        let whole = ListText(day.inner.text("720p-dvr.m3u8"))
        #expect(whole.uris.count > 40_000 && whole.count("#EXT-X-GAP") == 0, "\(whole.uris.count)")
    }

    @Test("a second worker continues the live playlists and those of the whole window with the same segment names")
    func successor() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings(900, iFrames: true))
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<100)
        first.packager.finish(endlist: false)
        #expect(first.packager.step() == .drained)
        let (live, whole) = (ListText(store.text("720p.m3u8")), ListText(store.text("720p-dvr.m3u8")))
        let second = try Output(store, settings: Self.settings(900, iFrames: true))
        let frame = try second.packager.begin(now: SlateTests.nanoseconds(6_400)).firstTick
        #expect(second.packager.object(named: "720p-1-3.m4s") != nil)
        Self.feed(second, (frame + 63) / 64..<(frame + 63) / 64 + 30)
        let later = ListText(store.text("720p-dvr.m3u8"))
        #expect(later.uris.starts(with: whole.uris) && later.mediaSequence == 0 && later.uris.count > whole.uris.count)
        #expect(try #require(ListText(store.text("720p.m3u8")).mediaSequence) >= #require(live.mediaSequence))
        #expect(!store.contains("window-1.journal") && store.contains("window-2.journal"))
        #expect(ListText(store.text("720p-dvr-iframes.m3u8")).mediaSequence == 0)
    }

    @Test(
        "after a rollback to a version without whole-window playlists, the newer version deletes segments that remained meanwhile"
    )
    func rollback() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings(900))
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<100)
        first.packager.finish(endlist: false)
        #expect(first.packager.step() == .drained)
        let live = ListText(store.text("audio.m3u8"))
        // The previous version does not know the member: its live playlist has the entries of the state file.
        let text = store.text("state.json")
        let start = try #require(text.range(of: "\"archive\": {")?.lowerBound)
        let end = try #require(text.range(of: "]},\n", after: start)?.upperBound)
        let rows = text[end...].split(separator: "\n").filter { $0.hasPrefix("[") && !$0.hasPrefix("[\"") }
        let number = try #require(live.mediaSequence)
        #expect(rows.count == 3 * live.uris.count && rows.first?.hasPrefix("[\(number),") == true)
        store.content.withLock { $0.files["state.json"] = Array((text[..<start] + text[end...]).utf8) }
        let journal = try #require(store.read("window-1.journal"))
        store.content.withLock { $0.files["window-1.journal"] = nil }
        let older = try Output(store, settings: Self.settings(60))
        let frame = try older.packager.begin(now: SlateTests.nanoseconds(6_400)).firstTick
        Self.feed(older, (frame + 63) / 64..<(frame + 63) / 64 + 3)
        #expect(try #require(ListText(store.text("audio.m3u8")).mediaSequence) >= number)
        older.packager.finish(endlist: false)
        _ = older.packager.step()
        #expect(store.contains("720p-1-3.m4s"))
        store.content.withLock { $0.files["window-1.journal"] = journal }
        let newer = try Output(store, settings: Self.settings(900))
        let now = try newer.packager.begin(now: SlateTests.nanoseconds(6_800)).firstTick
        #expect(newer.events.failures.isEmpty && store.contains("720p-1-3.m4s") && !store.contains("window-1.journal"))
        Self.feed(newer, (now + 63) / 64..<(now + 63) / 64 + 40)
        #expect(!store.contains("720p-1-3.m4s") && store.contains("720p-1.mp4"))
        for name in Self.lists {
            for list in ["\(name).m3u8", "\(name)-dvr.m3u8"] {
                #expect(ListText(store.text(list)).uris.allSatisfy { store.contains($0) }, "\(list)")
            }
        }
    }

    @Test("while disk space is short, playlists of the whole window list three target durations, all with their files")
    func limited() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings(900))
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<200)
        output.packager.limitWindow(to: HLSPackager.fewestSegments)
        for segmentIndex in Int64(200)..<260 {
            Self.feed(output, segmentIndex..<segmentIndex + 1)
            let whole = ListText(store.text("720p-dvr.m3u8"))
            #expect(whole.uris.allSatisfy { store.contains($0) }, "\(segmentIndex)")
        }
        // 90 s in segments of 64/30 s.
        #expect(ListText(store.text("720p-dvr.m3u8")).uris.count == 43)
        #expect(ListText(store.text("720p.m3u8")).uris.count == 10)
        #expect(!store.contains("720p-1-0.m4s"))
    }

    @Test("removing the limit of listed segments does not cause an early write of the whole window's playlists")
    func limitRemoved() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings(900))
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<200)
        output.packager.limitWindow(to: HLSPackager.fewestSegments)
        Self.feed(output, 200..<205)
        let limited = store.text("720p-dvr.m3u8")
        output.packager.limitWindow(to: nil)
        // Segments of 64/30 s, and playlists every 30 s.
        Self.feed(output, 205..<207)
        #expect(store.text("720p-dvr.m3u8") == limited)
        Self.feed(output, 207..<220)
        #expect(store.text("720p-dvr.m3u8") != limited)
    }

    @Test("on a full disk, the playlists of the whole window that viewers get list no deleted file")
    func full() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings(900))
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<200)
        store.content.withLock { $0.refusal = .diskFull }
        store.refuse { $0.hasSuffix(".m3u8") || $0.hasSuffix("-200.m4s") }
        output.feed(200 * Self.segmentTicks..<201 * Self.segmentTicks, size: 8)
        _ = output.packager.step()
        #expect(!store.contains("720p-1-0.m4s"))
        for name in Self.lists {
            guard case .bytes(let text)? = output.packager.object(named: "\(name)-dvr.m3u8")?.body else {
                Issue.record("\(name)-dvr.m3u8 is not served")
                continue
            }
            let list = ListText(String(decoding: text, as: UTF8.self))
            #expect(list.uris.count > 40 && list.uris.allSatisfy { store.contains($0) }, "\(name)")
        }
    }

    @Test(
        "if the next worker has a window of 900 s instead of 600 s, its live playlists are short and no segment is lost"
    )
    func upgrade() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Output.settings { $0.windowSeconds = 600 })
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<100)
        first.packager.finish(endlist: false)
        #expect(first.packager.step() == .drained && !store.text("state.json").contains("archive"))
        let before = ListText(store.text("720p.m3u8"))
        #expect(before.uris.count == 100)
        let second = try Output(store, settings: Self.settings(900))
        let frame = try second.packager.begin(now: SlateTests.nanoseconds(6_400)).firstTick
        Self.feed(second, (frame + 63) / 64..<(frame + 63) / 64 + 2)
        #expect(ListText(store.text("720p.m3u8")).uris.count < 40)
        #expect(ListText(store.text("720p-dvr.m3u8")).uris.starts(with: before.uris))
        #expect(before.uris.allSatisfy { second.packager.object(named: $0) != nil })
    }

    @Test(
        "after a kill at any of 59 store operations of a worker with a long window, its successor lists the same segments",
        arguments: 1..<60)
    func kills(operations: Int) throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings(660))
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<60)
        let mortal = KillTests.MortalStore(store, operations: operations)
        first.packager.finish(endlist: false)
        _ = first.packager.step()
        if let second = try? Output(mortal, settings: Self.settings(660)),
            let frame = try? second.packager.begin(now: SlateTests.nanoseconds(60 * 64)).firstTick
        {
            for segmentIndex in (frame + 63) / 64..<(frame + 63) / 64 + 25 where !mortal.isDead {
                second.feed(segmentIndex * 64..<(segmentIndex + 1) * 64)
                _ = second.packager.step()
            }
        }
        let before = Self.lists.map { ListText(store.text("\($0)-dvr.m3u8")) }
        let live = Self.lists.map { ListText(store.text("\($0).m3u8")) }
        let third = try Output(store, settings: Self.settings(660))
        let frame = try third.packager.begin(now: SlateTests.nanoseconds(60 * 64 + 2_000)).firstTick
        Self.feed(third, (frame + 63) / 64..<(frame + 63) / 64 + 2)
        for (index, name) in Self.lists.enumerated() {
            let list = ListText(store.text("\(name)-dvr.m3u8"))
            #expect(list.uris.starts(with: before[index].uris), "\(name): \(before[index].uris.count)")
            #expect(list.mediaSequence == 0 && list.uris.allSatisfy { store.contains($0) }, "\(name)")
            let first = try #require(ListText(store.text("\(name).m3u8")).mediaSequence)
            #expect(try first >= #require(live[index].mediaSequence), "\(name)")
        }
        #expect(store.files.keys.filter { $0.hasSuffix(".journal") }.count == 1, "\(store.files.keys.sorted())")
    }

    @Test("rows of a journal that cannot be written stay in the state file; an incomplete last line is ignored")
    func journal() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings(660))
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<40)
        store.refuse { $0.hasSuffix(".journal") }
        Self.feed(output, 40..<80)
        #expect(!output.events.failures.isEmpty && ListText(store.text("720p.m3u8")).uris.last == "720p-1-79.m4s")
        #expect(store.text("state.json").contains("[\"s\",\"720p\",\"720p-1.mp4\",[30,"))
        store.refuse { _ in false }
        Self.feed(output, 80..<100)
        #expect(!store.text("state.json").contains("[\"s\",\"720p\",\"720p-1.mp4\",[30,"))
        output.packager.finish(endlist: false)
        _ = output.packager.step()
        store.content.withLock { content in
            content.files["window-1.journal", default: []] += Array("[\"s\",\"720p\",\"720p-1".utf8)
        }
        let next = try Output(store, settings: Self.settings(660))
        _ = try next.packager.begin(now: SlateTests.nanoseconds(6_400))
        Self.feed(next, 101..<103)
        #expect(ListText(store.text("720p-dvr.m3u8")).mediaSequence == 0)
    }
}

extension String {
    /// The range of the first occurrence of a text.
    fileprivate func range(of text: String, after start: Index? = nil) -> Range<Index>? {
        var place = start ?? self.startIndex
        while place < self.endIndex {
            if self[place...].hasPrefix(text) { return place..<self.index(place, offsetBy: text.count) }
            place = self.index(after: place)
        }
        return nil
    }
}
