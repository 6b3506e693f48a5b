import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("Renditions that sleep: rfc8216bis §6.2.2, §6.2.4")
struct SleepTests {
    /// A run in which the second rendition may sleep from frame 192 to frame 384.
    private static func run(
        sleeps: Bool, settings: HLSOutputSettings? = nil, during: (Output) -> Void = { _ in }
    ) throws -> (store: MemoryStore, output: Output, viewer: EdgeViewer) {
        let store = MemoryStore()
        let (output, viewer, _) = try EdgeTests.begun(store, settings: settings)
        output.feed(0..<192)
        #expect(output.packager.step() == nil)
        if sleeps { output.packager.sleep(track: 1, from: 192) }
        output.feed(192..<200, only: sleeps ? [0, 2] : nil)
        during(output)
        output.feed(200..<384, only: sleeps ? [0, 2] : nil)
        #expect(output.packager.step() == nil)
        return (store, output, viewer)
    }

    @Test("a sleeping rendition has an empty playlist, and delays no other")
    func asleep() throws {
        let (store, output, viewer) = try Self.run(sleeps: true)
        let list = ListText(store.text("360p.m3u8"))
        #expect(list.uris.isEmpty && list.mediaSequence == 6)
        #expect(ListText(store.text("720p.m3u8")).uris == (0..<6).map { "720p-1-\($0).m4s" })
        #expect(!store.text("720p.m3u8").contains("#EXT-X-GAP"))
        #expect(viewer.seen.withLock { $0.texts["360p.m3u8"] } == nil)
        #expect(!viewer.names.contains { $0.hasPrefix("360p-1-") }, "its parts and segments are released")
        #expect(output.events.failures.isEmpty && viewer.faults.isEmpty, "\(viewer.faults)")
        #expect(output.events.published.last?.bytes.keys.sorted() == ["720p", "audio"])
    }

