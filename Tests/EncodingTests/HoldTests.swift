import Dispatch
import Encoding
import LibAV
import MediaTypes
import Synchronization
import Testing

@Suite("Overload: faster sibling encoders, dropped backlogs; requested IDR frames")
struct HoldTests {
    private struct Coded: Equatable {
        var pts: Int64
        var dts: Int64
        var isKey: Bool
    }

    private static func rendition(
        _ name: String, width: Int, fps: Int, bFrames: Int, lookahead: Int, frameStep: Int? = nil
    ) -> EncodedRendition {
        EncodedRendition(
            name: name,
            settings: VideoEncoderSettings(
                width: width, height: width * 9 / 16, fps: fps, preset: "veryfast", profile: "high", bitrate: 300_000,
                maxBitrate: 360_000, bufferSize: 360_000, bFrames: bFrames, lookaheadFrames: lookahead, threads: 1),
            frameStep: frameStep ?? 30 / fps)
    }

    @Test(
        "a faster sibling encoder takes over frames in the encoder and the queue, from an IDR frame; IDR frames of the GOP grid stay"
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
            renditions: [
                Self.rendition("large", width: 320, fps: 30, bFrames: 0, lookahead: 10),
                Self.rendition("half", width: 160, fps: 15, bFrames: 2, lookahead: 5),
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
        ladder.control.dropPictures(before: 40, keepsMotion: false)
        try put(20..<70, .white)
        ladder.finish()
        #expect(ladder.control.cheapTracks == [0, 1])
        let heard = coded.withLock { $0 }
        let (large, half) = (heard[0] ?? [], heard[1] ?? [])
        #expect(large.map(\.pts) == Array(0..<70))
        #expect(large.filter(\.isKey).map(\.pts) == [0, 10, 32, 64])
        for track in [large, half] { #expect(zip(track, track.dropFirst()).allSatisfy { $0.dts < $1.dts }) }
        // Ticks 0, 2, 4 …; a reordered frame may be missing if its successor was already out.
        let shown = half.map(\.pts)
        #expect(Set(shown).count == shown.count && shown.min() == 0 && shown.max() == 34 && shown.count >= 33)
        let keys = half.filter(\.isKey).map(\.pts)
        #expect(keys.count == 4 && keys.first == 0 && keys.suffix(2) == [16, 32], "\(keys)")
        // No frame from before an IDR frame is shown after it.
        for (index, picture) in half.enumerated() where picture.isKey {
            #expect(half[..<index].allSatisfy { $0.pts < picture.pts })
            #expect(half[index...].allSatisfy { $0.pts >= picture.pts })
        }
    }

    /// An encoder that also reports which frames repeat the one before.
    private final class Watched: FrameEncoder {
        private let encoder: VideoEncoder
        private let seen: @Sendable (_ tick: Int64, _ isRepeated: Bool) -> Void
        private var last: Picture?

        init(_ encoder: VideoEncoder, seen: @escaping @Sendable (Int64, Bool) -> Void) {
            (self.encoder, self.seen) = (encoder, seen)
        }

        var parameterSets: [UInt8] { self.encoder.parameterSets }

        func encode(
            _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
        ) throws(MediaError) {
            self.seen(pts, picture === self.last)
            self.last = picture
            try self.encoder.encode(picture, pts: pts, forceIDR: forceIDR, forceP: forceP, body)
        }

        func finish(_ body: (CodedPacket) -> Void) throws(MediaError) { try self.encoder.finish(body) }
    }

    @Test(
        "of a dropped backlog, inside the encoder too, every second or fourth frame is shown, and the frames between repeat it",
        arguments: [
            (canvas: 30, frameStep: 1, distance: 4), (canvas: 10, frameStep: 1, distance: 2),
            (canvas: 20, frameStep: 2, distance: 2), (canvas: 50, frameStep: 2, distance: 4),
        ])
    func thinned(canvas: Int, frameStep: Int, distance: Int) throws {
        let step = Int64(frameStep)
        let repeated = Mutex<[Int64: Bool]>([:])
        let entered = DispatchSemaphore(value: 0)
        var output = EncodingStage.Output(
            packet: { _, _ in }, configuration: { _, _ in Issue.record("the initialization segment stays") },
            finished: { _ in }, failed: { Issue.record($0) })
        output.entered = { _, _ in entered.signal() }
        var settings = EncodingStage.Settings(
            width: 320, height: 180, fps: canvas, gopFrames: 90 * frameStep, sampleRate: 48_000,
            audioBitrates: [64_000],
            isOffline: false)
        settings.encoders.video = { settings, place throws(MediaError) in
            Watched(try VideoEncoder.open(settings, place: place)) { tick, isRepeated in
                repeated.withLock { $0[tick] = isRepeated }
            }
        }
        let ladder = try EncodingStage.open(
            renditions: [
                Self.rendition(
                    "only", width: 320, fps: canvas / frameStep, bFrames: 0, lookahead: 10, frameStep: frameStep)
            ], settings: settings, output: output)
        // More canvases than fit into the queue of a low frame rate.
        ladder.setWaits(true)
        func put(frames: Range<Int64>) throws {
            for tick in frames.lowerBound * step..<frames.upperBound * step {
                #expect(ladder.put(try PictureCanvas.open(width: 320, height: 180, fill: .black).finish(), tick: tick))
            }
        }
        try put(frames: 0..<20)
        for _ in 0..<20 { #expect(entered.wait(timeout: .now() + 20) == .success) }
        ladder.control.setThrifty(true, track: 0)
        ladder.control.dropPictures(before: 50 * step, keepsMotion: true)
        try put(frames: 20..<60)
        ladder.finish()
        // The sibling encodes the frames from the tenth on anew, first with the picture of the first one that was kept.
        let kept = (10 + Int64(distance) - 1) / Int64(distance) * Int64(distance)
        let shown = repeated.withLock { $0 }.filter { !$0.value }.keys.sorted()
        #expect(
            shown
                == Array(0..<11) + stride(from: kept + Int64(distance), to: 50, by: distance)
                + Array(50..<60))
    }

    @Test(
        "of a dropped backlog, six to eight frames per second are shown, or the nearest number below",
        arguments: [
            (60, 7.5), (50, 6.25), (48, 6), (30, 7.5), (25, 6.25), (24, 6), (20, 20.0 / 3), (17, 17.0 / 3), (15, 7.5),
            (12, 6), (10, 5), (8, 8), (5, 5), (1, 1),
        ] as [(Int, Double)])
    func framesPerShown(fps: Int, left: Double) {
        #expect(Double(fps) / Double(EncoderControl.framesPerShown(fps: fps)) == left)
    }

    @Test("from 9 to 60 fps, fewer frames of a dropped backlog are shown than it has, each for less than 250 ms")
    func alwaysFewer() {
        for fps in 9...60 {
            let frames = EncoderControl.framesPerShown(fps: fps)
            #expect(frames > 1 && frames * 1_000 < 250 * fps, "\(fps) frames per second: one in \(frames)")
            let isExact = frames * 6 <= fps && fps <= frames * 8
            #expect(isExact != [9, 10, 11, 17].contains(fps), "\(fps) frames per second: one in \(frames)")
        }
    }

    @Test(
        "a requested IDR frame comes at the next frame of that rendition only; IDR frames of the GOP grid stay in place"
    )
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
            renditions: [
                Self.rendition("large", width: 320, fps: 30, bFrames: 2, lookahead: 5),
                Self.rendition("half", width: 160, fps: 15, bFrames: 0, lookahead: 0),
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
        // The last of the first twenty may not have been encoded yet at the request.
        #expect(heard[0] == [0, 20, 32] || heard[0] == [0, 19, 32], "\(heard[0])")
        #expect(heard[1] == [0, 16])
    }
}
