import Encoding
import LibAV
import MediaTypes
import Synchronization

/// Encoders that encode nothing and cost next to no CPU time: they hand out packets that were encoded once, a GOP of black frames and
/// silence. What is behind the encoders works as in a real room; what was composed is to be seen in the raw output alone.
enum ScriptedEncoders {
    static let all = LadderEncoders(
        video: { settings, place throws(MediaError) in try Video.open(settings, place) },
        audio: { sampleRate, bitrate, place throws(MediaError) in try Audio.open(sampleRate, bitrate, place) })

    private final class Video: FrameEncoder {
        private typealias Clip = (parameterSets: [UInt8], frames: [CodedPacket])

        /// Frames of the GOP; more than any room's.
        private static let length: Int64 = 64
        private static let clips = Mutex<[VideoEncoderSettings: Clip]>([:])

        private let clip: Clip
        /// Frames since the last IDR frame.
        private var index: Int64 = 0

        private init(_ clip: Clip) { self.clip = clip }

        static func open(_ settings: VideoEncoderSettings, _ place: String) throws(MediaError) -> Video {
            if let clip = self.clips.withLock({ $0[settings] }) { return Video(clip) }
            guard settings.bFrames == 0 else {
                throw MediaError(
                    .rejected, "a scripted encoder has no B-frames", at: place, fix: "write \"bFrames\": 0")
            }
            let encoder = try VideoEncoder.open(settings, place: place)
            var frames: [CodedPacket] = []
            let canvas = try PictureCanvas.open(width: settings.width, height: settings.height, fill: .black)
            let picture = canvas.finish()
            for index in 0..<self.length {
                try encoder.encode(picture, pts: index, forceIDR: index == 0) { frames.append($0) }
            }
            try encoder.finish { frames.append($0) }
            let clip = (encoder.parameterSets, frames)
            self.clips.withLock { $0[settings] = clip }
            return Video(clip)
        }

        var parameterSets: [UInt8] { self.clip.parameterSets }

        func encode(
            _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
        ) {
            if forceIDR { self.index = 0 }
            var packet = self.clip.frames[Int(self.index)]
            let shift = (pts - self.index) * VideoEncoder.ticksPerPicture
            packet.pts += shift
            packet.dts += shift
            self.index = (self.index + 1) % Self.length
            body(packet)
        }

        func finish(_ body: (CodedPacket) -> Void) {}
    }

    private final class Audio: BlockEncoder {
        let configuration: [UInt8]
        private let silence: CodedPacket

        private init(_ configuration: [UInt8], _ silence: CodedPacket) {
            (self.configuration, self.silence) = (configuration, silence)
        }

        static func open(_ sampleRate: Int, _ bitrate: Int, _ place: String) throws(MediaError) -> Audio {
            let encoder = try AudioEncoder.open(sampleRate: sampleRate, bitrate: bitrate, place: place)
            var packets: [CodedPacket] = []
            let block = [Float](repeating: 0, count: 2 * AudioEncoder.frameLength)
            for index in 0..<4 {
                try encoder.encode(block[...], pts: Int64(index * AudioEncoder.frameLength)) { packets.append($0) }
            }
            try encoder.finish { packets.append($0) }
            guard let last = packets.last else {
                throw MediaError(.internal, "no packet of silence", at: place, fix: "look at it")
            }
            return Audio(encoder.configuration, last)
        }

        func encode(_ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void) {
            var packet = self.silence
            (packet.pts, packet.dts) = (pts, pts)
            body(packet)
        }

        func finish(_ body: (CodedPacket) -> Void) {}
    }
}
