import HLS
package import MediaTypes

/// One track of the output: the video of a rendition, or audio that renditions share.
package struct TrackDescription: Sendable, Hashable {
    /// Name of the track and prefix of its file names: 1…64 of `A–Z a–z 0–9 . _ -`, not beginning with a dot; unique in
    /// the output.
    package var name: String
    package var kind: TrackKind
    /// Codec configuration: H.264 (as `avcC` or Annex B) or AAC.
    package var parameters: CodecParameters
    /// Width in pixels; 0 for audio.
    package var width: Int
    package var height: Int
    /// Average bit rate in bits per second.
    package var bitrate: Int64
    /// The encoder's maximum bit rate in bits per second; 0: equal to ``bitrate``.
    package var maxBitrate: Int64
    /// Size of the encoder's rate control buffer (VBV) in bits; 0 for audio.
    package var bufferSize: Int64
    /// Maximum share of ``bufferSize`` that a segment uses beyond ``maxBitrate``, in thousandths (0…1,000): a measured
    /// value, or 1,000, which the encoder guarantees. Declared bit rates are computed from it.
    package var bufferShare: Int64 = 1_000
    /// Number of audio channels; 0 for video.
    package var channels: Int
    /// Ratio of the output's frame rate to the track's: 2 for a rendition at half the frame rate; 1 for audio.
    package var frameStep: Int

    package init(
        name: String, kind: TrackKind, parameters: CodecParameters, width: Int = 0, height: Int = 0, bitrate: Int64,
        maxBitrate: Int64 = 0, bufferSize: Int64 = 0, channels: Int = 0, frameStep: Int = 1
    ) {
        self.name = name
        self.kind = kind
        self.parameters = parameters
        self.width = width
        self.height = height
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate
        self.bufferSize = bufferSize
        self.channels = channels
        self.frameStep = frameStep
    }

    /// Maximum number of bits by which a segment exceeds ``maxBitrate`` times its duration.
    var burst: Int64 {
        TimeMath.scale(
            min(max(0, self.bufferSize), 1 << 40), by: min(max(0, self.bufferShare), 1_000), over: 1_000, rounding: .up)
    }

    /// Average and maximum bit rate and the rate control buffer as one value.
    var rates: BitRates {
        get { BitRates(bitrate: self.bitrate, maxBitrate: self.maxBitrate, bufferSize: self.bufferSize) }
        set {
            (self.bitrate, self.maxBitrate) = (newValue.bitrate, newValue.maxBitrate)
            self.bufferSize = newValue.bufferSize
        }
    }

    /// RFC 6381 codec string; `nil` if the configuration cannot be read.
    package var codecString: String? {
        switch self.parameters.codec {
        case .h264: AVCConfiguration(extradata: self.parameters.configuration)?.codecString
        case .aac: AudioSpecificConfig(record: self.parameters.configuration)?.codecString
        default: nil
        }
    }
}
