package import MediaKernels
import MediaTypes

/// Whether coded video decodes without damage: what a fetched segment is held to.
package enum DamageCheck {
    /// Decodes H.264 from an IDR frame on.
    ///
    /// - Parameters:
    ///   - configuration: `AVCDecoderConfigurationRecord`. Spec: ISO/IEC 14496-15 §5.3.3.1.
    ///   - memory: Holds the samples.
    ///   - samples: Where each sample of length-prefixed NAL units lies in `memory`, in decoding order.
    /// - Returns: How many frames libavcodec could not decode, or decoded with concealment. `nil` if it opens no decoder for
    ///   this record.
    package static func damagedFrames(
        configuration: [UInt8], memory: PacketMemory, samples: [Range<Int>]
    ) -> Int? {
        let parameters = CodecParameters(codec: .h264, configuration: configuration)
        guard let decoder = try? VideoDecoder.open(parameters, maxPixels: 8_192 * 4_320, place: "lint") else {
            return nil
        }
        var refused = 0
        for (index, range) in samples.enumerated() where range.upperBound <= memory.count {
            let packet = CodedPacket(
                kind: .video, memory: memory, range: range, pts: Int64(index), dts: Int64(index), timescale: 30,
                isKey: index == 0)
            if !decoder.decode(packet, { _ in }) { refused += 1 }
        }
        decoder.finish { _ in }
        return min(refused + decoder.concealedCount, samples.count)
    }
}
