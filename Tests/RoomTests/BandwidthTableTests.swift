import Foundation
import HLS
import PipelineSpec
import Testing

@Suite("Declared BANDWIDTH compared with measured peaks: rfc8216bis §4.4.6.2")
struct BandwidthTableTests {
    /// A result of `benchmarks/bandwidth.sh`.
    private struct Measurement: Decodable {
        struct Peak: Decodable {
            var preset: String
            /// In pixels.
            var height: Int
            /// Bit rate of the video in bits per second.
            var bitrate: Int64
            /// `noise`, or a clip's name.
            var clip: String
            /// The highest bit rate of any run of segments, video only, in bits per second.
            var peak: Int64
        }

        var peaks: [Peak]
    }

    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("benchmarks/bandwidth.json")
    private static let audio: Int64 = 128_000
    /// Assumed container overhead of two tracks, in bits per second.
    private static let container: Int64 = 10_000

    private static func declared(_ preset: VideoEncoding.Preset, _ bitrate: Int64) throws -> Int64 {
        let video = VideoEncoding(bitrate: Int(bitrate))
        return DeclaredBandwidth(
            videoBitrate: bitrate, videoPeak: Int64(video.maxBitrate),
            videoBuffer: Int64(video.bufferSize) * preset.bufferShare / 1_000, audioBitrate: Self.audio, audioPeak: 0,
            grid: try OutputGrid(fps: 30)
        ).peak
    }

    @Test(
        "the declared BANDWIDTH is at least each clip's measured peak, at most 12 % above the highest; noise exceeds it by at most 25 %",
        arguments: VideoEncoding.Preset.allCases)
    func bars(preset: VideoEncoding.Preset) throws {
        let all = try JSONDecoder().decode(Measurement.self, from: Data(contentsOf: Self.file)).peaks
        let mine = all.filter { $0.preset == preset.rawValue }
        #expect(!mine.isEmpty, "not measured")
        for (height, peaks) in Dictionary(grouping: mine, by: \.height) {
            let bitrate = try #require(peaks.first).bitrate
            let declared = try Self.declared(preset, bitrate)
            let clips = peaks.filter { $0.clip != "noise" }.map { $0.peak + Self.audio + Self.container }
            let noise = try #require(peaks.first { $0.clip == "noise" }).peak + Self.audio + Self.container
            let largest = try #require(clips.max())
            #expect(clips.count >= 5)
            #expect(largest <= declared, "\(height)p")
            #expect(noise * 100 <= declared * 125, "\(height)p")
            #expect(declared * 100 <= largest * 112, "\(height)p: \(declared) for \(largest)")
            #expect(declared >= bitrate * 11 / 10 + Self.audio, "never below the encoder's peak and the audio")
        }
    }

    @Test("the last default rendition is audio only; the last one with video declares at most 350 kbit/s")
    func small() throws {
        let ladder = Rendition.defaultLadder(for: Pipeline.Canvas())
        let last = try #require(ladder.last { !$0.isAudioOnly })
        #expect(try Self.declared(last.video.preset, Int64(last.video.bitrate)) <= 350_000)
        #expect(ladder.last?.isAudioOnly == true)
    }
}
