import Foundation
import HLS
import HLSTestKit
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("Several audio bit rates, audio only, half the frame rate: rfc8216bis §4.4.6, §6.2.4")
struct VariantTests {
    static func audioTrack(_ name: String, _ bitrate: Int64) -> TrackDescription {
        var track = Output.audio
        (track.name, track.bitrate) = (name, bitrate)
        return track
    }

    static func half(_ name: String) -> TrackDescription {
        var track = Output.video(name)
        track.frameStep = 2
        return track
    }

    static let tracks = [
        Output.video("720p"), Self.half("360p"), Self.audioTrack("hi", 128_000), Self.audioTrack("lo", 48_000),
    ]

    static func variants(_ text: String) -> [String] {
        let lines = text.split(separator: "\n").map(String.init)
        return zip(lines, lines.dropFirst()).filter { $0.0.hasPrefix("#EXT-X-STREAM-INF") }.map { "\($0.0) \($0.1)" }
    }

    @Test(
        "the audio renditions share one NAME in a group each; variants are listed in the given order, audio only last")
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
            bandwidth(variants[0]) - bandwidth(variants[1]) == 81_600,
            "the audio tracks differ by 80,000, declared with 2 %")
        #expect(bandwidth(variants[3]) < 60_000)
    }

    private static func feed(_ output: Output, _ frames: Range<Int64>) {
        for frame in frames {
            for (index, track) in output.tracks.enumerated() {
                if track.kind == .audio {
                    for pts in Output.audioTimes(frame) {
                        output.packager.receive(track: index, Output.audioPacket(pts))
                    }
                } else if track.frameStep == 1 || frame % 2 == 0 {
                    output.packager.receive(track: index, Output.picture(frame))
                }
            }
        }
    }

    @Test(
        "a rendition at half the frame rate lists parts and segments as long as the others', each part after its own last frame"
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
        #expect(parts("360p.m3u8").count == 5, "its last frame of the part is the one before")
        Self.feed(output, 79..<200)
        _ = output.packager.step()
        func lengths(_ list: String) -> [String] { EdgeTests.tags(viewer.last(list), "#EXTINF") }
        #expect(parts("360p.m3u8") == parts("720p.m3u8") && lengths("360p.m3u8") == lengths("720p.m3u8"))
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test(
        "a half-rate track with odd part lengths, a variant that names no track, and an empty list of variants are refused"
    )
    func refused() throws {
        let grid = try OutputGrid(fps: 30, gopFrames: 30, partFrames: 15)
        let odd = try Output.settings { $0.grid = grid }
        #expect(throws: MediaError.self) { _ = try Output(MemoryStore(), settings: odd, tracks: Self.tracks) }
        let unknown = try Output.settings { $0.variants = [.init(video: "x", audio: nil)] }
        #expect(throws: MediaError.self) { _ = try Output(MemoryStore(), settings: unknown, tracks: Self.tracks) }
        let none = try Output.settings { $0.variants = [] }
        #expect(throws: MediaError.self) { _ = try Output(MemoryStore(), settings: none, tracks: Self.tracks) }
    }

    @Test("BANDWIDTH grows with the measured use of the rate buffer, and is at least the encoder's peak")
    func share() throws {
        func bandwidth(_ share: Int64) throws -> Int {
            let store = MemoryStore()
            var track = Output.video("720p")
            track.bufferShare = share
            let output = try Output(store, tracks: [track, Output.audio])
            _ = try output.packager.begin(now: Output.origin)
            output.feed(0..<64)
            _ = output.packager.step()
            let line = try #require(Self.variants(store.text("index.m3u8")).first)
            return Int(line.split(separator: ":BANDWIDTH=")[1].prefix { $0 != "," }) ?? 0
        }
        let none = try bandwidth(0)
        #expect(none > 2_400_000 + 64_000)
        // 1.03 × 2,400,000 bits over 64 frames at 30 fps.
        #expect(try bandwidth(1_000) - none == 1_158_750)
        #expect(try bandwidth(500) - none == 579_375)
        #expect(try bandwidth(-5) == none)
        #expect(try bandwidth(.max) == bandwidth(1_000))
    }

    @Test("a running room's tracks are read from its directory; ended and empty directories have none")
    func running() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(HLSPackager.running(in: folder) == nil)
        for (hasAudioOnly, isLast) in [(false, false), (true, false), (true, true)] {
            let settings = try Output.settings {
                $0.directory = folder
                $0.variants = [.init(video: "720p", audio: "hi"), .init(video: "360p", audio: "lo")]
                if hasAudioOnly { $0.variants?.append(.init(video: nil, audio: "lo")) }
            }
            let output = try Output(DirectoryStore(directory: folder), settings: settings, tracks: Self.tracks)
            let first = try output.packager.begin(now: Output.origin).firstTick
            output.feed(first..<first + 64)
            output.packager.finish(endlist: isLast)
            #expect(output.packager.step() == (isLast ? .ended : .drained))
            let running = HLSPackager.running(in: folder)
            #expect((running == nil) == isLast)
            guard let running else { continue }
            #expect(running.tracks == ["720p", "360p", "hi", "lo"] && running.hasAudioOnly == hasAudioOnly)
        }
    }

    /// Records the multivariant playlists.
    private final class Keeper: ListingObserver {
        private let texts = Mutex<[String]>([])

        func keep(_ segmentIndex: ListedSegmentSet) {}
        func keep(_ change: DateRange.Change) {}
        func keep(multivariant: String) { self.texts.withLock { $0.append(multivariant) } }
        func ended(nextMediaSequence: Int64) {}
        var last: String { self.texts.withLock { $0.last ?? "" } }
    }

    @Test("BANDWIDTH follows a raised bit rate at once, a lowered one once no segment of the higher rate is listed")
    func rates() throws {
        let store = MemoryStore()
        let keeper = Keeper()
        let output = try Output(store, settings: Output.settings { $0.windowSeconds = 8 }, keeper: keeper)
        let told = Mutex<[BitRates?]>([])
        output.packager.watchListing { listing in
            told.withLock { $0.append(listing.tracks.first { $0.name == "720p" }?.rates) }
            return true
        }
        func bandwidths(_ text: String) -> [Int] {
            Self.variants(text).map { Int($0.split(separator: ":BANDWIDTH=")[1].prefix { $0 != "," }) ?? 0 }
        }
        func bandwidths() -> [Int] { bandwidths(store.text("index.m3u8")) }
        func feed(_ segments: Range<Int64>) {
            output.feed(segments.lowerBound * 64..<segments.upperBound * 64)
            _ = output.packager.step()
        }
        let high = BitRates(bitrate: 4_000_000, maxBitrate: 4_800_000, bufferSize: 4_800_000)
        let low = BitRates(bitrate: 500_000, maxBitrate: 600_000, bufferSize: 600_000)
        // Before the start, as in a room that waits for its first publisher.
        output.packager.declare(BitRates(bitrate: 3_000_000, maxBitrate: 3_600_000, bufferSize: 3_600_000), track: 0)
        _ = try output.packager.begin(now: Output.origin)
        feed(0..<2)
        let first = bandwidths()
        #expect(first.count == 2 && first[0] > first[1] + 1_000_000, "\(first)")
        output.packager.declare(high, track: 0)
        _ = output.packager.step()
        let raised = bandwidths()
        #expect(raised[0] > first[0] + 1_000_000 && raised[1] == first[1], "without a segment: \(raised)")
        #expect(told.withLock { $0.last } == high)
        output.packager.declare(low, track: 0)
        feed(2..<4)
        #expect(bandwidths() == raised, "the listed segments have a higher rate")
        feed(4..<40)
        let lowered = bandwidths()
        #expect(lowered[0] < lowered[1] && lowered[1] == first[1], "\(lowered)")
        #expect(told.withLock { $0.last } == low)
        #expect(bandwidths(keeper.last) == raised, "a recording has every segment")
        #expect(output.events.failures.isEmpty && !store.text("720p.m3u8").contains("EXT-X-DISCONTINUITY\n"))
    }

    @Test("a successor declares no less than the bit rates of segments listed by the worker before")
    func ratesOverRestart() throws {
        let store = MemoryStore()
        let settings = try Output.settings { $0.windowSeconds = 8 }
        func bandwidths(_ text: String) -> [Int] {
            Self.variants(text).map { Int($0.split(separator: ":BANDWIDTH=")[1].prefix { $0 != "," }) ?? 0 }
        }
        let output = try Output(store, settings: settings)
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<64)
        _ = output.packager.step()
        let plain = bandwidths(store.text("index.m3u8"))
        let high = BitRates(bitrate: 4_000_000, maxBitrate: 4_800_000, bufferSize: 4_800_000)
        output.packager.declare(high, track: 0)
        output.feed(64..<320)
        output.packager.finish(endlist: false)
        #expect(output.packager.step() == .drained)
        let raised = bandwidths(store.text("index.m3u8"))
        #expect(raised[0] > plain[0] + 1_000_000 && raised[1] == plain[1])
        // Two workers later, which know only their own rates.
        var keeper = Keeper()
        for _ in 0..<2 {
            keeper = Keeper()
            let next = try Output(store, settings: settings, keeper: keeper)
            let first = try next.packager.begin(now: Output.origin).firstTick
            next.feed(first..<first + 64)
            next.packager.finish(endlist: false)
            #expect(next.packager.step() == .drained)
            #expect(bandwidths(store.text("index.m3u8")) == raised)
        }
        let last = try Output(store, settings: settings, keeper: keeper)
        let first = try last.packager.begin(now: Output.origin).firstTick
        last.feed(first..<first + 64 * 20)
        _ = last.packager.step()
        #expect(bandwidths(store.text("index.m3u8")) == plain, "no segment with the higher rates is listed any more")
        #expect(bandwidths(keeper.last) == raised, "a recording has every segment")
        // Other values in their place are damage.
        let state = store.text("state.json")
        #expect(state.contains("\"rates\": [4000000, 4800000, 4800000]"))
        for wrong in ["[1, 2]", "[1, 2, -3]", "7", "[1, 2, \"3\"]"] {
            let damaged = state.replacing("[4000000, 4800000, 4800000]", with: wrong)
            store.content.withLock { $0.files["state.json"] = Array(damaged.utf8) }
            #expect(throws: MediaError.self) { try Output(store, settings: settings) }
        }
        store.content.withLock {
            $0.files["state.json"] = Array(state.replacing("\"rates\": [4000000, 4800000, 4800000], ", with: "").utf8)
        }
        _ = try Output(store, settings: settings)
    }
}
