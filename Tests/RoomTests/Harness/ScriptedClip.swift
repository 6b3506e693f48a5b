import LibAV
import MediaTypes
import Push
import RTMP
import Synchronization
import TestSupport

/// What scripted publishers send: one second of small H.264 frames that starts with a key frame, in a loop.
enum ScriptedClip {
    /// What the frames show. Each appearance is encoded once per process.
    struct Appearance: Sendable, Hashable {
        /// Luma behind the moving white square, which has a luma of 235.
        let background: UInt8
        /// Random blocks instead, which change with every frame: an encoder uses all the bits it may on them.
        var isNoise = false

        static let dark = Appearance(background: 16)
        static let light = Appearance(background: 128)
        static let bright = Appearance(background: 190)
        static let noise = Appearance(background: 128, isNoise: true)

        /// The encoded frames and their configuration.
        var clip: Clip { get throws { try ScriptedClip.clip(self) } }
    }

    typealias Clip = (configuration: CodecParameters, frames: [CodedPacket])

    /// Frames per second.
    static let fps: Int64 = 10

    private static let clips = Mutex<[Appearance: Clip]>([:])

    private static func clip(_ appearance: Appearance) throws -> Clip {
        if let clip = self.clips.withLock({ $0[appearance] }) { return clip }
        let clip = try self.encode(appearance)
        self.clips.withLock { $0[appearance] = clip }
        return clip
    }

    private static func encode(_ appearance: Appearance) throws -> Clip {
        let bitrate = appearance.isNoise ? 3_000_000 : 100_000
        let encoder = try VideoEncoder.open(
            VideoEncoderSettings(
                width: 160, height: 90, fps: Int(self.fps), preset: "ultrafast", profile: "baseline", bitrate: bitrate,
                maxBitrate: bitrate, bufferSize: bitrate, bFrames: 0, lookaheadFrames: 0, threads: 1),
            place: "test")
        var frames: [CodedPacket] = []
        var random = TestRandom(seed: 1)
        for index in 0..<Int(self.fps) {
            let background = CanvasColor(y: appearance.background, cb: 128, cr: 128)
            var canvas = try PictureCanvas.open(width: 160, height: 90, fill: background)
            if appearance.isNoise {
                self.fillBlocks(&canvas, &random)
            } else {
                canvas.fill(x: index * 12, y: 20, width: 32, height: 32, .white)
            }
            try encoder.encode(canvas.finish(), pts: Int64(index), forceIDR: index == 0) { frames.append($0) }
        }
        try encoder.finish { frames.append($0) }
        guard let record = AVCRecord(annexB: encoder.parameterSets)?.record, frames.count == Int(self.fps) else {
            throw MediaError(.internal, "\(frames.count) frames, or no parameter sets", at: "test", fix: "look at it")
        }
        return (CodecParameters(codec: .h264, configuration: record), frames)
    }

    private static func fillBlocks(_ canvas: inout PictureCanvas, _ random: inout TestRandom) {
        for y in stride(from: 0, to: 88, by: 4) {
            for x in stride(from: 0, to: 160, by: 4) {
                let gray = UInt8.random(in: 20...230, using: &random)
                canvas.fill(x: x, y: y, width: 4, height: 4, CanvasColor(y: gray, cb: 128, cr: 128))
            }
        }
    }

    /// Frame `index` of a publication, as it would arrive over RTMP.
    ///
    /// - Parameter arrival: Time on the machine's clock.
    static func packet(_ index: Int64, _ appearance: Appearance, arrival: Int64) throws -> SourceItem {
        let frames = try appearance.clip.frames
        var packet = frames[Int(index % self.fps)]
        packet.pts = index * 1_000 / self.fps
        packet.dts = packet.pts
        packet.duration = 0
        packet.timescale = 1_000
        packet.arrival = arrival
        return .packet(packet)
    }
}
