import HLS
import MediaTypes
import Packager
import Testing

@Suite("Codec changes with the canvas: rfc8216bis §4.4.4.3, §4.4.4.5")
struct ConfigurationChangeTests {
    static func changed(_ output: Output, to configuration: [UInt8], height: Int, at tick: Int64) throws {
        for track in output.tracks.indices where output.tracks[track].kind == .video {
            try output.packager.configure(
                track: track, CodecParameters(codec: .h264, configuration: configuration), width: 1280, height: height,
                firstTick: tick)
        }
    }

    @Test(
        "at each change of the canvas, all playlists get a discontinuity and the video a new map, at the same segment")
    func changeAndBack() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<128)
        try Self.changed(output, to: Output.otherH264, height: 360, at: 128)
        output.feed(128..<256)
        try Self.changed(output, to: Output.h264, height: 720, at: 256)
        output.feed(256..<320)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        for name in ["720p.m3u8", "360p.m3u8", "audio.m3u8"] {
            let lines = store.text(name).split(separator: "\n")
            let tags = lines.filter {
                $0.hasPrefix("#EXT-X-MAP") || $0 == "#EXT-X-DISCONTINUITY" || $0.hasSuffix("m4s")
            }
            let isAudio = name == "audio.m3u8"
            let track = name.dropLast(5)
            let first = "#EXT-X-MAP:URI=\"\(track)-1.mp4\""
            let second = "#EXT-X-MAP:URI=\"\(track)-1-\(track == "720p" ? 1 : 2).mp4\""
            let seam = "#EXT-X-DISCONTINUITY"
            let want =
                [first, "\(track)-1-0.m4s", "\(track)-1-1.m4s", seam] + (isAudio ? [] : [second])
                + ["\(track)-1-2.m4s", "\(track)-1-3.m4s", seam] + (isAudio ? [] : [first]) + ["\(track)-1-4.m4s"]
            #expect(tags.map(String.init) == want.map { String($0) }, "\(name)")
        }
        #expect(store.files["720p-1-1.mp4"] != nil && store.files["720p-1-1.mp4"] != store.files["720p-1.mp4"])
        #expect(output.events.failures.isEmpty)
    }

    @Test("a canvas's map that could not be deleted is not deleted later if the room has returned to that canvas")
    func backWhileStuck() throws {
        let store = MemoryStore()
        let output = try Output(
            store,
            settings: try Output.settings {
                $0.windowSeconds = 6
                $0.deleteGraceSeconds = 0
            })
        _ = try output.packager.begin(now: Output.origin)
        store.content.withLock { $0.isStuck = true }
        output.feed(0..<128)
        try Self.changed(output, to: Output.otherH264, height: 360, at: 128)
        output.feed(128..<640)
        #expect(output.packager.step() == nil)
        #expect(!store.text("720p.m3u8").contains("720p-1.mp4") && !store.text("state.json").contains("720p-1.mp4"))
        try Self.changed(output, to: Output.h264, height: 720, at: 640)
        output.feed(640..<704)
        store.content.withLock { $0.isStuck = false }
        #expect(output.packager.step() == nil)
        for track in ["720p", "360p"] {
            #expect(ListText(store.text("\(track).m3u8")).maps.last == "#EXT-X-MAP:URI=\"\(track)-1.mp4\"")
            #expect(store.files["\(track)-1.mp4"] != nil)
            #expect(store.files["\(track)-1-0.m4s"] == nil, "unneeded files were deleted")
        }
    }

    @Test("a change to the same codec configuration adds no discontinuity; a change to an unreadable one is refused")
    func sameAndBroken() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        try Self.changed(output, to: Output.h264, height: 720, at: 64)
        #expect(throws: MediaError.self) { try Self.changed(output, to: [1, 2, 3], height: 720, at: 64) }
        output.feed(64..<128)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        #expect(!store.text("720p.m3u8").contains("#EXT-X-DISCONTINUITY\n"))
        #expect(store.text("720p.m3u8").split(separator: "\n").count { $0.hasPrefix("#EXT-X-MAP") } == 1)
    }

    @Test("a change of the canvas before the first segment adds no discontinuity")
    func first() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        try Self.changed(output, to: Output.otherH264, height: 360, at: 0)
        output.feed(0..<128)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        #expect(!store.text("720p.m3u8").contains("#EXT-X-DISCONTINUITY\n"))
        #expect(store.text("720p.m3u8").contains("#EXT-X-MAP:URI=\"720p-1-1.mp4\""))
    }

    @Test("a successor of a room that was on another canvas lists the map of its own codec configuration")
    func successor() throws {
        let store = MemoryStore()
        let one = try Output(store)
        _ = try one.packager.begin(now: Output.origin)
        one.feed(0..<64)
        try Self.changed(one, to: Output.otherH264, height: 360, at: 64)
        one.feed(64..<128)
        one.packager.finish(endlist: false)
        #expect(one.packager.step() == .drained)
        let two = try Output(store)
        let begin = try two.packager.begin(now: Output.origin + 10 * 1_000_000_000)
        two.feed(begin.firstTick..<begin.firstTick + 128)
        two.packager.finish(endlist: true)
        #expect(two.packager.step() == .ended)
        let maps = store.text("720p.m3u8").split(separator: "\n").filter { $0.hasPrefix("#EXT-X-MAP") }
        #expect(
            maps == [
                "#EXT-X-MAP:URI=\"720p-1.mp4\"", "#EXT-X-MAP:URI=\"720p-1-1.mp4\"", "#EXT-X-MAP:URI=\"720p-1.mp4\"",
            ])
    }
}