    @Test("a rendition that wakes has the same segments, numbers, dates and initialization segment as without sleep")
    func wakes() throws {
        let (slept, one, viewer) = try Self.run(sleeps: true)
        one.packager.wake(track: 1, at: 384)
        #expect(viewer.last("360p.m3u8").isEmpty, "not before its first part")
        let (awake, other, whole) = try Self.run(sleeps: false)
        for output in [one, other] {
            output.feed(384..<400)
            #expect(output.packager.step() == nil)
        }
        let first = viewer.last("360p.m3u8")
        #expect(ListText(first).mediaSequence == 6 && EdgeTests.tags(first, "#EXT-X-PART:").count == 1)
        #expect(ListText(first).uris.isEmpty)
        for output in [one, other] {
            output.feed(400..<592)
            #expect(output.packager.step() == nil)
        }
        #expect(slept.text("720p.m3u8") == awake.text("720p.m3u8"))
        #expect(viewer.last("720p.m3u8") == whole.last("720p.m3u8"))
        let list = ListText(slept.text("360p.m3u8"))
        #expect(list.uris == ["360p-1-6.m4s", "360p-1-7.m4s", "360p-1-8.m4s"])
        for name in list.uris { #expect(slept.files[name] == awake.files[name] && slept.files[name] != nil) }
        let rest = awake.text("360p.m3u8").firstRange(of: "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:32.800Z")
        let tail = rest.map { String(awake.text("360p.m3u8")[$0.lowerBound...]) } ?? "none"
        #expect(slept.text("360p.m3u8").hasSuffix(tail), "\(slept.text("360p.m3u8"))\n\(awake.text("360p.m3u8"))")
        #expect(list.maps == ["#EXT-X-MAP:URI=\"360p-1.mp4\""])
        #expect(!slept.text("360p.m3u8").contains("#EXT-X-DISCONTINUITY\n"))
        #expect(EdgeTests.tags(viewer.last("360p.m3u8"), "#EXT-X-GAP").isEmpty)
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("discontinuities that a rendition has slept through count in its discontinuity sequence")
    func discontinuities() throws {
        let (store, output, viewer) = try Self.run(sleeps: true) { $0.packager.cut(at: 256, isBreak: true) }
        output.packager.wake(track: 1, at: 384)
        output.feed(384..<512)
        #expect(output.packager.step() == nil)
        for text in [store.text("360p.m3u8"), viewer.last("360p.m3u8")] {
            #expect(ListText(text).value("EXT-X-DISCONTINUITY-SEQUENCE") == "1", "\(text)")
            #expect(ListText(text).count("#EXT-X-DISCONTINUITY") == 0)
        }
        #expect(ListText(store.text("720p.m3u8")).count("#EXT-X-DISCONTINUITY") == 1)
    }

    @Test(
        "a rendition that sleeps and wakes at cuts off the grid has the numbers, dates and files of one that does not sleep"
    )
    func cuts() throws {
        func run(sleeps: Bool) throws -> (MemoryStore, EdgeViewer) {
            let store = MemoryStore()
            let (output, viewer, _) = try EdgeTests.begun(store)
            output.feed(0..<160)
            output.packager.cut(at: 160, isBreak: true)
            if sleeps { output.packager.sleep(track: 1, from: 160) }
            output.feed(160..<256, only: sleeps ? [0, 2] : nil)
            output.packager.cut(at: 256, isBreak: false)
            if sleeps { output.packager.wake(track: 1, at: 256) }
            output.feed(256..<288)
            output.packager.cut(at: 288, isBreak: true)
            output.feed(288..<640)
            #expect(output.packager.step() == nil)
            #expect(viewer.faults.isEmpty && output.events.failures.isEmpty, "\(viewer.faults)")
            return (store, viewer)
        }
        let (slept, viewer) = try run(sleeps: true)
        let (awake, whole) = try run(sleeps: false)
        #expect(slept.text("720p.m3u8") == awake.text("720p.m3u8"))
        #expect(viewer.last("720p.m3u8") == whole.last("720p.m3u8"))
        let (list, other) = (ListText(slept.text("360p.m3u8")), ListText(awake.text("360p.m3u8")))
        #expect(list.uris.count >= 5 && other.uris.suffix(list.uris.count) == list.uris[...], "\(list.uris)")
        for name in list.uris { #expect(slept.files[name] == awake.files[name] && slept.files[name] != nil) }
        #expect(list.value("EXT-X-DISCONTINUITY-SEQUENCE") == "1" && list.count("#EXT-X-DISCONTINUITY") == 1)
        #expect(EdgeTests.tags(viewer.last("360p.m3u8"), "#EXT-X-GAP").isEmpty)
    }

    @Test("the files of a rendition that sleeps are deleted when no player can need them any more")
    func deleted() throws {
        let (store, output, _) = try Self.run(
            sleeps: true,
            settings: Output.settings {
                $0.windowSeconds = 6
                $0.deleteGraceSeconds = 0
            })
        #expect(store.files["360p-1-2.m4s"] != nil)
        output.feed(384..<1_024, only: [0, 2])
        #expect(output.packager.step() == nil)
        #expect(!store.files.keys.contains { $0.hasPrefix("360p-1-") })
        #expect(store.files["360p-1.mp4"] != nil, "the initialization segment is used again")
    }

    @Test("a successor knows which rendition slept, and wakes it with the segment numbers of the other renditions")
    func successor() throws {
        let (store, _, _) = try Self.run(sleeps: true)
        let second = try Output(store)
        #expect(second.packager.asleepBefore == ["360p"])
        let viewer = EdgeViewer()
        second.packager.attach(viewer.take)
        let first = try second.packager.begin(now: SlateTests.nanoseconds(400), slate: SlateTests.slate()).firstTick
        second.packager.sleep(track: 1, from: first)
        let wake = (first + 64) / 64 * 64 + 64
        second.feed(first..<wake, only: [0, 2])
        #expect(second.packager.step() == nil)
        #expect(ListText(store.text("360p.m3u8")).uris.isEmpty)
        second.packager.wake(track: 1, at: wake)
        second.feed(wake..<(wake + 192))
        #expect(second.packager.step() == nil)
        let (wide, small) = (ListText(store.text("720p.m3u8")), ListText(store.text("360p.m3u8")))
        #expect(small.uris.count == 3 && wide.uris.suffix(3).map { $0.replacing("720p", with: "360p") } == small.uris)
        #expect(small.maps == ["#EXT-X-MAP:URI=\"360p-1.mp4\""])
        #expect(try Output(store).packager.asleepBefore.isEmpty)
    }

    @Test("while every rendition with video sleeps, audio segments are still published")
    func audioAlone() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try EdgeTests.begun(store)
        output.feed(0..<192)
        for track in 0..<2 { output.packager.sleep(track: track, from: 192) }
        output.feed(192..<384, only: [2])
        #expect(output.packager.step() == nil)
        #expect(ListText(store.text("audio.m3u8")).uris.count == 6)
        output.packager.wake(track: 0, at: 384)
        output.feed(384..<512, only: [0, 2])
        #expect(output.packager.step() == nil)
        #expect(ListText(store.text("720p.m3u8")).uris == ["720p-1-6.m4s", "720p-1-7.m4s"])
        #expect(ListText(viewer.last("720p.m3u8")).mediaSequence == 6)
    }

    @Test("while the first rendition sleeps, a part of the next one shows that a newer worker has claimed the room")
    func superseded() throws {
        let store = MemoryStore()
        let (output, _, _) = try EdgeTests.begun(store)
        output.feed(0..<192)
        output.packager.sleep(track: 0, from: 192)
        #expect(output.packager.step() == nil)
        _ = try Output(store).packager.begin(now: SlateTests.nanoseconds(400))
        output.feed(192..<225, only: [1])
        #expect(output.packager.step() == .superseded)
    }
}
