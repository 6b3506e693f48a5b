import CLibAV
import MediaKernels
package import MediaTypes

/// An Opus encoder for stereo at 48 kHz: libopus through libavcodec. Created, used and released on one thread.
///
/// Spec: RFC 6716.
@safe
package final class OpusEncoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let slot: PacketSlot
    private var pool = PacketPool()
    private let place: String
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
        let slot = try PacketSlot.open(place: place)
        guard let context = unsafe avcodec_alloc_context3(codec), let frame = unsafe av_frame_alloc() else {
            throw MediaError(.outOfMemory, "no memory for an encoder", at: place, fix: "give the room more memory")
        }
        unsafe context.pointee.sample_rate = Int32(self.sampleRate)
        unsafe context.pointee.sample_fmt = AV_SAMPLE_FMT_FLT
        unsafe av_channel_layout_default(&context.pointee.ch_layout, 2)
        unsafe context.pointee.bit_rate = Int64(bitrate)
        unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(self.sampleRate))
        unsafe context.pointee.thread_count = 1
        let status = unsafe avcodec_open2(context, codec, nil)
        let frameSize = unsafe context.pointee.frame_size
        let encoder = unsafe OpusEncoder(owning: context, frame: frame, slot: slot, place: place)
        guard status >= 0 else {
            throw .libav(
                .rejected, "the Opus encoder rejected \(bitrate) bit/s", status, at: place,
                fix: "use 16000 to 256000 bit/s")
        }
        guard frameSize == Self.frameLength else {
            throw MediaError(
                .rejected, "the Opus encoder takes \(frameSize) samples per packet, not \(Self.frameLength)", at: place,
                fix: "install another FFmpeg")
        }
        return encoder
    }

    private init(
        owning context: UnsafeMutablePointer<AVCodecContext>, frame: UnsafeMutablePointer<AVFrame>,
        slot: consuming PacketSlot, place: String
    ) {
        unsafe self.context = context
        unsafe self.frame = frame
        self.slot = slot
        self.place = place
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    /// Encodes the samples of one packet.
    ///
    /// - Parameters:
    ///   - samples: Interleaved stereo, exactly ``frameLength`` pairs; anything else is ignored.
    ///   - pts: Time of the first sample, in samples; each call's is ``frameLength`` after the previous one's.
    ///   - body: Receives finished packets. Their pts is in samples and is the time of the first sample that a decoder
    ///     returns for the packet: it is earlier than `pts` by the delay of the codec.
    /// - Throws: ``MediaError/Code/rejected`` if the encoder failed.
    package func encode(
        _ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        guard samples.count == 2 * Self.frameLength else { return }
        unsafe av_frame_unref(self.frame)
        unsafe self.frame.pointee.nb_samples = Int32(Self.frameLength)
        unsafe self.frame.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
        unsafe self.frame.pointee.sample_rate = Int32(Self.sampleRate)
        unsafe av_channel_layout_default(&self.frame.pointee.ch_layout, 2)
        var status = unsafe av_frame_get_buffer(self.frame, 0)
        guard status >= 0, let data = unsafe self.frame.pointee.data.0 else {
            throw MediaError(.outOfMemory, "no memory for audio", at: self.place, fix: "give the room more memory")
        }
        unsafe samples.withUnsafeBytes { source in
            // The plane was just made for 960 pairs of floats, and `source` has exactly as many.
            unsafe UnsafeMutableRawBufferPointer(start: data, count: source.count).copyMemory(from: source)
        }
        unsafe self.frame.pointee.pts = pts
        status = unsafe avcodec_send_frame(self.context, self.frame)
        guard status >= 0 else {
            throw .libav(.rejected, "the encoder rejected audio", status, at: self.place, fix: "restart the room")
        }
        try self.drainReady(body)
    }

    private func drainReady(_ body: (CodedPacket) -> Void) throws(MediaError) {
        while true {
            let status = unsafe avcodec_receive_packet(self.context, self.slot.raw)
            if status == CLIBAV_ERROR_AGAIN || status == CLIBAV_ERROR_EOF { return }
            guard status >= 0 else {
                throw .libav(.rejected, "the encoder failed", status, at: self.place, fix: "restart the room")
            }
            let packet = unsafe self.slot.raw.pointee
            let memory = unsafe self.pool.memory(
                copying: UnsafeRawBufferPointer(start: packet.data, count: max(0, Int(packet.size))))
            unsafe body(
                CodedPacket(
                    kind: .audio, memory: memory, pts: packet.pts, dts: packet.pts, duration: Int64(Self.frameLength),
                    timescale: Int32(Self.sampleRate), isKey: true))
            unsafe av_packet_unref(self.slot.raw)
        }
    }
}
