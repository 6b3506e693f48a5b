import HLS
package import MediaTypes

/// One track of the output: a rendition's pictures, or the sound all renditions share.
package struct TrackDescription: Sendable, Hashable {
    /// File names begin with it: 1…64 of `A–Z a–z 0–9 . _ -`, not beginning with a dot; unique in the output.
    package var name: String
    package var kind: TrackKind
    /// H.264 (as `avcC` or Annex B) or AAC.
    package var parameters: CodecParameters
    /// Pixels; 0 for sound.
    package var width: Int
    package var height: Int
    /// Bits per second.
    package var bitrate: Int64
    /// The encoder's limit in bits per second; 0: ``bitrate``.
    package var maxBitrate: Int64
    /// The encoder's rate buffer in bits; 0 for sound.
    package var bufferSize: Int64
    /// How much of ``bufferSize`` a segment takes beyond ``maxBitrate`` at most, in thousandths (0…1,000): by measurement, or
    /// 1,000, which is what the encoder guarantees. Declared bit rates follow from it.
    package var bufferShare: Int64 = 1_000
    /// 0 for pictures.
    package var channels: Int
    /// Frames of the grid from one picture to the next: 2 for a rendition at half the frame rate; 1 for sound.
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

    /// Bits that a segment has beyond ``maxBitrate`` over its length.
    var burst: Int64 {
        TimeMath.scale(
            min(max(0, self.bufferSize), 1 << 40), by: min(max(0, self.bufferShare), 1_000), over: 1_000, rounding: .up)
    }

    /// The three of them as one value.
    var rates: BitRates {
        get { BitRates(bitrate: self.bitrate, maxBitrate: self.maxBitrate, bufferSize: self.bufferSize) }
        set {
            (self.bitrate, self.maxBitrate) = (newValue.bitrate, newValue.maxBitrate)
            self.bufferSize = newValue.bufferSize
        }
    }

    /// RFC 6381; `nil` where the configuration cannot be read.
    package var codecString: String? {
        switch self.parameters.codec {
        case .h264: AVCConfiguration(extradata: self.parameters.configuration)?.codecString
        case .aac: AudioSpecificConfig(record: self.parameters.configuration)?.codecString
        default: nil
        }
    }
}
