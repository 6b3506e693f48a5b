import Encoding
import LibAV
import MediaTypes
import Synchronization
import Testing

@Suite("Bit rate changes during encoding")
struct RateTests {
    private static let settings = VideoEncoderSettings(
        width: 320, height: 180, fps: 30, preset: "veryfast", profile: "high", bitrate: 600_000, maxBitrate: 660_000,
        bufferSize: 660_000, bFrames: 2, lookaheadFrames: 5, threads: 1)

    /// A moving image that always needs all of its bit rate.
    private static func picture(_ index: Int) throws -> Picture {
        var canvas = try PictureCanvas.open(width: 320, height: 180, fill: .black)
        for rect in 0..<160 {
            let x = (rect * 53 + index * (1 + rect % 7)) % 304, y = (rect * 29 + index * (rect % 5)) % 164
            canvas.fill(
                x: x & ~1, y: y & ~1, width: 16, height: 16,
                CanvasColor(
                    y: UInt8(40 + (rect * 37 + index * 11) % 180), cb: UInt8(60 + rect % 100),
                    cr: UInt8(200 - rect % 100)))
        }
        return canvas.finish()
    }

    @Test(
        "a lower bit rate takes effect while encoding: no frame is lost, IDR frames stay on the GOP grid, parameter sets stay"
    )
    func change() throws {
        let coded = Mutex<[(pts: Int64, dts: Int64, isKey: Bool, bytes: Int)]>([])
        let ladder = try EncodingStage.open(
            renditions: [EncodedRendition(name: "180p", settings: Self.settings)],
            settings: EncodingStage.Settings(
                width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
                isOffline: true),
            output: EncodingStage.Output(
                packet: { track, packet in
                    guard track == 0 else { return }
                    coded.withLock {
                        $0.append((packet.pts / 1_000, packet.dts / 1_000, packet.isKey, packet.range.count))
                    }
                },
                configuration: { _, _ in Issue.record("the initialization segment stays") }, finished: { _ in },
                failed: { Issue.record($0) }))
        let low = BitRates(bitrate: 150_000, maxBitrate: 165_000, bufferSize: 165_000)
        #expect(try ladder.takes(low, track: 0))
        for tick in 0..<224 {
            if tick == 100 { ladder.control.setRates(low, track: 0) }
            #expect(ladder.put(try Self.picture(tick), tick: Int64(tick)))
        }
        ladder.finish()
        let packets = coded.withLock { $0 }
        #expect(packets.map(\.pts).sorted() == Array(0..<224))
        #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.dts < $1.dts })
        #expect(packets.filter(\.isKey).map(\.pts) == [0, 32, 64, 96, 128, 160, 192])
        func bits(_ ticks: Range<Int64>) -> Int {
            packets.filter { ticks.contains($0.pts) }.reduce(0) { $0 + $1.bytes } * 8
        }
        // One and one fifteenth seconds each.
        let (before, after) = (bits(32..<64), bits(192..<224))
        #expect(before > 400_000 && after < 260_000, "\(before) and \(after) bits")
    }

    @Test("a bit rate that needs a higher level, or one for the audio track, is refused")
    func level() throws {
        let ladder = try EncodingStage.open(
            renditions: [EncodedRendition(name: "180p", settings: Self.settings)],
            settings: EncodingStage.Settings(
                width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
                isOffline: true),
            output: EncodingStage.Output(packet: { _, _ in }, finished: { _ in }, failed: { Issue.record($0) }))
        let high = BitRates(bitrate: 8_000_000, maxBitrate: 9_000_000, bufferSize: 9_000_000)
        #expect(try !ladder.takes(high, track: 0))
        #expect(try !ladder.takes(Self.settings.rates, track: 1), "that is the audio")
        #expect(try ladder.takes(Self.settings.rates, track: 0))
        ladder.finish()
    }
}
