import HLS
import MediaTypes
import Packager
import Testing

@Suite("Publishing: rfc8216bis §6.2.1, §6.2.2")
struct PublishingTests {
    @Test("files are written before the playlist that lists them, and the multivariant playlist last")
    func order() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        _ = store.takeLog()
        output.feed(0..<64)
        #expect(output.packager.step() == nil)
        #expect(
            store.takeLog() == [
                "put 720p-1.mp4", "put 720p-1-0.m4s", "put 360p-1.mp4", "put 360p-1-0.m4s", "put audio-1.mp4",
                "put audio-1-0.m4s", "put state.json durable", "put audio.m3u8", "put 720p.m3u8", "put 360p.m3u8",
                "put index.m3u8",
            ])
        output.feed(64..<128)
        #expect(output.packager.step() == nil)
        #expect(
            store.takeLog() == [
                "put 720p-1-1.m4s", "put 360p-1-1.m4s", "put audio-1-1.m4s", "put state.json durable", "put audio.m3u8",
                "put 720p.m3u8", "put 360p.m3u8",
            ], "the multivariant playlist has not changed")
        #expect(output.events.failures.isEmpty)
    }

    @Test("a publish event has the segment's time, duration, size and frames")
    func events() throws {
        let output = try Output(MemoryStore())
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<140)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        let published = output.events.published
        #expect(published.map(\.mediaSequence) == [0, 1, 2])
        #expect(published.map(\.frames) == [0..<64, 64..<128, 128..<140])
        #expect(published[1].programDate == Output.origin + 2_133_333_333)
        #expect(published[2].duration == MediaDuration(ticks: 12, timescale: 30))
        #expect(published.allSatisfy { $0.publishedAt == 77 && $0.bytes.count == 3 })
        #expect(published[0].bytes["720p"] ?? 0 > 6_400)
        #expect(output.events.isEnded)
    }

    @Test(
        "a segment's date is that of its first frame within a nanosecond, also a year after the room's origin",
        arguments: [10, 365 * 86_400] as [Int64])
    func dates(seconds: Int64) throws {
        let store = MemoryStore()
        let first = try Output(store)
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<64)
        #expect(first.packager.step() == nil)
        let second = try Output(store)
        let frame = try second.packager.begin(now: Output.origin + seconds * 1_000_000_000).firstTick
        #expect(frame >= seconds * 30)
        second.feed(frame..<(frame + 192))
        #expect(second.packager.step() == nil)
        let published = second.events.published
        #expect(published.map(\.frames.lowerBound) == [frame, frame + 64, frame + 128])
        for segment in published {
            let exact = Output.origin + Int64(Int128(segment.frames.lowerBound) * 1_000_000_000 / 30)
            #expect(abs(segment.programDate - exact) <= 1)
        }
    }

    @Test("the end is written in every playlist, and audio ends with video")
    func end() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<100)
        output.feed(100..<110, only: [2])
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        for name in ["720p", "360p", "audio"] {
            let list = ListText(store.text("\(name).m3u8"))
            #expect(list.lines.last == "#EXT-X-ENDLIST")
            #expect(list.uris == ["\(name)-1-0.m4s", "\(name)-1-1.m4s"])
        }
        #expect(store.text("720p.m3u8").contains("#EXTINF:1.20000,"))
        // 100 frames are 3.33333 s; the last audio frame that starts before is at 156 × 1024.
        #expect(store.text("audio.m3u8").contains("#EXTINF:1.21600,"))
        #expect(store.text("state.json").contains("\"ended\": true"))
    }

    @Test("drained playlists stay open, and end with a whole segment")
    func drain() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<100)
        output.packager.finish(endlist: false)
        #expect(output.packager.step() == .drained)
        #expect(!store.text("720p.m3u8").contains("ENDLIST"))
        #expect(ListText(store.text("720p.m3u8")).uris.count == 1)
        #expect(store.text("state.json").contains("\"ended\": false"))
    }

    @Test("the same packets and origin give the same bytes in every file")
    func deterministic() throws {
        let trees = try (0..<2).map { round in
            let store = MemoryStore()
            let output = try Output(store)
            _ = try output.packager.begin(now: Output.origin)
            // For any pace of the writer.
            if round == 0 {
                output.feed(0..<700)
            } else {
                for frame in Int64(0)..<700 {
                    output.feed(frame..<(frame + 1))
                    _ = output.packager.step()
                }
            }
            output.packager.finish(endlist: true)
            #expect(output.packager.step() == .ended)
            return store.files
        }
        #expect(trees[0] == trees[1])
        #expect(trees[0].count == 3 * 11 + 3 + 3 + 2)
    }

    @Test("over 500 segments every listed file exists at all times, and all others are removed in time")
    func retention() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Output.settings { $0.windowSeconds = 10 })
        _ = try output.packager.begin(now: Output.origin)
        var previous: Int64 = 0
        for segmentIndex in Int64(0)..<500 {
            output.feed((segmentIndex * 64)..<(segmentIndex * 64 + 64), size: 8)
            #expect(output.packager.step() == nil)
            let files = store.files
            var numbers: Set<Int64?> = []
            for name in ["720p", "360p", "audio"] {
                let list = ListText(store.text("\(name).m3u8"))
                #expect(list.uris.allSatisfy { files[$0] != nil && output.packager.object(named: $0) != nil })
                numbers.insert(list.mediaSequence)
                #expect(list.uris.first == "\(name)-1-\(list.mediaSequence ?? -1).m4s")
            }
            #expect(numbers.count == 1)
            let number = numbers.first.flatMap(\.self) ?? -1
            #expect(number >= previous)
            previous = number
            #expect(files.count < 80)
        }
        #expect(previous == 495)
    }

    @Test("an EVENT playlist keeps every segment")
    func event() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Output.settings { $0.playlistType = .event })
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<(64 * 60), size: 8)
        #expect(output.packager.step() == nil)
        let list = ListText(store.text("720p.m3u8"))
        #expect(list.uris.count == 60)
        #expect(list.value("EXT-X-PLAYLIST-TYPE") == "EVENT")
    }

    @Test("viewers get only published files of the directory")
    func objects() throws {
        let output = try Output(MemoryStore())
        _ = try output.packager.begin(now: Output.origin)
        #expect(output.packager.object(named: "index.m3u8") == nil)
        output.feed(0..<64)
        #expect(output.packager.object(named: "720p-1-0.m4s") == nil)
        #expect(output.packager.step() == nil)
        let list = try #require(output.packager.object(named: "720p.m3u8"))
        #expect(list.contentType == "application/vnd.apple.mpegurl")
        #expect(list.cacheControl == "max-age=1")
        #expect(output.packager.object(named: "index.m3u8")?.cacheControl == "max-age=2")
        let segment = try #require(output.packager.object(named: "audio-1-0.m4s"))
        #expect(segment.contentType == "audio/mp4")
        #expect(segment.cacheControl.contains("immutable"))
        guard case .file(let path, let size) = segment.body else {
            Issue.record("segments are files")
            return
        }
        #expect(path == "/memory/audio-1-0.m4s")
        #expect(size == output.events.published.first?.bytes["audio"])
        for name in ["state.json", "", ".", "..", "../state.json", "720p-1-1.m4s", "/etc/passwd", ".720p.m3u8.tmp.1"] {
            #expect(output.packager.object(named: name) == nil)
        }
    }

    @Test(
        "the multivariant playlist of an output with only audio or only video has no EXT-X-MEDIA group",
        arguments: [true, false])
    func singleTrack(isAudio: Bool) throws {
        let store = MemoryStore()
        let output = try Output(store, tracks: [isAudio ? Output.audio : Output.video("v")])
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<80)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        let list = store.text("index.m3u8")
        #expect(!list.contains("EXT-X-MEDIA:"))
        #expect(list.contains(isAudio ? "CODECS=\"mp4a.40.2\"\naudio.m3u8" : "CODECS=\"avc1.64001f\""))
        #expect(list.contains("RESOLUTION") == !isAudio)
        #expect(output.events.published.count == 2)
    }

    @Test(
        "a rendition two segments behind becomes a gap in a live room, and is waited for in a job",
        arguments: [false, true])
    func laggingTrack(waits: Bool) throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Output.settings { $0.waitsForStore = waits })
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        output.feed(64..<256, only: [0, 2])
        #expect(output.packager.step() == nil)
        let list = ListText(store.text("360p.m3u8"))
        #expect(list.count("#EXT-X-GAP") == (waits ? 0 : 1))
        #expect(list.uris.count == (waits ? 1 : 2))
        output.feed(64..<256, only: [1])
        #expect(output.packager.step() == nil)
        let after = ListText(store.text("360p.m3u8"))
        #expect(after.uris.count == 4)
        #expect(after.count("#EXT-X-GAP") == (waits ? 0 : 1))
        #expect(store.files["360p-1-1.m4s"] != nil || !waits)
    }

    @Test("a variant that exceeds its declared BANDWIDTH is reported once")
    func bandwidthAlarm() throws {
        let output = try Output(MemoryStore(), tracks: [Output.video("720p"), Output.audio])
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<192, size: 30_000)
        #expect(output.packager.step() == nil)
        let alarms = output.events.all.compactMap { event -> String? in
            if case .bandwidthExceeded(let track, let measured, let declared) = event, measured > declared {
                track
            } else {
                nil
            }
        }
        #expect(alarms == ["720p"])
    }
}
