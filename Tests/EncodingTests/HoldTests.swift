import Dispatch
import Encoding
import LibAV
import MediaTypes
import Synchronization
import Testing

@Suite("Pictures that are held: encoders change at once")
struct HoldTests {
    private struct Coded: Equatable {
        var pts: Int64
        var dts: Int64
        var isKey: Bool
    }

    private static func rung(_ name: String, width: Int, fps: Int, bFrames: Int, lookahead: Int) -> EncodedRendition {
        EncodedRendition(
            name: name,
            settings: VideoEncoderSettings(
                width: width, height: width * 9 / 16, fps: fps, preset: "veryfast", profile: "high", bitrate: 300_000,
                maxBitrate: 360_000, bufferSize: 360_000, bFrames: bFrames, lookaheadFrames: lookahead, threads: 1),
            frameStep: 30 / fps)
    }

    @Test(
        "what the encoder looks ahead at is given up: its ticks are coded again by the sibling, each once, from an IDR picture on; the grid stays"
    )
    func atOnce() throws {
        let coded = Mutex<[Int: [Coded]]>([:])
        let entered = DispatchSemaphore(value: 0)
        var output = EncodingStage.Output(
            packet: { track, packet in
                coded.withLock {
                    $0[track, default: []].append(
                        Coded(pts: packet.pts / 1_000, dts: packet.dts / 1_000, isKey: packet.isKey))
                }
            },
            configuration: { _, _ in Issue.record("the initialization segment stays") }, finished: { _ in },
            failed: { Issue.record($0) })
        output.entered = { _, _ in entered.signal() }
        let ladder = try EncodingStage.open(
            rungs: [
                Self.rung("large", width: 320, fps: 30, bFrames: 0, lookahead: 10),
                Self.rung("half", width: 160, fps: 15, bFrames: 2, lookahead: 5),
            ],
            settings: EncodingStage.Settings(
                width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
                isOffline: false),
            output: output)
        func put(_ ticks: Range<Int64>, _ color: CanvasColor) throws {
            for tick in ticks {
                let picture = try PictureCanvas.open(width: 320, height: 180, fill: color).finish()
                #expect(ladder.put(picture, tick: tick))
            }
        }
        try put(0..<20, .black)
        for _ in 0..<30 { #expect(entered.wait(timeout: .now() + 20) == .success) }
        for track in 0..<2 { ladder.control.setThrifty(true, track: track) }
        ladder.control.holdPictures(before: 40)
        try put(20..<70, .white)
        ladder.finish()
        #expect(ladder.control.cheapTracks == [0, 1])
        let heard = coded.withLock { $0 }
        let (large, half) = (heard[0] ?? [], heard[1] ?? [])
        #expect(large.map(\.pts) == Array(0..<70))
        #expect(large.filter(\.isKey).map(\.pts) == [0, 10, 32, 64])
        for track in [large, half] { #expect(zip(track, track.dropFirst()).allSatisfy { $0.dts < $1.dts }) }
        // Ticks 0, 2, 4 …; a reordered picture whose successor was out already may be missing.
        let shown = half.map(\.pts)
        #expect(Set(shown).count == shown.count && shown.min() == 0 && shown.max() == 34 && shown.count >= 33)
        let keys = half.filter(\.isKey).map(\.pts)
        #expect(keys.count == 4 && keys.first == 0 && keys.suffix(2) == [16, 32], "\(keys)")
        // Nothing of before an IDR picture is shown behind it.
        for (index, picture) in half.enumerated() where picture.isKey {
            #expect(half[..<index].allSatisfy { $0.pts < picture.pts })
            #expect(half[index...].allSatisfy { $0.pts >= picture.pts })
        }
    }
    @Test("an IDR picture that is asked for is the next one, of that rendition alone; the grid stays")
    func askedFor() throws {
        let keys = Mutex<[Int: [Int64]]>([:])
        let entered = DispatchSemaphore(value: 0)
        var output = EncodingStage.Output(
            packet: { track, packet in
                if packet.isKey { keys.withLock { $0[track, default: []].append(packet.pts / 1_000) } }
            },
            configuration: { _, _ in Issue.record("the initialization segment stays") }, finished: { _ in },
            failed: { Issue.record($0) })
        output.entered = { _, _ in entered.signal() }
        let ladder = try EncodingStage.open(
            rungs: [
                Self.rung("large", width: 320, fps: 30, bFrames: 2, lookahead: 5),
                Self.rung("half", width: 160, fps: 15, bFrames: 0, lookahead: 0),
            ],
            settings: EncodingStage.Settings(
                width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [64_000],
                isOffline: false),
            output: output)
        func put(_ ticks: Range<Int64>) throws {
            for tick in ticks {
                #expect(ladder.put(try PictureCanvas.open(width: 320, height: 180, fill: .black).finish(), tick: tick))
            }
        }
        try put(0..<20)
        for _ in 0..<30 { #expect(entered.wait(timeout: .now() + 20) == .success) }
        ladder.control.requestKeyframe(track: 0)
        try put(20..<40)
        ladder.finish()
        let heard = keys.withLock { $0 }
        // The last of the first twenty may not have been coded yet when it was asked.
        #expect(heard[0] == [0, 20, 32] || heard[0] == [0, 19, 32], "\(heard[0])")
        #expect(heard[1] == [0, 16])
    }
}
