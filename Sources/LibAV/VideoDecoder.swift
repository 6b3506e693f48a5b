import CLibAV
package import MediaTypes

/// A video decoder. Created, used and released on one stage thread: deliberately not `Sendable`.
@safe
package final class VideoDecoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let slot: PacketSlot
    private var pool: PicturePool
    private let place: String
    /// Number of packets between two memory checks if packets have no arrival time: a minute of most files.
    package static let lookInterval = 1_800
    private var memoryLook = PoolCheckTimer(every: VideoDecoder.lookInterval)
    /// Number of times that unused frame memory was released.
    package private(set) var renewals = 0
    /// Number of frames that were output although libavcodec had to conceal errors in them.
    package private(set) var concealedCount = 0

    /// Opens a decoder.
    ///
    /// - Parameters:
    ///   - parameters: Codec and its configuration record; the stream may repeat parameter sets in band as well.
    ///   - threads: Number of libavcodec's threads, which decode slices of one frame and add no delay.
    ///   - maxPixels: Frames with more samples are rejected before memory is allocated for them.
    ///   - place: Names the stage in errors and logs, for example `decode[1001]`.
    /// - Throws: ``MediaError/Code/unavailable``, ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    package static func open(
        _ parameters: CodecParameters, threads: Int32 = 1, maxPixels: Int64 = 1920 * 1920, place: String
    ) throws(MediaError) -> VideoDecoder {
        let slot = try PacketSlot.open(place: place)
        let pool = try PicturePool(place: place)
        let context = try unsafe CodecContext.allocateDecoder(parameters, place: place)
        let decoder = unsafe VideoDecoder(owning: context, slot: slot, pool: pool, place: place)
        unsafe context.pointee.thread_count = threads
        unsafe context.pointee.thread_type = Int32(FF_THREAD_SLICE)
        unsafe context.pointee.max_pixels = maxPixels
        unsafe clibav_watch_pictures(context)
        let status = unsafe avcodec_open2(context, nil, nil)
        guard status >= 0 else {
            throw .libav(
                .rejected, "\(parameters.codec) decoder did not open", status, at: place,
                fix: "check the encoder's stream; its configuration record is broken")
        }
        return decoder
    }

    private init(
        owning context: UnsafeMutablePointer<AVCodecContext>, slot: consuming PacketSlot, pool: consuming PicturePool,
        place: String
    ) {
        unsafe self.context = context
        self.slot = slot
        self.pool = pool
        self.place = place
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
    }

    /// Decodes one access unit and passes every frame that is ready to `body`, in presentation order. A frame's pts is
    /// in the packet's timescale. In the long run only libav allocates.
    ///
    /// - Returns: `false` if the packet is empty or libavcodec found its data damaged; the next packets may decode
    ///   again.
    package func decode(_ packet: CodedPacket, _ body: (Picture) -> Void) -> Bool {
        guard self.slot.lend(packet) else { return false }
        // Sending decodes the packet: make the planes of unused frames available before, so that they are reused.
        self.pool.collect()
        self.look(at: packet.arrival)
        var intact = unsafe avcodec_send_packet(self.context, self.slot.raw) >= 0
        unsafe av_packet_unref(self.slot.raw)
        if !self.drainReady(body) { intact = false }
        return intact
    }

    /// Once per minute, releases unused frame memory if a burst or a temporary backlog required more than is used now;
    /// libavcodec would keep the memory.
    private func look(at time: Int64) {
        guard self.memoryLook.isDue(at: time), self.pool.isOversized() else { return }
        unsafe clibav_renew_pictures(self.context)
        self.renewals += 1
    }

    /// Resets the decoder except for its configuration: the next packet begins a new stream. Frames inside the decoder
    /// are lost.
    package func flush() { unsafe avcodec_flush_buffers(self.context) }

    /// Turns the loop filter off or on. Without the filter, decoding is faster, but block edges remain. They are visible
    /// at full size, but hardly in a frame that is scaled down.
    package func setSkipsLoopFilter(_ skips: Bool) {
        unsafe self.context.pointee.skip_loop_filter = skips ? AVDISCARD_ALL : AVDISCARD_DEFAULT
    }

    /// Outputs the frames that the decoder still holds. After this it accepts no more packets.
    package func finish(_ body: (Picture) -> Void) {
        self.pool.collect()
        _ = unsafe avcodec_send_packet(self.context, nil)
        _ = self.drainReady(body)
    }

    private func drainReady(_ body: (Picture) -> Void) -> Bool {
        let frame = unsafe self.pool.frame
        while true {
            let status = unsafe avcodec_receive_frame(self.context, frame)
            guard status >= 0 else { return status == CLIBAV_ERROR_AGAIN || status == CLIBAV_ERROR_EOF }
            if unsafe frame.pointee.decode_error_flags != 0 { self.concealedCount += 1 }
            // Best guess of the presentation time, for streams without composition offsets.
            if unsafe frame.pointee.pts == CLIBAV_NO_TIMESTAMP {
                unsafe frame.pointee.pts = frame.pointee.best_effort_timestamp
            }
            // libx264 takes the type of an input frame for a command, and overlay and scale pass it on.
            unsafe frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
            let traits = unsafe PictureTraits(frame)
            unsafe frame.removeSideData()
            guard let picture = self.pool.picture(traits: traits) else { return false }
            body(picture)
        }
    }
}

