import HLS
import MediaTypes
import Packager
import Testing

@Suite("A successor continues the room from its state file: rfc8216bis §6.2.2")
struct ContinuationTests {
    /// A first worker that publishes `segments` segments and is gone.
    private static func firstRun(
        _ store: MemoryStore, segments: Int64 = 3, tracks: [TrackDescription]? = nil,
        change: (inout HLSOutputSettings) -> Void = { _ in }
    ) throws -> Output {
        let output =
            try tracks.map { try Output(store, settings: Output.settings(change), tracks: $0) }
            ?? Output(store, settings: Output.settings(change))
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<(segments * 64))
        _ = output.packager.step()
        return output
    }

    @Test("a new room's first frame is at its start time; a successor's is at the next whole segment")
    func beginning() throws {
        let store = MemoryStore()
        let first = try Output(store)
        #expect(first.packager.incarnation == 1)
        #expect(try first.packager.begin(now: Output.origin) == .init(origin: Output.origin, firstTick: 0))
        let second = try Output(store)
        #expect(second.packager.incarnation == 2)
        #expect(second.packager.origin == Output.origin)
        let beginning = try second.packager.begin(now: Output.origin + 10_000_000_000)
        #expect(beginning == .init(origin: Output.origin, firstTick: 320))
    }

    @Test("after the clock was set back, the successor starts after the last published segment")
    func clockSetBack() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let second = try Output(store)
        #expect(try second.packager.begin(now: Output.origin - 5_000_000_000).firstTick == 192)
    }

    @Test(
        "a successor continues media sequence numbers, reuses the initialization segment and adds a discontinuity to every playlist"
    )
    func continues() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let second = try Output(store)
        let beginning = try second.packager.begin(now: Output.origin + 8_000_000_000)
        #expect(beginning.firstTick == 256)
        #expect(second.packager.object(named: "720p-1-2.m4s") != nil, "viewers of the new worker find the old segments")
        #expect(second.packager.object(named: "720p-1.mp4") != nil)
        second.feed(256..<384)
        _ = second.packager.step()
        for name in ["720p", "360p", "audio"] {
            let list = ListText(store.text("\(name).m3u8"))
            #expect(list.mediaSequence == 0)
            #expect(list.uris == (0..<3).map { "\(name)-1-\($0).m4s" } + (3..<5).map { "\(name)-2-\($0).m4s" })
            #expect(list.count("#EXT-X-DISCONTINUITY") == 1)
            #expect(list.tags(before: "\(name)-2-3.m4s").contains("#EXT-X-DISCONTINUITY"))
            #expect(list.maps == ["#EXT-X-MAP:URI=\"\(name)-1.mp4\""])
        }
        #expect(store.files["720p-2.mp4"] == nil)
        #expect(second.events.published.map(\.mediaSequence) == [3, 4])
        // 256 frames after the origin.
        #expect(store.text("720p.m3u8").contains("2023-11-14T22:13:28.533Z"))
    }

    @Test("a successor's video with another codec configuration gets a map of its own")
    func newMap() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store, tracks: [Output.video("v"), Output.audio])
        let second = try Output(store, tracks: [Output.video("v", Output.otherH264), Output.audio])
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        second.feed(256..<320)
        _ = second.packager.step()
        #expect(ListText(store.text("v.m3u8")).maps == ["#EXT-X-MAP:URI=\"v-1.mp4\"", "#EXT-X-MAP:URI=\"v-2.mp4\""])
        #expect(ListText(store.text("audio.m3u8")).maps.count == 1)
        #expect(store.text("index.m3u8").contains("avc1.42c00d"))
    }

    @Test("a segment truncated by a machine crash becomes a gap", arguments: [0, 100])
    func shortened(left: Int) throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        store.content.withLock { content in
            content.files["360p-1-2.m4s"] = Array((content.files["360p-1-2.m4s"] ?? []).prefix(left))
        }
        let second = try Output(store)
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        second.feed(256..<320)
        #expect(second.packager.step() == nil)
        let list = ListText(store.text("360p.m3u8"))
        #expect(list.tags(before: "360p-1-2.m4s").contains("#EXT-X-GAP") && list.count("#EXT-X-GAP") == 1)
        #expect(!store.text("720p.m3u8").contains("#EXT-X-GAP"))
        #expect(second.packager.object(named: "360p-1-2.m4s") == nil)
    }

    @Test("over ten workers, media sequence and discontinuity sequence numbers never fall")
    func manyRuns() throws {
        let store = MemoryStore()
        var names: [Int64: String] = [:]
        var number: Int64 = 0
        for run in Int64(0)..<10 {
            let output = try Output(store, settings: Output.settings { $0.windowSeconds = 10 })
            let firstTick = try output.packager.begin(now: Output.origin + run * 20_000_000_000).firstTick
            output.feed(firstTick..<(firstTick + 64 * 3))
            output.packager.finish(endlist: false)
            #expect(output.packager.step() == .drained)
            let list = ListText(store.text("360p.m3u8"))
            let first = try #require(list.mediaSequence)
            #expect(first >= number)
            number = first
            for (offset, uri) in list.uris.enumerated() {
                #expect(names[first + Int64(offset), default: uri] == uri)
                names[first + Int64(offset)] = uri
            }
            let before = list.value("EXT-X-DISCONTINUITY-SEQUENCE").flatMap { Int64($0) }
            #expect(before.map { $0 + Int64(list.count("#EXT-X-DISCONTINUITY")) } == run)
        }
        #expect(names.count == 30)
    }

    @Test("a worker that finds a newer incarnation in the state file stops publishing and reports superseded")
    func superseded() throws {
        let store = MemoryStore()
        let first = try Self.firstRun(store)
        let second = try Output(store)
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        let before = store.files
        first.feed(192..<256)
        #expect(first.packager.step() == .superseded)
        #expect(first.events.isSuperseded)
        #expect(store.files == before)
        second.feed(256..<320)
        #expect(second.packager.step() == nil)
        #expect(second.events.failures.isEmpty)
        #expect(second.events.published.map(\.mediaSequence) == [3])
    }

    @Test("a worker that is superseded after it wrote a segment and before it listed it removes the segment's files")
    func supersededInBetween() throws {
        let store = MemoryStore()
        let first = try Self.firstRun(store)
        store.refuse { $0 == "360p-1-3.m4s" }
        first.feed(192..<256)
        #expect(first.packager.step() == nil)
        #expect(store.files["720p-1-3.m4s"] != nil)
        _ = try Output(store)
        first.feed(256..<320)
        #expect(first.packager.step() == .superseded)
        #expect(store.files["720p-1-3.m4s"] == nil)
    }

    @Test("a worker superseded while it writes a segment does not list it")
    func overtakenWhileWriting() throws {
        let store = MemoryStore()
        let first = try Self.firstRun(store)
        let lists = store.text("720p.m3u8")
        store.content.withLock { content in
            content.before = { name in
                guard name == "audio-1-3.m4s" else { return }
                store.content.withLock { $0.before = { _ in } }
                #expect((try? Output(store)) != nil)
            }
        }
        first.feed(192..<256)
        #expect(first.packager.step() == .superseded)
        #expect(store.text("720p.m3u8") == lists)
        #expect(store.text("state.json").contains("\"incarnation\": 2"))
        #expect(store.files.keys.filter { $0.hasSuffix("-1-3.m4s") }.isEmpty)
        #expect(first.packager.object(named: "720p-1-3.m4s") == nil)
    }

    @Test("files that a killed worker wrote and never listed are removed")
    func orphans() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        try store.put("720p-1-3.m4s", [], durable: false)
        try store.put("audio-1-4.m4s", [], durable: false)
        let second = try Output(store)
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        #expect(store.files["720p-1-3.m4s"] == nil)
        #expect(store.files["audio-1-4.m4s"] == nil)
        #expect(store.files["720p-1-2.m4s"] != nil)
    }

    @Test("a listed file that is missing becomes a gap")
    func missingFile() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        try store.remove("360p-1-1.m4s")
        let second = try Output(store)
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        second.feed(256..<320)
        _ = second.packager.step()
        #expect(ListText(store.text("360p.m3u8")).tags(before: "360p-1-1.m4s").contains("#EXT-X-GAP"))
        #expect(ListText(store.text("720p.m3u8")).count("#EXT-X-GAP") == 0)
    }

    @Test("a successor that adds or removes a rendition keeps the others' numbers")
    func changedLadder() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store, tracks: [Output.video("720p"), Output.video("360p"), Output.audio])
        let second = try Output(
            store, settings: Output.settings { $0.windowSeconds = 8 },
            tracks: [Output.video("720p"), Output.video("540p"), Output.audio])
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        #expect(store.files["360p.m3u8"] == nil)
        second.feed(256..<(256 + 64 * 3))
        _ = second.packager.step()
        let list = ListText(store.text("540p.m3u8"))
        #expect(list.mediaSequence == 3)
        #expect(list.uris.first == "540p-2-3.m4s")
        #expect(store.files["360p-1-2.m4s"] != nil, "a client may still be fetching it")
        second.feed((256 + 64 * 3)..<(256 + 64 * 20))
        _ = second.packager.step()
        #expect(store.files.keys.filter { $0.hasPrefix("360p") }.isEmpty)
        let numbers = ["720p", "540p", "audio"].map { ListText(store.text("\($0).m3u8")).mediaSequence }
        #expect(Set(numbers).count == 1)
    }

    @Test("an ended room's directory is refused, unless --new-session starts a new room in it")
    func ended() throws {
        let store = MemoryStore()
        let first = try Self.firstRun(store)
        first.packager.finish(endlist: true)
        #expect(first.packager.step() == .ended)
        let error = #expect(throws: MediaError.self) { try Output(store) }
        #expect(error?.code == .roomExited)
        #expect(error?.fix.contains("--new-session") == true)
        let again = try Output(store, settings: Output.settings { $0.newSession = true })
        #expect(store.files.keys.sorted() == ["state.json"])
        #expect(again.packager.incarnation == 2)
        #expect(try again.packager.begin(now: Output.origin + 1).origin == Output.origin + 1)
        again.feed(0..<64)
        _ = again.packager.step()
        let list = ListText(store.text("720p.m3u8"))
        #expect(list.uris == ["720p-2-0.m4s"])
        #expect(list.count("#EXT-X-DISCONTINUITY") == 0)
        #expect(list.mediaSequence == 0)
    }

    @Test("with --new-session, a room that has not ended is continued")
    func newSessionOfOpenRoom() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let second = try Output(store, settings: Output.settings { $0.newSession = true })
        #expect(second.packager.origin == Output.origin)
    }

    @Test("a room that ended before its first segment can be started again")
    func endedEmpty() throws {
        let store = MemoryStore()
        let first = try Output(store)
        _ = try first.packager.begin(now: Output.origin)
        first.packager.finish(endlist: true)
        #expect(first.packager.step() == .ended)
        #expect(!first.events.isEnded)
        #expect(try Output(store).packager.incarnation == 2)
    }

    @Test("a successor with another frame rate is refused")
    func otherGrid() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let grid = try OutputGrid(fps: 25)
        let error = #expect(throws: MediaError.self) {
            try Output(store, settings: Output.settings { $0.grid = grid })
        }
        #expect(error?.code == .rejected)
        #expect(error?.what.contains("30 fps") == true)
    }

    @Test("a directory with playlists but no state file is refused unless --new-session is given")
    func foreignDirectory() throws {
        let store = MemoryStore()
        try store.put("index.m3u8", [], durable: false)
        #expect(throws: MediaError.self) { try Output(store) }
        #expect(try Output(store, settings: Output.settings { $0.newSession = true }).packager.incarnation == 1)
    }

    @Test(
        "a damaged state file is refused with a remedy and left unchanged",
        arguments: ["", "{}", "not json", "[1]", "{\"version\": 1}"])
    func damaged(text: String) throws {
        let store = MemoryStore()
        try store.put("state.json", [.init(Array(text.utf8))], durable: false)
        let error = #expect(throws: MediaError.self) { try Output(store) }
        #expect(error?.code == .invalidData)
        #expect(error?.fix.contains("directory") == true)
        #expect(store.text("state.json") == text)
    }

    @Test("none of 400 random damages to the state file makes a successor trap", arguments: 0..<400)
    func mutatedState(seed: Int) throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store, segments: 8) { $0.windowSeconds = 6 }
        var bytes = try #require(store.read("state.json"))
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
        for _ in 0...random(4) {
            switch random(4) {
            case 0: bytes[random(bytes.count)] = UInt8(random(256))
            case 1: bytes.removeSubrange(random(bytes.count)...)
            case 2: bytes.insert(contentsOf: Array("9223372036854775807".utf8), at: random(bytes.count + 1))
            default:
                let digit = digits[random(digits.count)]
                if digit < bytes.count { bytes[digit] = UInt8(48 + random(10)) }
            }
            if bytes.isEmpty { bytes = [0] }
        }
        try store.put("state.json", [.init(bytes)], durable: false)
        guard let output = try? Output(store, settings: Output.settings { $0.windowSeconds = 6 }),
            let beginning = try? output.packager.begin(now: Output.origin + 30_000_000_000)
        else { return }
        output.feed(beginning.firstTick..<(beginning.firstTick + 64))
        output.packager.finish(endlist: true)
        #expect(output.packager.step() != nil)
    }
}
