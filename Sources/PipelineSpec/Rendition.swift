/// One step of the ladder: the composed canvas at one size and bit rate.
package struct Rendition: Sendable, Hashable {
    /// `[A-Za-z0-9_-]{1,32}`; names its media playlist.
    package var name: String
    /// Pixels, even (16…1920), not above the canvas.
    package var width: Int
    /// Pixels, even (16…1920), not above the canvas.
    package var height: Int
    /// Pictures per second: the canvas's, or half of it.
    package var fps: Int
    package var video: VideoEncoding
    /// It is sound alone: a variant for who has no bandwidth for pictures, without any of the above.
    package var isAudioOnly = false
    /// Names of the audio renditions it is offered with, one variant each. Default: all.
    package var audio = [AudioRendition().name]

    package init(name: String, width: Int, height: Int, fps: Int, video: VideoEncoding) {
        self.name = name
        self.width = width
        self.height = height
        self.fps = fps
        self.video = video
    }
}

/// How a rendition's video is encoded.
package struct VideoEncoding: Sendable, Hashable {
    package enum Codec: String, Sendable, CaseIterable { case h264 }
    package enum Encoder: String, Sendable, CaseIterable { case libx264 }
    /// H.264 profiles, Annex A.2.
    package enum Profile: String, Sendable, CaseIterable { case baseline, main, high }

    /// Whether a publisher's own packets may stand for the rendition.
    package enum Passthrough: String, Sendable, CaseIterable {
        case off
        /// While one source fills the canvas and its stream is what the rendition asks for.
        case auto
    }

    package var codec = Codec.h264
    package var encoder = Encoder.libx264
    /// Default ``Preset/veryfast``.
    package var preset = Preset.veryfast
    /// Default ``Profile/high``.
    package var profile = Profile.high
    /// Target in bit/s (50,000…50,000,000). Default: what the ladder spends on as many pixels.
    package var bitrate: Int
    /// Peak in bit/s (50,000…100,000,000), at least ``bitrate``. Default: 1.1 times ``bitrate``.
    package var maxBitrate: Int
    /// Decoder buffer in bits (50,000…200,000,000). Default: ``maxBitrate``.
    package var bufferSize: Int
    /// B-frames between two other pictures (0…3). Default 0: players built on FFmpeg show a fragmented MP4 with B-frames
    /// late by as many pictures, so that lips and sound part; and without them the encoder is faster by a quarter. The
    /// presets of the `tandem` family have 1.
    package var bFrames = 0
    /// Pictures the rate control looks ahead, which is also its delay (0…60). Default: ``Preset/defaultLookahead``.
    package var lookaheadFrames = 5
    /// Encoder threads (1…16). Default 1.
    package var threads = 1
    /// Default ``Passthrough/off``: every change costs players a discontinuity.
    package var passthrough = Passthrough.off

    package init(bitrate: Int) {
        self.bitrate = bitrate
        self.maxBitrate = Self.defaultMaxBitrate(for: bitrate)
        self.bufferSize = self.maxBitrate
    }

    /// 1.1 times the target, rounded to whole bits.
    static func defaultMaxBitrate(for bitrate: Int) -> Int { (bitrate * 11 + 5) / 10 }
}
