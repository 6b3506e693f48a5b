import LibAV
package import MediaTypes
import Threading

/// A ``TestPattern`` encoded as by an encoder app: H.264 with a key frame every two seconds, and AAC.
package final class PatternInput: PublishInput {
    package let parameters: [CodecParameters]
    package let picture: (width: Int, height: Int, fps: Int)?

    private let pattern: TestPattern
    private let video: VideoEncoder
    private let audio: AudioEncoder
    private var ready: [CodedPacket] = []
    private var frame: Int64 = 0
    private var position: Int64 = 0

    /// Creates an input that draws and encodes `pattern`.
    ///
    /// - Parameters:
    ///   - bitrate: Bit rate of the video in bits per second.
    /// - Throws: ``MediaError`` if an encoder is missing or rejects its settings.
    package init(pattern: TestPattern, bitrate: Int = 2_048_000) throws(MediaError) {
        self.pattern = pattern
        self.picture = (pattern.width, pattern.height, pattern.fps)
        let place = "publish[\(pattern.name)]"
        self.video = try VideoEncoder.open(
            VideoEncoderSettings(
                width: pattern.width, height: pattern.height, fps: pattern.fps, preset: "superfast", profile: "main",
                bitrate: bitrate, maxBitrate: bitrate, bufferSize: bitrate, bFrames: 0, lookaheadFrames: 0, threads: 1),
            place: place)
        self.audio = try AudioEncoder.open(sampleRate: pattern.sampleRate, bitrate: 65_536, place: place)
        var parameters: [CodecParameters] = []
        if let record = AVCRecord(annexB: self.video.parameterSets)?.record {
            parameters.append(CodecParameters(codec: .h264, configuration: record))
        }
        parameters.append(CodecParameters(codec: .aac, configuration: self.audio.configuration))
        self.parameters = parameters
    }

    package func next() throws(MediaError) -> CodedPacket? {
        while self.ready.isEmpty {
            // Audio first if it is behind, so that packets are sent in timestamp order.
            if self.position * Int64(self.pattern.fps) <= self.frame * Int64(self.pattern.sampleRate) {
                try self.makeAudio()
            } else {
                try self.makePicture()
            }
        }
        return self.ready.removeFirst()
    }

    private func makePicture() throws(MediaError) {
        let picture = try self.pattern.picture(self.frame, clock: SystemClock.wallClock() / 1_000_000)
        var packets: [CodedPacket] = []
        try self.video.encode(
            picture, pts: self.frame, forceIDR: self.frame % Int64(self.pattern.fps * 2) == 0
        ) { packets.append($0) }
        self.frame += 1
        self.ready += packets
    }

    private func makeAudio() throws(MediaError) {
        let count = AudioEncoder.frameLength
        let samples = self.pattern.audio(from: self.position, count: count)
        var packets: [CodedPacket] = []
        // The packet before time zero is the encoder's priming; FLV cannot mark it, and a player would play it.
        try self.audio.encode(samples[...], pts: self.position) { if $0.pts >= 0 { packets.append($0) } }
        self.position += Int64(count)
        self.ready += packets
    }
}
