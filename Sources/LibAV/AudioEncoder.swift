import CLibAV
import MediaKernels
package import MediaTypes

/// An AAC-LC encoder: the native one of libavcodec. Created, used and released on one stage thread.
@safe
package final class AudioEncoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let slot: PacketSlot
    private var pool = PacketPool()
    private let place: String
    private let sampleRate: Int32
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
        let slot = try PacketSlot.open(place: place)
        guard let context = unsafe avcodec_alloc_context3(codec), let frame = unsafe av_frame_alloc() else {
            throw MediaError(.outOfMemory, "no memory for an encoder", at: place, fix: "give the room more memory")
        }
        unsafe context.pointee.sample_rate = Int32(sampleRate)
        unsafe context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        unsafe av_channel_layout_default(&context.pointee.ch_layout, 2)
        unsafe context.pointee.bit_rate = Int64(bitrate)
        unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(sampleRate))
        unsafe context.pointee.flags |= Int32(CLIBAV_CODEC_FLAG_GLOBAL_HEADER)
        unsafe context.pointee.thread_count = 1
        let status = unsafe avcodec_open2(context, codec, nil)
        let encoder = unsafe AudioEncoder(
            owning: context, frame: frame, slot: slot, sampleRate: Int32(sampleRate), place: place)
        guard status >= 0 else {
            throw .libav(
                .rejected, "AAC at \(bitrate) bit/s, \(sampleRate) Hz", status, at: place,
                fix: "use 64000 to 256000 bit/s")
        }
        return encoder
    }

    private init(
        owning context: UnsafeMutablePointer<AVCodecContext>, frame: UnsafeMutablePointer<AVFrame>,
        slot: consuming PacketSlot, sampleRate: Int32, place: String
    ) {
        unsafe self.context = context
        unsafe self.frame = frame
        self.slot = slot
        self.place = place
        self.sampleRate = sampleRate
        let header = unsafe UnsafeBufferPointer(
            start: context.pointee.extradata, count: max(0, Int(context.pointee.extradata_size)))
        unsafe self.configuration = [UInt8](header)
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    /// Encodes the samples of one AAC frame.
    ///
    /// - Parameters:
    ///   - samples: Interleaved stereo, ``frameLength`` pairs (the last frame of a room may have fewer). More, or none,
    ///     are ignored.
    ///   - pts: Time of the first sample, in samples.
    ///   - body: Receives finished packets; their pts is in samples. The first packet is the encoder's priming, 1,024
    ///     samples before the first `pts`.
    /// - Throws: ``MediaError/Code/rejected`` if the encoder failed.
    package func encode(
        _ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        let count = samples.count / 2
        guard count > 0, count <= Self.frameLength else { return }
        unsafe av_frame_unref(self.frame)
        unsafe self.frame.pointee.nb_samples = Int32(count)
        unsafe self.frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        unsafe self.frame.pointee.sample_rate = self.sampleRate
        unsafe av_channel_layout_default(&self.frame.pointee.ch_layout, 2)
        var status = unsafe av_frame_get_buffer(self.frame, 0)
        guard status >= 0, let left = unsafe self.frame.pointee.data.0, let right = unsafe self.frame.pointee.data.1
        else {
            throw MediaError(.outOfMemory, "no memory for audio", at: self.place, fix: "give the room more memory")
        }
        unsafe samples.withUnsafeBufferPointer { source in
            unsafe left.withMemoryRebound(to: Float.self, capacity: count) { left in
                unsafe right.withMemoryRebound(to: Float.self, capacity: count) { right in
                    // `count` pairs fit: the planes were just made for them, and `source` has 2 × count floats.
                    for index in 0..<count {
                        unsafe left[index] = source[2 * index]
                        unsafe right[index] = source[2 * index + 1]
                    }
                }
            }
        }
        unsafe self.frame.pointee.pts = pts
        status = unsafe avcodec_send_frame(self.context, self.frame)
        guard status >= 0 else {
            throw .libav(.rejected, "the encoder rejected audio", status, at: self.place, fix: "restart the room")
        }
        try self.drainReady(body)
    }

    /// Flushes the encoder. After this it accepts no more samples.
    package func finish(_ body: (CodedPacket) -> Void) throws(MediaError) {
        _ = unsafe avcodec_send_frame(self.context, nil)
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
                    timescale: self.sampleRate, isKey: true))
            unsafe av_packet_unref(self.slot.raw)
        }
    }
}
