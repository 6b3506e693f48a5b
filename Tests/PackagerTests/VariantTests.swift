import HLS
import MediaTypes
import Packager
import Testing

@Suite("Variants: several codings of the sound, sound alone, half the frame rate: rfc8216bis §4.4.6, §6.2.4")
struct VariantTests {
    static func sound(_ name: String, _ bitrate: Int64) -> TrackDescription {
        var track = Output.audio
        (track.name, track.bitrate) = (name, bitrate)
        return track
    }

    static func half(_ name: String) -> TrackDescription {
        var track = Output.video(name)
        track.frameStep = 2
        return track
    }

    static let tracks = [Output.video("720p"), Self.half("360p"), Self.sound("hi", 128_000), Self.sound("lo", 48_000)]

    static func variants(_ text: String) -> [String] {
        let lines = text.split(separator: "\n").map(String.init)
        return zip(lines, lines.dropFirst()).filter { $0.0.hasPrefix("#EXT-X-STREAM-INF") }.map { "\($0.0) \($0.1)" }
    }

    @Test("each coding is a group of its own with the same name; every rendition goes with every one, sound alone last")
    func groups() throws {
        let store = MemoryStore()
        let settings = try Output.settings {
            $0.variants = [
                .init(video: "720p", audio: "hi"), .init(video: "720p", audio: "lo"), .init(video: "360p", audio: "lo"),
                .init(video: nil, audio: "lo"),
            ]
        }
        let output = try Output(store, settings: settings, tracks: Self.tracks)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<128)
        _ = output.packager.step()
        let text = store.text("index.m3u8")
        let media = text.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-MEDIA") }.map(String.init)
        #expect(media.count == 2)
        #expect(
            Set(media.map { $0.replacing("\"hi\"", with: "G").replacing("\"lo\"", with: "G").prefix { $0 != "U" } })
                .count
                == 1, "\(media)")
        let variants = Self.variants(text)
        #expect(
            variants.map { $0.split(separator: " ").last ?? "" } == ["720p.m3u8", "720p.m3u8", "360p.m3u8", "lo.m3u8"])
        #expect(variants[0].contains("AUDIO=\"hi\"") && variants[1].contains("AUDIO=\"lo\""))
        #expect(variants[1].contains("FRAME-RATE=30.000") && variants[2].contains("FRAME-RATE=15.000"))
        #expect(variants[3].contains("CODECS=\"mp4a.40.2\"") && !variants[3].contains("RESOLUTION"))
        #expect(variants.allSatisfy { $0.contains("CLOSED-CAPTIONS=NONE") }, "on all or on none")
        func bandwidth(_ line: String) -> Int { Int(line.split(separator: "BANDWIDTH=")[1].prefix { $0 != "," }) ?? 0 }
        #expect(
            bandwidth(variants[0]) - bandwidth(variants[1]) == 81_600, "the sounds differ by 80,000, declared with 2 %")
        #expect(bandwidth(variants[3]) < 60_000)
    }

    private static func feed(_ output: Output, _ frames: Range<Int64>) {
        for frame in frames {
            for (index, track) in output.tracks.enumerated() {
                if track.kind == .audio {
                    for pts in Output.sounds(frame) { output.packager.receive(track: index, Output.sound(pts)) }
                } else if track.frameStep == 1 || frame % 2 == 0 {
                    output.packager.receive(track: index, Output.picture(frame))
                }
            }
        }
    }

    @Test(
        "a rendition at half the rate has its parts and segments at the same times, as soon as its last picture is there"
    )
    func halfRate() throws {
        let store = MemoryStore()
        let output = try Output(store, tracks: Self.tracks)
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<79)
        func parts(_ list: String) -> [Substring] {
            EdgeTests.tags(viewer.last(list), "#EXT-X-PART:").map { $0.prefix { $0 != "," } }
        }
        #expect(parts("360p.m3u8").count == 5, "its last picture of the part is the one before")
        Self.feed(output, 79..<200)
        _ = output.packager.step()
        func lengths(_ list: String) -> [String] { EdgeTests.tags(viewer.last(list), "#EXTINF") }
        #expect(parts("360p.m3u8") == parts("720p.m3u8") && lengths("360p.m3u8") == lengths("720p.m3u8"))
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("what fits no grid or names no track is refused")
    func refused() throws {
        let grid = try OutputGrid(fps: 30, gopFrames: 30, partFrames: 15)
        let odd = try Output.settings { $0.grid = grid }
        #expect(throws: MediaError.self) { _ = try Output(MemoryStore(), settings: odd, tracks: Self.tracks) }
        let unknown = try Output.settings { $0.variants = [.init(video: "x", audio: nil)] }
        #expect(throws: MediaError.self) { _ = try Output(MemoryStore(), settings: unknown, tracks: Self.tracks) }
        let none = try Output.settings { $0.variants = [] }
        #expect(throws: MediaError.self) { _ = try Output(MemoryStore(), settings: none, tracks: Self.tracks) }
    }
}
