import LibAV
import MediaTypes
import Push
import RTMP

/// What scripted publishers send: one second of small H.264 frames that begins with a key frame, sent again and again. Encoded once
/// in a process.
enum ScriptedClip {
    /// Frames per second.
    static let fps: Int64 = 10

    static let shared = Result { try Self.encode() }

    static func encode() throws -> (configuration: CodecParameters, frames: [CodedPacket]) {
        let encoder = try VideoEncoder.open(
            VideoEncoderSettings(
                width: 160, height: 90, fps: Int(self.fps), preset: "ultrafast", profile: "baseline", bitrate: 100_000,
                maxBitrate: 100_000, bufferSize: 100_000, bFrames: 0, lookaheadFrames: 0, threads: 1),
            place: "test")
        var frames: [CodedPacket] = []
        for index in 0..<Int(self.fps) {
            var canvas = try PictureCanvas.open(width: 160, height: 90, fill: .black)
            canvas.fill(x: index * 12, y: 20, width: 32, height: 32, .white)
            try encoder.encode(canvas.finish(), pts: Int64(index), forceIDR: index == 0) { frames.append($0) }
        }
        try encoder.finish { frames.append($0) }
        guard let record = AVCConfiguration.record(annexB: encoder.parameterSets), frames.count == Int(self.fps) else {
            throw MediaError(.internal, "\(frames.count) frames, or no parameter sets", at: "test", fix: "look at it")
        }
        return (CodecParameters(codec: .h264, configuration: record), frames)
    }

    /// Frame `index` of a publication as it comes by RTMP.
    ///
    /// - Parameter arrival: On the machine's clock.
    static func packet(_ index: Int64, arrival: Int64) throws -> SourceItem {
        let frames = try self.shared.get().frames
        var packet = frames[Int(index % self.fps)]
        packet.pts = index * 1_000 / self.fps
        packet.dts = packet.pts
        packet.duration = 0
        packet.timescale = 1_000
        packet.arrival = arrival
        return .packet(packet)
    }
}
