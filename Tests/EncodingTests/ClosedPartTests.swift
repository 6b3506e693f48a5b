import Encoding
import LibAV
import MediaTypes
import Synchronization
import Testing

@Suite("Parts of a rendition with B-frames: each contains all frames of its time")
struct ClosedPartTests {
    /// Moving squares, for which B-frames are useful.
    private static func picture(_ index: Int) throws -> Picture {
        var canvas = try PictureCanvas.open(width: 320, height: 180, fill: .black)
        for rect in 0..<40 {
            let x = (rect * 53 + index * (1 + rect % 3)) % 304, y = (rect * 29 + index * (rect % 2)) % 164
            canvas.fill(
                x: x & ~1, y: y & ~1, width: 16, height: 16,
                CanvasColor(y: UInt8(40 + rect * 37 % 180), cb: UInt8(60 + rect % 100), cr: UInt8(200 - rect % 100)))
        }
        return canvas.finish()
    }

    /// Times of a rendition's frames in decode order, in ticks of the room.
    private static func coded(
        preset: String, bFrames: Int, lookahead: Int, fps: Int, step: Int, parts: Int?
    ) throws -> [Int64] {
        let coded = Mutex<[Int64]>([])
        var settings = EncodingStage.Settings(
            width: 320, height: 180, fps: fps, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
            isOffline: true)
        settings.partFrames = parts
        let ladder = try EncodingStage.open(
            renditions: [
                EncodedRendition(
                    name: "180p",
                    settings: VideoEncoderSettings(
                        width: 320, height: 180, fps: fps / step, preset: preset, profile: "high", bitrate: 400_000,
                        maxBitrate: 480_000, bufferSize: 480_000, bFrames: bFrames, lookaheadFrames: lookahead,
                        threads: 1), frameStep: step)
            ], settings: settings,
            output: EncodingStage.Output(
                packet: { track, packet in
                    if track == 0 { coded.withLock { $0.append(packet.pts / 1_000 * Int64(step)) } }
                }, finished: { _ in }, failed: { Issue.record($0) }))
        for tick in 0..<128 { #expect(ladder.put(try Self.picture(tick), tick: Int64(tick))) }
        ladder.finish()
        return coded.withLock { $0 }
    }

    @Test(
        "with B-frames, all frames of a part are sent before any frame of the next, for several presets",
        arguments: [
            ("veryfast", 1, 10, 1), ("veryfast", 2, 5, 1), ("medium", 3, 20, 1), ("veryfast", 3, 40, 2),
            ("ultrafast", 3, 0, 1), ("fast", 2, 18, 2),
        ])
    func closed(preset: String, bFrames: Int, lookahead: Int, step: Int) throws {
        func openParts(_ times: [Int64], _ length: Int) -> Int {
            stride(from: length, to: 128, by: length).count { end in
                times.prefix(end / step).contains { $0 >= end }
            }
        }
        for part in [16, 8] {
            let times = try Self.coded(
                preset: preset, bFrames: bFrames, lookahead: lookahead, fps: 30, step: step, parts: part)
            #expect(times.sorted() == Array(stride(from: Int64(0), to: 128, by: Int64.Stride(step))))
            #expect(times != times.sorted(), "it has B-frames")
            #expect(openParts(times, part) == 0, "\(times)")
        }
    }
}
