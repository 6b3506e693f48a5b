import MediaTypes

/// H.264 samples of a segment as a decoder takes them.
package struct LintSamples: Sendable, Hashable {
    /// `AVCDecoderConfigurationRecord`. Spec: ISO/IEC 14496-15 §5.3.3.1.
    package let configuration: [UInt8]
    /// The segment.
    package let bytes: [UInt8]
    /// Where the samples lie in ``bytes``, in decoding order; inside of them.
    package internal(set) var samples: [Range<Int>] = []

    init(configuration: [UInt8], bytes: [UInt8]) {
        self.configuration = configuration
        self.bytes = bytes
    }
}

extension MediaDigest.Span {
    /// Durations as one rate makes them, rounded to ticks and perhaps to milliseconds before.
    var lastsEvenly: Bool {
        guard let low = self.durations.keys.min(), let high = self.durations.keys.max(), low > 0 else { return false }
        return high &- low <= max(1, self.timescale / 900, low / 20)
    }
}

/// Samples of NAL units, read without decoding them. Spec: ISO/IEC 14496-15 §5.3.2; ITU-T H.264, H.265 §7.4.1.
extension MediaDigest {
    /// What shows that a sample's bytes are not those that an encoder wrote: lengths that do not fill the sample, a header
    /// that is none, or three bytes that emulation prevention keeps out of a NAL unit.
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
            // Nothing may be empty; some encoders write it all the same, and decoders pass it over.
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
                return "the NAL unit at byte \(unit.lowerBound) has the bytes 0, 0, \(byte) in it, at \(place)"
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return nil
    }
}
