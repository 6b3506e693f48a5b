/// One rendition: the composed video at one size and bit rate, or only audio.
package struct Rendition: Sendable, Hashable {
    /// Name of the rendition and of its media playlist: `[A-Za-z0-9_-]{1,32}`.
    package var name: String
    /// Width in pixels, even (16…1920), not larger than the canvas.
    package var width: Int
    /// Height in pixels, even (16…1920), not larger than the canvas.
    package var height: Int
    /// Frames per second: the canvas's rate, or half of it.
    package var fps: Int
    package var video: VideoEncoding
    /// Whether the rendition has only audio, for viewers without bandwidth for video. Size, frame rate and video
    /// settings are then unused.
    package var isAudioOnly = false
    /// Names of the audio renditions that the rendition is combined with; each combination is a variant of the
    /// multivariant playlist. Default: all audio renditions.
    package var audio = [AudioRendition().name]
    /// When the rendition's video is encoded. Default ``When/always``.
    package var when = When.always

    /// When a rendition's video is encoded.
    package enum When: String, Sendable, CaseIterable {
        case always
        /// Only while its playlist is requested, shortly after the multivariant playlist was, or after a command that
        /// announces viewers.
        case watched
    }
}

/// How a rendition's video is encoded.
package struct VideoEncoding: Sendable, Hashable {
    package enum Codec: String, Sendable, CaseIterable { case h264 }
    /// Encoders, by their names in libavcodec.
    package enum Encoder: String, Sendable, CaseIterable {
        case libx264
        case nvenc = "h264_nvenc"
        case vaapi = "h264_vaapi"
        case qsv = "h264_qsv"

        /// Whether the encoder needs a device that may be absent or fail.
        package var isHardware: Bool { self != .libx264 }
    }
    /// H.264 profiles. Spec: H.264 Annex A.2.
    package enum Profile: String, Sendable, CaseIterable { case baseline, main, high }

    /// Whether a publisher's own video may be passed through as the rendition, without transcoding.
    package enum Passthrough: String, Sendable, CaseIterable {
        case off
        /// The source's video is passed through while one source fills the canvas and its stream meets the rendition's
        /// settings.
        case auto
    }

    package var codec = Codec.h264
    package var encoder = Encoder.libx264
    /// Whether libx264 encodes the rendition if its hardware encoder does not open at the start. Default `false`: the
    /// worker exits with 78.
    package var encoderFallback = false
    /// Encoder preset. Default: that of the HLS output; ``Preset/tandemRealtime`` for renditions of a WebRTC output.
    package var preset = Preset.veryfast
    /// H.264 profile. Default ``Profile/high``.
    package var profile = Profile.high
    /// Target bit rate in bit/s (50,000…50,000,000). Default: the default ladder's rate for this number of pixels.
    package var bitrate: Int
    /// Peak bit rate in bit/s (50,000…100,000,000), at least ``bitrate``. Default: 1.1 times ``bitrate``.
    package var maxBitrate: Int
    /// Size of the decoder buffer (VBV) in bits (50,000…200,000,000). Default: the bits of one second at
    /// ``maxBitrate``.
    package var bufferSize: Int
    /// Maximum number of consecutive B-frames (0…3). Default 0, because players based on FFmpeg show the video of a
    /// fragmented MP4 late by this number of frames, which breaks lip sync. The default of the `tandem` presets is 1,
    /// except for ``Preset/tandemRealtime``.
    package var bFrames = 0
    /// Lookahead of the rate control in frames (0…60), which with one thread is also the encoder's delay. Default:
    /// ``Preset/defaultLookahead``.
    package var lookaheadFrames = 5
    /// Encoder threads (1…16); each additional thread adds delay. Default 1.
    package var threads = 1
    /// Whether a source's video may be passed through. Default ``Passthrough/off``, because each switch is a
    /// discontinuity for players.
    package var passthrough = Passthrough.off

    package init(bitrate: Int) {
        self.bitrate = bitrate
        self.maxBitrate = Self.defaultMaxBitrate(for: bitrate)
        self.bufferSize = self.maxBitrate
    }

    /// Returns the default peak bit rate: 1.1 times the target bit rate, rounded to whole bits.
    static func defaultMaxBitrate(for bitrate: Int) -> Int { (bitrate * 11 + 5) / 10 }
}
