/// One rendition: the composed video at one size and bit rate.
package struct Rendition: Sendable, Hashable {
    /// `[A-Za-z0-9_-]{1,32}`; the name of its media playlist.
    package var name: String
    /// In pixels, even (16…1920), not larger than the canvas.
    package var width: Int
    /// In pixels, even (16…1920), not larger than the canvas.
    package var height: Int
    /// Frames per second: the canvas's rate, or half of it.
    package var fps: Int
    package var video: VideoEncoding
    /// Whether it has only audio, for viewers without bandwidth for video. The size, rate and video settings are then unused.
    package var isAudioOnly = false
    /// Names of the audio renditions it is combined with, one variant each. Default: all.
    package var audio = [AudioRendition().name]
}

/// How a rendition's video is encoded.
package struct VideoEncoding: Sendable, Hashable {
    package enum Codec: String, Sendable, CaseIterable { case h264 }
    package enum Encoder: String, Sendable, CaseIterable { case libx264 }
    /// H.264 profiles, Annex A.2.
    package enum Profile: String, Sendable, CaseIterable { case baseline, main, high }

    /// Whether a publisher's own video may be passed through as the rendition, without transcoding.
    package enum Passthrough: String, Sendable, CaseIterable {
        case off
        /// Passes through while one source fills the canvas and its stream meets the rendition's settings.
        case auto
    }

    package var codec = Codec.h264
    package var encoder = Encoder.libx264
    /// Default ``Preset/veryfast``.
    package var preset = Preset.veryfast
    /// Default ``Profile/high``.
    package var profile = Profile.high
    /// Target in bit/s (50,000…50,000,000). Default: the default ladder's rate for this number of pixels.
    package var bitrate: Int
    /// Peak in bit/s (50,000…100,000,000), at least ``bitrate``. Default: 1.1 times ``bitrate``.
    package var maxBitrate: Int
    /// Decoder buffer in bits (50,000…200,000,000). Default: ``maxBitrate``.
    package var bufferSize: Int
    /// Maximum number of consecutive B-frames (0…3). Default 0: players based on FFmpeg show the video of a fragmented MP4 late
    /// by the number of B-frames, which breaks lip sync; and the encoder is a quarter faster without them. The `tandem` presets
    /// use 1.
    package var bFrames = 0
    /// Lookahead of the rate control in frames (0…60), which is also its delay. Default: ``Preset/defaultLookahead``.
    package var lookaheadFrames = 5
    /// Encoder threads (1…16). Default 1.
    package var threads = 1
    /// Default ``Passthrough/off``: each switch is a discontinuity for players.
    package var passthrough = Passthrough.off

    package init(bitrate: Int) {
        self.bitrate = bitrate
        self.maxBitrate = Self.defaultMaxBitrate(for: bitrate)
        self.bufferSize = self.maxBitrate
    }

    /// 1.1 times the target, rounded to whole bits.
    static func defaultMaxBitrate(for bitrate: Int) -> Int { (bitrate * 11 + 5) / 10 }
}
