import MediaTypes

/// The H.264 samples of a segment, to be passed to a decoder.
package struct LintSamples: Sendable, Hashable {
    /// `AVCDecoderConfigurationRecord`. Spec: ISO/IEC 14496-15 §5.3.3.1.
    package let configuration: [UInt8]
    /// The bytes of the segment.
    package let bytes: [UInt8]
    /// Byte ranges of the samples in ``bytes``, in decoding order; all are within ``bytes``.
    package internal(set) var samples: [Range<Int>] = []
}

extension MediaDigest.Span {
    /// Whether all sample durations fit a constant frame rate, allowing for rounding to ticks and to milliseconds, and
    /// for 5 %.
    var lastsEvenly: Bool {
        guard let low = self.durations.keys.min(), let high = self.durations.keys.max(), low > 0 else { return false }
        return high &- low <= max(1, self.timescale / 900, low / 20)
    }
}

/// Checks of H.264 and H.265 samples without decoding them. Spec: ISO/IEC 14496-15 §5.3.2; ITU-T H.264, H.265 §7.4.1.
extension MediaDigest {
    /// Describes damage of a sample that an encoder cannot have written: lengths that do not fill the sample, an
    /// invalid NAL unit header, or three bytes that emulation prevention excludes from a NAL unit. `nil` if there is
    /// none, or if the sample is encrypted or of another codec.
    static func damage(_ reader: BoxReader, _ sample: Range<Int>, _ track: InitializationFacts.Track) -> String? {
        guard track.lengthSize > 0, !track.isProtected, sample.upperBound <= reader.bytes.count,
            ["avc1", "avc3", "hvc1", "hev1"].contains(track.entry)
        else { return nil }
        var position = sample.lowerBound
        while position < sample.upperBound {
            guard let length = reader.number(position, track.lengthSize), let size = Int(exactly: length),
                size <= sample.upperBound - position - track.lengthSize
            else { return "the length of the NAL unit at byte \(position) goes beyond its sample" }
            let start = position + track.lengthSize
            // Empty units are not allowed, but some encoders write them, and decoders skip them.
            if size > 0, let fault = self.damage(reader, unit: start..<(start + size)) { return fault }
            position = start + size
        }
        return nil
    }

    private static func damage(_ reader: BoxReader, unit: Range<Int>) -> String? {
        if reader.bytes[unit.lowerBound] & 0x80 != 0 {
            return "the NAL unit at byte \(unit.lowerBound) has its forbidden bit set"
        }
        var zeros = 0
        for (place, byte) in zip(unit, reader.bytes[unit]) {
            if zeros >= 2, byte < 3 {
                return "the NAL unit at byte \(unit.lowerBound) contains the bytes 0, 0, \(byte) at \(place)"
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return nil
    }
}
