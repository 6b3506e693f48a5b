import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("Segments cut short, and discontinuities: rfc8216bis §4.4.4.3, §6.2.4")
struct CutTests {
    /// Frames with IDR frames only at these positions, in all renditions.
    private static func feed(_ output: Output, _ frames: Range<Int64>, keys: Set<Int64>) {
        for frame in frames {
            for (index, track) in output.tracks.enumerated() {
                guard track.kind == .video else {
                    for pts in Output.audioTimes(frame) {
                        output.packager.receive(track: index, Output.audioPacket(pts))
                    }
                    continue
                }
                var picture = Output.picture(frame)
                picture.isKey = keys.contains(frame)
                output.packager.receive(track: index, picture)
            }
        }
    }

    private static func tags(_ store: MemoryStore, _ name: String) -> [String] {
        store.text(name).split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("#EXT-X-MAP") || $0 == "#EXT-X-DISCONTINUITY" || $0.hasPrefix("#EXTINF")
        }
    }

    private static func recoding(_ configuration: [UInt8]) -> HLSPackager.Recoding {
        HLSPackager.Recoding(
            track: 0, parameters: CodecParameters(codec: .h264, configuration: configuration), width: 1280, height: 720)
    }

    /// Positions of discontinuities, in segments, and the number of segments.
    private static func seams(_ tags: [String]) -> [Int] {
        var count = 0
        var seams: [Int] = []
        for tag in tags {
            if tag.hasPrefix("#EXTINF") { count += 1 } else if tag == "#EXT-X-DISCONTINUITY" { seams.append(count) }
        }
        return seams + [count]
    }

    @Test(
        "if a rendition switches to passthrough and back, all playlists get discontinuities, and only that rendition a new map"
    )
    func passing() throws {
        let store = MemoryStore()
        let output = try Output(store)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<40, keys: [0, 32])
        output.packager.cut(at: 40, isBreak: true, recoding: Self.recoding(Output.otherH264))
        output.packager.beginStream(track: 0, isPlaced: true)
        Self.feed(output, 40..<100, keys: [40])
        output.packager.cut(at: 100, isBreak: false)
        Self.feed(output, 100..<130, keys: [100])
        output.packager.cut(at: 130, isBreak: true, recoding: Self.recoding(Output.h264))
        output.packager.beginStream(track: 0, isPlaced: false)
        Self.feed(output, 130..<258, keys: [130, 162, 194, 226])
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        let seam = "#EXT-X-DISCONTINUITY"
        func lengths(_ first: String, _ second: String) -> [String] {
            [first, "#EXTINF:1.33333,", seam, second, "#EXTINF:2.00000,", "#EXTINF:1.00000,", seam, first]
                + ["#EXTINF:2.13334,", "#EXTINF:2.13333,"]
        }
        let wide = Self.tags(store, "720p.m3u8")
        let (first, second) = ("#EXT-X-MAP:URI=\"720p-1.mp4\"", "#EXT-X-MAP:URI=\"720p-1-1.mp4\"")
        #expect(wide.map { $0.prefix(12) } == lengths(first, second).map { $0.prefix(12) })
        #expect(wide.filter { $0.hasPrefix("#EXT-X-MAP") } == [first, second, first])
        for name in ["360p.m3u8", "audio.m3u8"] {
            let own = Self.tags(store, name)
            #expect(own.filter { $0.hasPrefix("#EXT-X-MAP") }.count == 1, "\(name)")
            #expect(Self.seams(own) == Self.seams(wide), "\(name)")
        }
        #expect(!store.text("720p.m3u8").contains("#EXT-X-GAP") && output.events.failures.isEmpty)
        #expect(output.events.published.map(\.frames) == [0..<40, 40..<100, 100..<130, 130..<194, 194..<258])
    }

    @Test(
        "a codec change in a rendition that lags by a part gives one discontinuity per playlist, no gap, and a hint with the new map"
    )
    func edge() throws {
        let store = MemoryStore()
        let output = try Output(store)
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<128, keys: [0, 32, 64, 96])
        _ = output.packager.step()
        Self.feed(output, 128..<160, keys: [128])
        output.packager.cut(at: 160, isBreak: true, recoding: Self.recoding(Output.otherH264))
        // The smaller rendition and the audio are one part ahead when the other rendition's configuration arrives.
        for frame in Int64(160)..<180 {
            var picture = Output.picture(frame)
            picture.isKey = frame == 160
            output.packager.receive(track: 1, picture)
            for pts in Output.audioTimes(frame) { output.packager.receive(track: 2, Output.audioPacket(pts)) }
        }
        // Repeated with the first packet.
        try output.packager.configure(
            track: 0, CodecParameters(codec: .h264, configuration: Output.otherH264), width: 1280, height: 720,
            firstTick: 160)
        output.packager.beginStream(track: 0, isPlaced: true)
        for frame in Int64(160)..<230 {
            var picture = Output.picture(frame)
            picture.isKey = frame == 160
            output.packager.receive(track: 0, picture)
        }
        for frame in Int64(180)..<230 {
            output.packager.receive(track: 1, Output.picture(frame == 192 ? 191 : frame))
            for pts in Output.audioTimes(frame) { output.packager.receive(track: 2, Output.audioPacket(pts)) }
        }
        _ = output.packager.step()
        for name in ["720p.m3u8", "360p.m3u8", "audio.m3u8"] {
            let text = store.text(name)
            #expect(!text.contains("#EXT-X-GAP"), "\(name)")
            #expect(text.split(separator: "\n").count { $0 == "#EXT-X-DISCONTINUITY" } == 1, "\(name)")
        }
        #expect(store.text("720p.m3u8").contains("720p-1-1.mp4"))
        // The hint of the segment's first part was given with its own map.
        let hinted = viewer.texts("720p.m3u8").filter { text in
            text.contains("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"720p-1-3.0.m4s\"")
        }
        #expect(!hinted.isEmpty && hinted.allSatisfy { $0.contains("720p-1-1.mp4") })
    }

    @Test("after a drain between two grid segments, all frames are listed and the successor continues")
    func drained() throws {
        let store = MemoryStore()
        let one = try Output(store)
        _ = try one.packager.begin(now: Output.origin)
        Self.feed(one, 0..<60, keys: [0, 32])
        one.packager.cut(at: 60, isBreak: true)
        Self.feed(one, 60..<128, keys: [60, 92, 124])
        one.packager.cut(at: 128, isBreak: false)
        one.packager.finish(endlist: false)
        #expect(one.packager.step() == .drained)
        let two = try Output(store)
        let begin = try two.packager.begin(now: Output.origin + 4_266_000_000)
        #expect(begin.firstTick == 128)
        Self.feed(two, 128..<256, keys: [128, 160, 192, 224])
        two.packager.finish(endlist: true)
        #expect(two.packager.step() == .ended)
        #expect(!store.text("720p.m3u8").contains("#EXT-X-GAP"))
        #expect(store.text("720p.m3u8").split(separator: "\n").count { $0.hasPrefix("#EXTINF") } == 5)
    }

    @Test(
        "after a kill, slate follows the last segment; playlists get a discontinuity before it only if the segment ended off the grid",
        arguments: [64, 60] as [Int64])
    func killed(cut: Int64) throws {
        let store = MemoryStore()
        let one = try Output(store)
        _ = try one.packager.begin(now: Output.origin)
        Self.feed(one, 0..<cut, keys: [0, 32])
        one.packager.cut(at: cut, isBreak: false)
        Self.feed(one, cut..<cut + 64, keys: [cut, cut + 32])
        #expect(one.packager.step() == nil)
        #expect(one.events.published.map(\.frames) == [0..<cut, cut..<cut + 64])
        let two = try Output(store)
        let begin = try two.packager.begin(now: SlateTests.nanoseconds(256), slate: SlateTests.slate())
        #expect(begin.firstTick == 256)
        for name in ["720p.m3u8", "360p.m3u8", "audio.m3u8"] {
            #expect(Self.seams(Self.tags(store, name)) == (cut == 64 ? [4] : [2, 4]), "\(name)")
        }
    }
}
