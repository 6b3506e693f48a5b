import HLS
import HLSTestKit
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("Subtitle renditions of an output")
struct SubtitleRenditionTests {
    private static func settings(_ change: (inout HLSOutputSettings) -> Void = { _ in }) throws -> HLSOutputSettings {
        try Output.settings {
            $0.subtitles = [SubtitleSettings(name: "en", label: "English", language: "en", isDefault: true)]
            change(&$0)
        }
    }

    private static func add(_ output: Output, _ range: Range<Int64>, _ text: String) throws -> SubtitleCue {
        let cue = SubtitleCue(start: range.lowerBound, end: range.upperBound, text: text)
        let shown = try output.packager.addSubtitles([cue], to: "en", programTime: range.lowerBound, now: 0)
        return try #require(shown?.first)
    }

    /// EXTINF and date lines of a playlist.
    private static func times(_ text: String) -> [String] {
        ListText(text).lines.filter { $0.hasPrefix("#EXTINF") || $0.hasPrefix("#EXT-X-PROGRAM-DATE-TIME") }
    }

    @Test("the rendition lists a segment for each audio segment, with its number, duration and date, without a map")
    func follows() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        _ = try output.packager.begin(now: Output.origin)
        _ = try Self.add(output, 1_000..<3_000, "Hello")
        output.feed(0..<192)
        _ = output.packager.step()
        let list = ListText(store.text("en.m3u8"))
        #expect(list.uris == (0..<3).map { "en-1-\($0).vtt" })
        #expect(list.maps.isEmpty && list.mediaSequence == 0 && list.value("EXT-X-VERSION") == "3")
        #expect(Self.times(store.text("en.m3u8")) == Self.times(store.text("audio.m3u8")))
        #expect(store.text("index.m3u8").contains(#"SUBTITLES="subs""#))
        #expect(store.text("en-1-0.vtt").contains("00:00:01.000 --> 00:00:03.000\nHello\n"))
        #expect(store.text("en-1-1.vtt").contains("Hello"))
        #expect(
            store.text("en-1-2.vtt") == "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:04.266,MPEGTS:383940\n\n",
            "\(store.text("en-1-2.vtt"))")
        let object = try #require(output.packager.object(named: "en-1-2.vtt"))
        #expect(object.contentType == "text/vtt" && object.cacheControl.contains("immutable"))
    }

    @Test("without subtitle renditions, no playlist, file or member of the state file has a trace of them")
    func unused() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<128)
        _ = output.packager.step()
        #expect(!store.files.keys.contains { $0.hasSuffix(".vtt") })
        #expect(!store.text("index.m3u8").contains("SUBTITLES") && !store.text("state.json").contains("subtitles"))
        let cue = SubtitleCue(start: 0, end: 1_000, text: "a")
        #expect(try output.packager.addSubtitles([cue], to: "en", programTime: 0, now: 0) == nil)
    }

    @Test(
        "a cue that comes after its segment is listed is shown from the next one on, and listed files keep their bytes")
    func late() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        _ = output.packager.step()
        let before = store.text("en-1-0.vtt")
        let shown = try Self.add(output, 1_000..<4_000, "late")
        #expect(shown.start >= 2_100 && shown.end == 4_000)
        output.feed(64..<128)
        _ = output.packager.step()
        #expect(store.text("en-1-0.vtt") == before)
        #expect(store.text("en-1-1.vtt").contains("late"))
    }

    @Test("the live edge lists whole segments, available before their playlist, with the bytes of the files")
    func liveEdge() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        for segmentIndex in 0..<6 as Range<Int64> {
            _ = try Self.add(output, (segmentIndex * 2_133)..<(segmentIndex * 2_133 + 3_000), "cue \(segmentIndex)")
            output.feed(segmentIndex * 64..<(segmentIndex + 1) * 64)
            _ = output.packager.step()
        }
        let text = viewer.last("en.m3u8")
        #expect(ListText(text).uris == (0..<6).map { "en-1-\($0).vtt" })
        #expect(!text.contains("#EXT-X-PART") && text.contains("CAN-BLOCK-RELOAD=YES"))
        for number in 0..<6 { #expect(viewer.object("en-1-\(number).vtt") == store.read("en-1-\(number).vtt")) }
        // A playlist without parts has no EXT-X-PART-INF.
        let faults = viewer.faults.filter { !$0.hasPrefix("en.m3u8: #EXT-X-PART-INF") }
        #expect(faults.isEmpty, "\(faults)")
    }

    @Test("a store that is down delays no subtitles at the live edge, and gets the same bytes later")
    func slowStore() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        _ = output.packager.step()
        store.refuse { !$0.hasPrefix("edge") }
        output.feed(64..<144)
        #expect(viewer.last("en.m3u8").contains("en-1-1.vtt"))
        let cue = try Self.add(output, 2_200..<4_000, "late")
        #expect(cue.start > 4_200)
        store.refuse { _ in false }
        _ = output.packager.step()
        #expect(store.read("en-1-1.vtt") == viewer.object("en-1-1.vtt"))
    }

    @Test(
        "after a store has hung for 70 segments, the last 32 have the bytes of the live edge, and the earlier ones are gaps"
    )
    func hungStore() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings { $0.windowSeconds = 600 })
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        _ = output.packager.step()
        // The writer does not return from the store meanwhile.
        for segmentIndex in 1...70 as ClosedRange<Int64> {
            _ = try Self.add(output, (segmentIndex * 2_134)..<(segmentIndex * 2_134 + 1_000), "cue \(segmentIndex)")
            output.feed(segmentIndex * 64..<(segmentIndex + 1) * 64, size: 8)
        }
        let shown = (1..<70).map { viewer.object("en-1-\($0).vtt") }
        _ = output.packager.step()
        let list = ListText(store.text("en.m3u8"))
        #expect(list.uris.suffix(70) == (1...70).map { "en-1-\($0).vtt" } && list.count("#EXT-X-GAP") == 38)
        for number in 1..<70 {
            let name = "en-1-\(number).vtt"
            #expect(list.tags(before: name).contains("#EXT-X-GAP") == (number <= 38))
            guard number > 38 else {
                #expect(store.read(name) == nil, "\(name)")
                continue
            }
            let bytes = try #require(shown[number - 1], "\(name)")
            #expect(String(decoding: bytes, as: UTF8.self).contains("cue \(number)"))
            #expect(store.read(name) == bytes, "\(name)")
        }
        #expect(store.text("en-1-70.vtt").contains("cue 70"))
    }

    @Test("a successor continues the numbers, and its viewers find the earlier segments")
    func successor() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings())
        _ = try first.packager.begin(now: Output.origin)
        _ = try Self.add(first, 100..<2_000, "before")
        first.feed(0..<192)
        _ = first.packager.step()
        let second = try Output(store, settings: Self.settings())
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        #expect(second.packager.object(named: "en-1-0.vtt") != nil)
        let cue = try Self.add(second, 5_000..<10_000, "after")
        #expect(cue.start == 8_533 && cue.end == 10_000, "no segment has the time before the successor")
        second.feed(256..<384)
        _ = second.packager.step()
        let list = ListText(store.text("en.m3u8"))
        #expect(list.uris == (0..<3).map { "en-1-\($0).vtt" } + (3..<5).map { "en-2-\($0).vtt" })
        #expect(list.tags(before: "en-2-3.vtt").contains("#EXT-X-DISCONTINUITY"))
        #expect(list.count("#EXT-X-GAP") == 0)
        #expect(store.text("en-1-0.vtt").contains("before") && store.text("en-2-3.vtt").contains("after"))
    }

    @Test(
        "subtitle segments that only the live edge of a killed worker has listed keep their bytes; one without a file becomes a gap",
        arguments: [true, false])
    func killed(hasFile: Bool) throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings())
        let viewer = EdgeViewer()
        first.packager.attach(viewer.take)
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<64)
        _ = first.packager.step()
        _ = try Self.add(first, 2_500..<3_500, "killed")
        store.refuse { $0 == "state.json" || (!hasFile && $0.hasSuffix(".vtt")) }
        first.feed(64..<144)
        _ = first.packager.step()
        let listed = try #require(viewer.object("en-1-1.vtt"))
        #expect(String(decoding: listed, as: UTF8.self).contains("killed"))
        store.refuse { _ in false }
        let second = try Output(store, settings: Self.settings())
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        second.feed(256..<320)
        _ = second.packager.step()
        let list = ListText(store.text("en.m3u8"))
        #expect(list.uris.contains("en-1-1.vtt"))
        #expect(list.tags(before: "en-1-1.vtt").contains("#EXT-X-GAP") != hasFile)
        #expect(store.read("en-1-1.vtt") == (hasFile ? listed : nil))
    }

    @Test("a room that gets subtitles with its second worker lists them from then on, with the same numbers")
    func added() throws {
        let store = MemoryStore()
        let first = try Output(store)
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<192)
        _ = first.packager.step()
        for run in 2...3 as ClosedRange<Int64> {
            let next = try Output(store, settings: Self.settings())
            let tick = try next.packager.begin(now: Output.origin + (run - 1) * 8_000_000_000).firstTick
            next.feed(tick..<(tick + 128))
            _ = next.packager.step()
            let list = ListText(store.text("en.m3u8"))
            #expect(list.mediaSequence == 3)
            #expect(list.uris.first == "en-2-3.vtt" && list.count("#EXT-X-GAP") == 0)
            #expect(list.value("EXT-X-DISCONTINUITY-SEQUENCE") == "0")
        }
    }

    /// Subtitle segments in a store.
    private static func segments(_ store: MemoryStore, _ start: String = "en-") -> Set<String> {
        Set(store.files.keys.filter { $0.hasPrefix(start) && $0.hasSuffix(".vtt") })
    }

    private static func feed(_ output: Output, from tick: Int64, segments: Int64) {
        for segmentIndex in 0..<segments {
            output.feed(tick + segmentIndex * 64..<tick + (segmentIndex + 1) * 64, size: 8)
            _ = output.packager.step()
        }
    }

    @Test(
        "the segments of a rendition that the room no longer has stay until those of the audio are deleted, its playlists do not",
        arguments: [60, 3_600])
    func removed(windowSeconds: Int) throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings { $0.windowSeconds = windowSeconds })
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, from: 0, segments: 40)
        let files = Self.segments(store)
        #expect(files.count > 30)
        var start: Int64 = 0
        var last = first
        // The second worker without the rendition knows its segments from the state file of the first one without it.
        for run in 1...2 as ClosedRange<Int64> {
            last = try Output(store, settings: Output.settings { $0.windowSeconds = windowSeconds })
            start = try last.packager.begin(now: Output.origin + run * 90_000_000_000).firstTick
            #expect(!store.files.keys.contains { $0.hasPrefix("en") && $0.hasSuffix(".m3u8") })
            let kept = files.filter { name in
                store.files.keys.contains("audio-1-\(name.dropFirst(5).dropLast(4)).m4s")
            }
            #expect(Self.segments(store) == kept && (run == 2 || !kept.isEmpty))
            let packager = last.packager
            #expect(kept.allSatisfy { packager.object(named: $0) != nil })
            Self.feed(last, from: start, segments: 2)
            start += 128
        }
        if windowSeconds == 60 {
            Self.feed(last, from: start, segments: 120)
            #expect(Self.segments(store).isEmpty)
        } else {
            last.packager.finish(endlist: true)
            _ = last.packager.step()
            _ = try Output(store, settings: Output.settings { $0.newSession = true })
            #expect(Self.segments(store).isEmpty)
        }
    }

    @Test(
        "if no audio rendition keeps its name, subtitles begin anew, and earlier ones stay as long as the audio of their time"
    )
    func renamedAudio() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings { $0.windowSeconds = 60 })
        _ = try first.packager.begin(now: Output.origin)
        _ = try Self.add(first, 100..<2_000, "before")
        first.feed(0..<192)
        _ = first.packager.step()
        var audio = Output.audio
        audio.name = "sound"
        let second = try Output(
            store, settings: Self.settings { $0.windowSeconds = 60 },
            tracks: [Output.video("720p"), Output.video("360p"), audio])
        let start = try second.packager.begin(now: Output.origin + 8_000_000_000).firstTick
        #expect((0..<3).allSatisfy { second.packager.object(named: "en-1-\($0).vtt") != nil })
        Self.feed(second, from: start, segments: 2)
        let list = ListText(store.text("en.m3u8"))
        #expect(list.uris == ["en-2-3.vtt", "en-2-4.vtt"] && list.mediaSequence == 3)
        #expect(Self.times(store.text("en.m3u8")) == Self.times(store.text("sound.m3u8")))
        #expect(store.text("en-1-0.vtt").contains("before"))
        Self.feed(second, from: start + 128, segments: 120)
        #expect(Self.segments(store, "en-1-").isEmpty && !store.contains("audio-1-0.m4s"))
        #expect(!Self.segments(store, "en-2-").isEmpty)
    }

    @Test(
        "if another audio rendition is put before the first one, subtitles continue with the segments of the same one")
    func otherAudioFirst() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings())
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<192)
        _ = first.packager.step()
        var other = Output.audio
        other.name = "another"
        let second = try Output(
            store, settings: Self.settings(), tracks: [Output.video("720p"), Output.video("360p"), other, Output.audio])
        let start = try second.packager.begin(now: Output.origin + 8_000_000_000).firstTick
        Self.feed(second, from: start, segments: 2)
        let list = ListText(store.text("en.m3u8"))
        #expect(list.uris == (0..<3).map { "en-1-\($0).vtt" } + (3..<5).map { "en-2-\($0).vtt" })
        #expect(list.count("#EXT-X-GAP") == 0)
    }

    @Test("a missing file of a listed segment becomes a gap")
    func lost() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings())
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<192)
        _ = first.packager.step()
        store.content.withLock { $0.files["en-1-1.vtt"] = nil }
        let second = try Output(store, settings: Self.settings())
        _ = try second.packager.begin(now: Output.origin + 8_000_000_000)
        second.feed(256..<320)
        _ = second.packager.step()
        let list = ListText(store.text("en.m3u8"))
        #expect(list.tags(before: "en-1-1.vtt").contains("#EXT-X-GAP"))
        #expect(list.count("#EXT-X-GAP") == 1)
    }

    @Test("files of segments that left the window are deleted with those of the audio")
    func expired() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings { $0.windowSeconds = 8 })
        _ = try output.packager.begin(now: Output.origin)
        for segmentIndex in 0..<40 as Range<Int64> {
            output.feed(segmentIndex * 64..<(segmentIndex + 1) * 64, size: 8)
            _ = output.packager.step()
        }
        func numbers(_ start: String, _ end: String) -> Set<String> {
            Set(
                store.files.keys.filter { $0.hasPrefix("\(start)-1-") && $0.hasSuffix(end) }
                    .map { String($0.dropFirst(start.count + 3).dropLast(4)) })
        }
        #expect(numbers("en", ".vtt") == numbers("audio", ".m4s"))
        #expect(store.files["en-1-0.vtt"] == nil && output.packager.object(named: "en-1-0.vtt") == nil)
    }

    @Test("the playlists of a long window have the subtitles, and viewers find segments that only these list")
    func wholeWindow() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings { $0.windowSeconds = 3_600 })
        _ = try output.packager.begin(now: Output.origin)
        for segmentIndex in 0..<60 as Range<Int64> {
            output.feed(segmentIndex * 64..<(segmentIndex + 1) * 64, size: 8)
            _ = output.packager.step()
        }
        #expect(store.text("index-dvr.m3u8").contains(#"URI="en-dvr.m3u8""#))
        let list = ListText(store.text("en-dvr.m3u8"))
        #expect(list.uris.first == "en-1-0.vtt" && list.uris.count == ListText(store.text("audio-dvr.m3u8")).uris.count)
        #expect(!ListText(store.text("en.m3u8")).uris.contains("en-1-0.vtt"))
        #expect(output.packager.object(named: "en-1-0.vtt")?.contentType == "text/vtt")
        #expect(output.packager.object(named: "en-1-999.vtt") == nil)
    }

    @Test("a new session removes the files of the ended one")
    func newSession() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings())
        _ = try first.packager.begin(now: Output.origin)
        first.feed(0..<128)
        first.packager.finish(endlist: true)
        _ = first.packager.step()
        #expect(store.text("en.m3u8").hasSuffix("#EXT-X-ENDLIST\n"))
        _ = try Output(store, settings: Output.settings { $0.newSession = true })
        #expect(!store.files.keys.contains { $0.hasPrefix("en") })
    }

    @Test("uploads and recordings do not name the subtitle renditions, whose files they do not have")
    func consumers() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        let texts = Texts()
        output.packager.watchListing { listing in
            texts.add(listing.multivariant)
            return true
        }
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<128)
        _ = output.packager.step()
        let seen = texts.all
        #expect(!seen.isEmpty && !seen.contains { $0.contains("SUBTITLES") })
    }

    @Test(
        "an invalid name, or one that another playlist has, cannot name a subtitle rendition",
        arguments: ["720p", "index", "a/b", ""])
    func names(name: String) throws {
        let settings = try Output.settings {
            $0.subtitles = [SubtitleSettings(name: name, label: "a", language: "en")]
        }
        #expect(throws: MediaError.self) { try Output(MemoryStore(), settings: settings) }
    }
}

/// Collects texts.
private final class Texts: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { self.texts.withLock { $0.append(text) } }
    var all: [String] { self.texts.withLock { $0 } }
}
