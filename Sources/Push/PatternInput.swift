import LibAV
import MediaKernels
package import MediaTypes
import RTMP
import Stages

/// A ``TestPattern`` encoded as an encoder app would: H.264 in real time, a key picture every two seconds, AAC.
package final class PatternInput: PublishInput {
    package let parameters: [CodecParameters]
    package let picture: (width: Int, height: Int, fps: Int)?

    private let pattern: TestPattern
    private let video: VideoEncoder
    private let audio: AudioEncoder
    private var ready: [CodedPacket] = []
    private var frame: Int64 = 0
    private var position: Int64 = 0

    /// - Parameters:
    ///   - bitrate: Of the picture, bits per second.
    /// - Throws: ``MediaError`` when an encoder is missing or refuses.
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
            // Sound first when it is behind, so that packets leave in the order of their times.
            if self.position * Int64(self.pattern.fps) <= self.frame * Int64(self.pattern.sampleRate) {
                try self.makeSound()
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

    private func makeSound() throws(MediaError) {
        let count = AudioEncoder.frameLength
        let samples = self.pattern.sound(from: self.position, count: count)
        var packets: [CodedPacket] = []
        // The packet before time zero is the encoder's priming; FLV cannot say so, and a player would play it.
        try self.audio.encode(samples[...], pts: self.position) { if $0.pts >= 0 { packets.append($0) } }
        self.position += Int64(count)
        self.ready += packets
    }
}