extension UnsafeMutablePointer where Pointee == AVFrame {
    /// Removes all side data: closed captions, SEI and the like belong to one source and must not reach the encoders.
    func removeSideData() {
        while unsafe self.pointee.nb_side_data > 0 {
            guard let entry = unsafe self.pointee.side_data[0] else { return }
            let type = unsafe entry.pointee.type
            unsafe av_frame_remove_side_data(self, type)
        }
    }
}

enum CodecContext {
    /// Allocates a context for decoding `parameters` with its extradata set. The caller owns it.
    static func allocateDecoder(
        _ parameters: CodecParameters, place: String
    ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
        guard let codec = unsafe avcodec_find_decoder(parameters.codec.avCodecID) else {
            throw MediaError(
                .unavailable, "no decoder for \(parameters.codec)", at: place,
                fix: "publish H.264 and AAC, or install an FFmpeg with that decoder")
        }
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            throw MediaError(
                .outOfMemory, "there is no memory for a decoder", at: place, fix: "give the room more memory")
        }
        if parameters.sampleRate > 0, (1...8).contains(parameters.channels) {
            unsafe context.pointee.sample_rate = Int32(clamping: parameters.sampleRate)
            unsafe av_channel_layout_default(&context.pointee.ch_layout, Int32(parameters.channels))
        }
        if parameters.layout != nil {
            // Only the container contains the channel positions.
            unsafe context.pointee.ch_layout.order = AV_CHANNEL_ORDER_UNSPEC
        }
        if let color = parameters.color {
            // Any number is allowed: decoders overwrite these, and code that reads them handles unknown values.
            unsafe context.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(color.primaries))
            unsafe context.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(color.transfer))
            unsafe context.pointee.colorspace = AVColorSpace(rawValue: UInt32(color.matrix))
        }
        let count = parameters.configuration.count
        if count > 0, count < 1 << 20 {
            let size = count + Int(CLIBAV_INPUT_PADDING)
            guard let extradata = unsafe av_mallocz(size) else {
                var spent: UnsafeMutablePointer<AVCodecContext>? = unsafe context
                unsafe avcodec_free_context(&spent)
                throw MediaError(
                    .outOfMemory, "there is no memory for a decoder", at: place, fix: "give the room more memory")
            }
            unsafe parameters.configuration.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress { unsafe extradata.copyMemory(from: base, byteCount: count) }
            }
            unsafe context.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
            unsafe context.pointee.extradata_size = Int32(count)
        }
        return unsafe context
    }
}
