import CLibAV
package import MediaTypes

/// An Opus encoder for stereo at 48 kHz: libopus through libavcodec. Created, used and released on one thread.
///
/// Spec: RFC 6716.
@safe
package final class OpusEncoder {
    private let context: AudioEncoderContext
    /// Sample rate in hertz, which is also the clock rate of Opus in RTP. Spec: RFC 7587 §4.1.
    package static let sampleRate = 48_000
    /// Number of samples per channel in one packet: 20 ms.
    package static let frameLength = 960

    /// Opens an encoder.
    ///
    /// - Parameter bitrate: Bits per second for both channels.
    /// - Throws: ``MediaError/Code/unavailable``, ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    package static func open(bitrate: Int, place: String) throws(MediaError) -> OpusEncoder {
        guard let codec = unsafe avcodec_find_encoder_by_name("libopus") else {
            throw MediaError(
                .unavailable, "this FFmpeg has no libopus, which encodes the audio for WebRTC viewers", at: place,
                fix: "install an FFmpeg built with libopus (Debian's is), or remove the webrtc output")
        }
        let context = try unsafe AudioEncoderContext.open(
            codec, name: "Opus",
            AudioEncoderContext.Settings(
                sampleRate: Int32(Self.sampleRate), format: AV_SAMPLE_FMT_FLT, bitrate: bitrate,
                frameLength: Self.frameLength, fix: "use 16000 to 256000 bit/s"),
            place: place)
        let frameSize = unsafe context.raw.pointee.frame_size
        guard frameSize == Self.frameLength else {
            throw MediaError(
                .rejected, "the Opus encoder takes \(frameSize) samples per packet, not \(Self.frameLength)", at: place,
                fix: "install another FFmpeg")
        }
        return OpusEncoder(context)
    }

    private init(_ context: AudioEncoderContext) { self.context = context }

    /// Encodes the samples of one packet.
    ///
    /// - Parameters:
    ///   - samples: Interleaved stereo, exactly ``frameLength`` pairs; anything else is ignored.
    ///   - pts: Time of the first sample, in samples; each call's is ``frameLength`` after the previous one's.
    ///   - body: Receives finished packets. Their pts is in samples and is the time of the first sample that a decoder
    ///     returns for the packet: it is earlier than `pts` by the delay of the codec.
    /// - Throws: ``MediaError/Code/rejected`` if the encoder failed, ``MediaError/Code/outOfMemory``.
    package func encode(
        _ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        guard samples.count == 2 * Self.frameLength else { return }
        try self.context.encode(samples, pts: pts, body)
    }
}
