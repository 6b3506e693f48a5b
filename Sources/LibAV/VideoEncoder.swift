import CLibAV
import MediaKernels
package import MediaTypes

/// Settings of the H.264 encoder of one rendition. They determine the initialization segment byte for byte.
package struct VideoEncoderSettings: Sendable, Hashable {
    package var width: Int
    package var height: Int
    /// Frames per second, an integer.
    package var fps: Int
    /// The encoder of libavcodec. A hardware encoder ignores ``x264Parameters``, ``parameterSetID``, ``bFrames`` and
    /// ``threads``.
    package var implementation = H264Implementation.libx264
    /// Preset and profile, by libx264's names.
    package var preset: String
    package var profile: String
    /// Options that override the preset, in libx264's syntax: `name=value`, separated by colons. Empty: none.
    package var x264Parameters = ""
    /// Id of the parameter sets (0…31). Streams with different ids can share one initialization segment.
    package var parameterSetID = 0
    /// Average and peak bit rate in bits per second, and size of the decoder buffer (VBV) in bits.
    package var bitrate: Int
    package var maxBitrate: Int
    package var bufferSize: Int
    /// Maximum number of consecutive B-frames, 0…3.
    package var bFrames: Int
    /// Number of frames that the rate control looks ahead, 0…60. With one thread, this is also the encoder's delay in
    /// frames, unless B-frames need more.
    package var lookaheadFrames: Int
    /// Number of libx264's threads, which encode several frames at once: each additional one adds at least a frame of
    /// delay.
    package var threads: Int

    package init(
        width: Int, height: Int, fps: Int, preset: String, profile: String, bitrate: Int, maxBitrate: Int,
        bufferSize: Int, bFrames: Int, lookaheadFrames: Int, threads: Int
    ) {
        self.width = width
        self.height = height
        self.fps = fps
        self.preset = preset
        self.profile = profile
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate
        self.bufferSize = bufferSize
        self.bFrames = bFrames
        self.lookaheadFrames = lookaheadFrames
        self.threads = threads
    }

    /// Bit rate, maximum and buffer size as one value.
    package var rates: BitRates {
        get {
            BitRates(
                bitrate: Int64(self.bitrate), maxBitrate: Int64(self.maxBitrate), bufferSize: Int64(self.bufferSize))
        }
        set {
            self.bitrate = Int(clamping: newValue.bitrate)
            self.maxBitrate = Int(clamping: newValue.maxBitrate)
            self.bufferSize = Int(clamping: newValue.bufferSize)
        }
    }
}

