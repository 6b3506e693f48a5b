import CLibAV
import MediaKernels
import MediaTypes

/// An audio encoder of libavcodec with the frame and the packet that it needs. Created, used and released on one thread.
@safe
final class AudioEncoderContext {
    /// The settings of an encoder.
    struct Settings {
        /// Sample rate in hertz.
        var sampleRate: Int32
        var format: AVSampleFormat
        /// Bit rate in bits per second for both channels.
        var bitrate: Int
        /// Number of samples per channel in one packet.
        var frameLength: Int
        /// Flags of the codec context: `CLIBAV_CODEC_FLAG_…`.
        var flags: Int32 = 0
        /// What to do if the encoder rejects the bit rate, as an imperative sentence.
        var fix: String
    }

    let raw: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let slot: PacketSlot
    private var pool = PacketPool()
    private let settings: Settings
    private let place: String

    /// Opens an encoder for stereo.
    ///
    /// - Parameter name: Its name in messages.
    /// - Throws: ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    static func open(
        _ codec: UnsafePointer<AVCodec>, name: String, _ settings: Settings, place: String
    ) throws(MediaError) -> AudioEncoderContext {
        let slot = try PacketSlot.open(place: place)
        guard let raw = unsafe avcodec_alloc_context3(codec) else { throw self.outOfMemory(place) }
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
        guard let frame = unsafe av_frame_alloc() else {
            unsafe avcodec_free_context(&context)
            throw self.outOfMemory(place)
        }
        let encoder = unsafe AudioEncoderContext(owning: raw, frame: frame, slot: slot, settings, place: place)
        unsafe raw.pointee.sample_rate = settings.sampleRate
        unsafe raw.pointee.sample_fmt = settings.format
        unsafe av_channel_layout_default(&raw.pointee.ch_layout, 2)
        unsafe raw.pointee.bit_rate = Int64(settings.bitrate)
        unsafe raw.pointee.time_base = AVRational(num: 1, den: settings.sampleRate)
        unsafe raw.pointee.flags |= settings.flags
        unsafe raw.pointee.thread_count = 1
        let status = unsafe avcodec_open2(raw, codec, nil)
        guard status >= 0 else {
            throw .libav(
                .rejected, "the \(name) encoder rejected \(settings.bitrate) bit/s at \(settings.sampleRate) Hz",
                status,
                at: place, fix: settings.fix)
        }
        return encoder
    }

    private init(
        owning raw: UnsafeMutablePointer<AVCodecContext>, frame: UnsafeMutablePointer<AVFrame>,
        slot: consuming PacketSlot, _ settings: Settings, place: String
    ) {
        unsafe self.raw = raw
        unsafe self.frame = frame
        self.slot = slot
        self.settings = settings
        self.place = place
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.raw
        unsafe avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    private static func outOfMemory(_ place: String) -> MediaError {
        MediaError(.outOfMemory, "there is no memory for audio", at: place, fix: "give the room more memory")
    }

    /// Encodes the samples of one frame.
    ///
    /// - Parameters:
    ///   - samples: Interleaved stereo, 1 to ``Settings/frameLength`` pairs.
    ///   - pts: Time of the first sample, in samples.
    ///   - body: Receives finished packets; their pts is in samples.
    /// - Throws: ``MediaError/Code/rejected`` if the encoder failed, ``MediaError/Code/outOfMemory``.
    func encode(_ samples: ArraySlice<Float>, pts: Int64, _ body: (CodedPacket) -> Void) throws(MediaError) {
        let count = samples.count / 2
        unsafe av_frame_unref(self.frame)
        unsafe self.frame.pointee.nb_samples = Int32(count)
        unsafe self.frame.pointee.format = self.settings.format.rawValue
        unsafe self.frame.pointee.sample_rate = self.settings.sampleRate
        unsafe av_channel_layout_default(&self.frame.pointee.ch_layout, 2)
        var status = unsafe av_frame_get_buffer(self.frame, 0)
        guard status >= 0, let first = unsafe self.frame.pointee.data.0 else { throw Self.outOfMemory(self.place) }
        if self.settings.format == AV_SAMPLE_FMT_FLTP {
            guard let second = unsafe self.frame.pointee.data.1 else { throw Self.outOfMemory(self.place) }
            unsafe samples.withUnsafeBufferPointer { source in
                unsafe first.withMemoryRebound(to: Float.self, capacity: count) { left in
                    unsafe second.withMemoryRebound(to: Float.self, capacity: count) { right in
                        // `count` pairs fit: the planes were just made for them, and `source` has 2 × count floats.
                        for index in 0..<count {
                            unsafe left[index] = source[2 * index]
                            unsafe right[index] = source[2 * index + 1]
                        }
                    }
                }
            }
        } else {
            let bytes = 2 * count * MemoryLayout<Float>.size
            unsafe samples.withUnsafeBytes { source in
                // The plane was just made for `count` pairs of floats, and `source` has at least as many.
                unsafe UnsafeMutableRawBufferPointer(start: first, count: bytes)
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(bytes)))
            }
        }
        unsafe self.frame.pointee.pts = pts
        status = unsafe avcodec_send_frame(self.raw, self.frame)
        guard status >= 0 else {
            throw .libav(.rejected, "the encoder rejected audio", status, at: self.place, fix: "restart the room")
        }
        try self.drainReady(body)
    }

    /// Flushes the encoder. After this it accepts no more samples.
    func finish(_ body: (CodedPacket) -> Void) throws(MediaError) {
        _ = unsafe avcodec_send_frame(self.raw, nil)
        try self.drainReady(body)
    }

    private func drainReady(_ body: (CodedPacket) -> Void) throws(MediaError) {
        while true {
            let status = unsafe avcodec_receive_packet(self.raw, self.slot.raw)
            if status == CLIBAV_ERROR_AGAIN || status == CLIBAV_ERROR_EOF { return }
            guard status >= 0 else {
                throw .libav(.rejected, "the encoder failed", status, at: self.place, fix: "restart the room")
            }
            let packet = unsafe self.slot.raw.pointee
            let memory = unsafe self.pool.memory(
                copying: UnsafeRawBufferPointer(start: packet.data, count: max(0, Int(packet.size))))
            unsafe body(
                CodedPacket(
                    kind: .audio, memory: memory, pts: packet.pts, dts: packet.pts,
                    duration: Int64(self.settings.frameLength), timescale: self.settings.sampleRate, isKey: true))
            unsafe av_packet_unref(self.slot.raw)
        }
    }
}
