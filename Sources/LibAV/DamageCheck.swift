package import MediaKernels
import MediaTypes

/// Checks whether coded video decodes without damage; used for fetched segments.
package enum DamageCheck {
    /// Decodes H.264 from an IDR frame on.
    ///
    /// - Parameters:
    ///   - configuration: `AVCDecoderConfigurationRecord`. Spec: ISO/IEC 14496-15 §5.3.3.1.
    ///   - memory: Contains the samples.
    ///   - samples: Range in `memory` of each sample of length-prefixed NAL units, in decoding order.
    /// - Returns: Number of samples that libavcodec could not decode, plus number of frames that it decoded with
    ///   concealment, at most the number of samples; `nil` if no decoder can be opened for this record.
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