/// An H.264 encoder: libx264 or a hardware encoder, through libavcodec. Created, used and released on one stage thread:
/// deliberately not `Sendable`.
@safe
package final class VideoEncoder {
    /// Ticks per frame in the packets' timescale: fine enough to order samples inside a frame.
    package static let ticksPerPicture: Int64 = 1_000
    /// NAL units left out of packets: parameter sets are in the initialization segment, and access unit delimiters are
    /// redundant.
    private static let leftOut: NALTypes = [.sps, .pps, .aud]

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let slot: PacketSlot
    private var pool = PacketPool()
    private let place: String
    private let timescale: Int32
    /// Converts frames for a hardware encoder; `nil`: the encoder gets them as they are.
    private let upload: HardwareFrames?
    /// Whether packets are in presentation order, so that their decoding times are their presentation times.
    private let isOrdered: Bool
    /// SPS and PPS in Annex B format, known before the first frame.
    package let parameterSets: [UInt8]

    /// Opens an encoder.
    ///
    /// - Parameter place: Names the stage in errors, for example `encode[720p]`.
    /// - Throws: ``MediaError/Code/unavailable``, ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    package static func open(_ settings: VideoEncoderSettings, place: String) throws(MediaError) -> VideoEncoder {
        if settings.implementation.isHardware { return try self.openHardware(settings, place: place) }
        guard let codec = unsafe avcodec_find_encoder_by_name("libx264") else {
            throw MediaError(
                .unavailable, "this FFmpeg has no libx264", at: place,
                fix: "install an FFmpeg built with libx264 (Debian's is)")
        }
        let slot = try PacketSlot.open(place: place)
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            throw MediaError(
                .outOfMemory, "there is no memory for an encoder", at: place, fix: "give the room more memory")
        }
        var spare: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        unsafe self.configure(context, settings)
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        for (name, value) in self.options(settings) { unsafe av_dict_set(&options, name, value, 0) }
        let status = unsafe avcodec_open2(context, codec, &options)
        guard status >= 0 else {
            unsafe avcodec_free_context(&spare)
            throw .libav(
                .rejected, "libx264 rejected \(settings.width)x\(settings.height) at \(settings.bitrate) bit/s", status,
                at: place, fix: "check the rendition's size (even), preset, profile and bit rates")
        }
        return unsafe VideoEncoder(
            owning: context, slot: slot, timescale: Int32(clamping: Int64(settings.fps) * Self.ticksPerPicture),
            place: place)
    }

    private static func configure(_ context: UnsafeMutablePointer<AVCodecContext>, _ settings: VideoEncoderSettings) {
        unsafe context.pointee.width = Int32(settings.width)
        unsafe context.pointee.height = Int32(settings.height)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(settings.fps))
        unsafe context.pointee.framerate = AVRational(num: Int32(settings.fps), den: 1)
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        unsafe context.pointee.color_range = AVCOL_RANGE_MPEG
        unsafe context.pointee.colorspace = AVCOL_SPC_BT709
        unsafe context.pointee.color_primaries = AVCOL_PRI_BT709
        unsafe context.pointee.color_trc = AVCOL_TRC_BT709
        unsafe context.pointee.bit_rate = Int64(settings.bitrate)
        unsafe context.pointee.rc_max_rate = Int64(settings.maxBitrate)
        unsafe context.pointee.rc_buffer_size = Int32(clamping: settings.bufferSize)
        // Key frames come only where the GOP grid forces them: a GOP of the grid has at most 600 frames.
        unsafe context.pointee.gop_size = 600
        unsafe context.pointee.max_b_frames = Int32(settings.bFrames)
        unsafe context.pointee.thread_count = Int32(settings.threads)
        unsafe context.pointee.flags |= Int32(CLIBAV_CODEC_FLAG_GLOBAL_HEADER)
    }

    private static func options(_ settings: VideoEncoderSettings) -> [(String, String)] {
        var words = ["force-cfr=1"]
        if settings.parameterSetID != 0 { words.append("sps-id=\(settings.parameterSetID)") }
        if !settings.x264Parameters.isEmpty { words.append(settings.x264Parameters) }
        var options = [
            ("preset", settings.preset), ("profile", settings.profile), ("forced-idr", "1"), ("sc_threshold", "0"),
            ("rc-lookahead", "\(settings.lookaheadFrames)"),
            // force-cfr: the frame rate is constant, and without the option libx264 delays by one frame more for the
            // same result.
            ("x264-params", words.joined(separator: ":")),
        ]
        // With one B-frame there is nothing to decide, and deciding costs time.
        if settings.bFrames <= 1 { options.append(("b_strategy", "0")) }
        return options
    }

    /// Takes ownership of an opened context.
    init(
        owning context: UnsafeMutablePointer<AVCodecContext>, slot: consuming PacketSlot, timescale: Int32,
        place: String, upload: HardwareFrames? = nil, isOrdered: Bool = false
    ) {
        unsafe self.context = context
        self.slot = slot
        self.upload = upload
        self.isOrdered = isOrdered
        self.timescale = timescale
        self.place = place
        let header = unsafe UnsafeBufferPointer(
            start: context.pointee.extradata, count: max(0, Int(context.pointee.extradata_size)))
        unsafe self.parameterSets = [UInt8](header)
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
    }

    /// Encodes one frame.
    ///
    /// - Parameters:
    ///   - pts: Presentation time in ticks of 1/fps, increasing.
    ///   - forceIDR: Whether this frame must be an IDR frame.
    ///   - forceP: Whether this frame must be a P-frame, unless it is an IDR frame. All frames up to it are then output
    ///     before any later frame.
    ///   - body: Receives finished packets: NAL units with four-byte lengths, ``ticksPerPicture`` ticks per frame;
    ///     `dts` starts below zero if there are B-frames.
    /// - Throws: ``MediaError/Code/rejected`` if the encoder failed, ``MediaError/Code/outOfMemory``; the rendition cannot
    ///   continue.
    package func encode(
        _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool = false, _ body: (CodedPacket) -> Void
    ) throws(MediaError) {
        let frame =
            if let upload = self.upload { try unsafe upload.makeFrame(of: picture) } else {
                try unsafe picture.makeReference()
            }
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&spare) }
        unsafe frame.pointee.pts = pts
        unsafe frame.pointee.pict_type =
            forceIDR ? AV_PICTURE_TYPE_I : forceP ? AV_PICTURE_TYPE_P : AV_PICTURE_TYPE_NONE
        let status = unsafe avcodec_send_frame(self.context, frame)
        guard status >= 0 else {
            throw .libav(.rejected, "the encoder rejected a frame", status, at: self.place, fix: "restart the room")
        }
        try self.drainReady(body)
    }

    /// Outputs the frames that the encoder still holds. After this it accepts no more frames.
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
            let bytes = unsafe UnsafeRawBufferPointer(start: packet.data, count: max(0, Int(packet.size)))
            let payload = unsafe AnnexB.lengthPrefixed(bytes, skipping: Self.leftOut, in: &self.pool)
            unsafe body(
                CodedPacket(
                    kind: .video, memory: payload.memory, pts: packet.pts &* Self.ticksPerPicture,
                    dts: (self.isOrdered ? packet.pts : packet.dts) &* Self.ticksPerPicture,
                    duration: Self.ticksPerPicture, timescale: self.timescale,
                    isKey: payload.types.contains(.idr)))
            unsafe av_packet_unref(self.slot.raw)
        }
    }
}
