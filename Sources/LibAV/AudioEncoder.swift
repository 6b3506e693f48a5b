import CLibAV
package import MediaTypes

/// An AAC-LC encoder: the native one of libavcodec. Created, used and released on one stage thread.
@safe
package final class AudioEncoder {
    private let context: AudioEncoderContext
    /// `AudioSpecificConfig` (ISO/IEC 14496-3 §1.6.2.1), known before the first sample.
    package let configuration: [UInt8]
    /// Number of samples per channel in one AAC frame.
    package static let frameLength = 1024

    /// Opens an encoder for stereo.
    ///
    /// - Parameters:
    ///   - sampleRate: In hertz.
    ///   - bitrate: Bits per second for both channels.
    /// - Throws: ``MediaError/Code/unavailable``, ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    package static func open(sampleRate: Int, bitrate: Int, place: String) throws(MediaError) -> AudioEncoder {
        guard let codec = unsafe avcodec_find_encoder_by_name("aac") else {
            throw MediaError(
                .unavailable, "this FFmpeg has no AAC encoder", at: place, fix: "install a complete FFmpeg")
        }
        return AudioEncoder(
            try unsafe AudioEncoderContext.open(
                codec, name: "AAC",
                AudioEncoderContext.Settings(
                    sampleRate: Int32(sampleRate), format: AV_SAMPLE_FMT_FLTP, bitrate: bitrate,
                    frameLength: Self.frameLength, flags: Int32(CLIBAV_CODEC_FLAG_GLOBAL_HEADER),
                    fix: "use 64000 to 256000 bit/s"),
                place: place))
    }

    private init(_ context: AudioEncoderContext) {
        self.context = context
        let header = unsafe UnsafeBufferPointer(
            start: context.raw.pointee.extradata, count: max(0, Int(context.raw.pointee.extradata_size)))
        unsafe self.configuration = [UInt8](header)
    }

    /// Encodes the samples of one AAC frame.
    ///
    /// - Parameters:
    ///   - samples: Interleaved stereo, ``frameLength`` pairs (the last frame of a room may have fewer). More, or none,
    ///     are ignored.
    ///   - pts: Time of the first sample, in samples.
    ///   - body: Receives finished packets; their pts is in samples. The first packet is the encoder's priming, 1,024
    ///     samples before the first `pts`.
    /// - Throws: ``MediaError/Code/rejected`` if the encoder failed, ``MediaError/Code/outOfMemory``.
    package func encode(
        _ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        guard (1...Self.frameLength).contains(samples.count / 2) else { return }
        try self.context.encode(samples, pts: pts, body)
    }

    /// Flushes the encoder. After this it accepts no more samples.
    package func finish(_ body: (CodedPacket) -> Void) throws(MediaError) { try self.context.finish(body) }
}
