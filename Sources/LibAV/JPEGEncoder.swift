import CLibAV
package import MediaTypes

/// Encodes frames as JPEG files. Each call opens its own encoder: meant for one image every few seconds, not for a
/// stream.
///
/// Spec: ITU-T T.81, JFIF 1.02 (full range, BT.601).
@safe
package enum JPEGEncoder {
    /// libavcodec's quantizer, 2 (best) to 31; with 4 no blocks are visible at thumbnail sizes.
    private static let quantizer = 4
    /// Factor from a quantizer to libavcodec's `global_quality` (`FF_QP2LAMBDA`).
    private static let lambda = 118
    /// Range of the width and the height, in pixels; other values are clamped to it.
    private static let sides = 16...4096

    /// Scales and encodes a frame.
    ///
    /// - Parameters:
    ///   - width: In pixels, like `height`; limited to 16…4096 and rounded down to an even number.
    /// - Throws: ``MediaError/Code/rejected``, ``MediaError/Code/unavailable``, ``MediaError/Code/outOfMemory``.
    package static func jpeg(_ picture: Picture, width: Int, height: Int) throws(MediaError) -> [UInt8] {
        let place = "image"
        let width = min(max(width, Self.sides.lowerBound), Self.sides.upperBound) / 2 * 2
        let height = min(max(height, Self.sides.lowerBound), Self.sides.upperBound) / 2 * 2
        let format = picture.format
        let matrix = format.isRGB ? "" : ":in_color_matrix=\(format.isBT601 ? "bt601" : "bt709")"
        let range = format.isRGB ? "" : ":in_range=\(format.isFullRange ? "pc" : "tv")"
        let graph = try FilterGraph.open(
            "[in]scale=w=\(width):h=\(height):flags=area\(matrix)\(range):out_color_matrix=bt601:out_range=pc,"
                + "format=pix_fmts=yuvj420p,setsar=1[out]",
            inputs: [FilterGraph.Input(label: "in", format: format)], outputs: ["out"], fps: 1, place: place)
        guard let scaled = try graph.run([picture], pts: 0).first else {
            throw MediaError(
                .rejected, "the filter graph returned no frame", at: place, fix: "report this error with the log")
        }
        return try self.encode(scaled, place)
    }

    private static func encode(_ picture: Picture, _ place: String) throws(MediaError) -> [UInt8] {
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_MJPEG) else {
            throw MediaError(
                .unavailable, "this FFmpeg has no mjpeg encoder", at: place, fix: "install an FFmpeg that has it")
        }
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            throw MediaError(.outOfMemory, "no memory for an encoder", at: place, fix: "give the room more memory")
        }
        var spare: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        defer { unsafe avcodec_free_context(&spare) }
        unsafe context.pointee.width = Int32(clamping: picture.format.width)
        unsafe context.pointee.height = Int32(clamping: picture.format.height)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        unsafe context.pointee.color_range = AVCOL_RANGE_JPEG
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1)
        unsafe context.pointee.thread_count = 1
        unsafe context.pointee.global_quality = Int32(Self.quantizer * Self.lambda)
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        unsafe av_dict_set(&options, "flags", "+qscale", 0)
        var status = unsafe avcodec_open2(context, codec, &options)
        guard status >= 0 else {
            throw .libav(
                .rejected, "the mjpeg encoder rejected \(picture.format)", status, at: place, fix: "use another size")
        }
        let frame = try unsafe picture.makeReference()
        var spareFrame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&spareFrame) }
        unsafe frame.pointee.pts = 0
        unsafe frame.pointee.quality = Int32(Self.quantizer * Self.lambda)
        let slot = try PacketSlot.open(place: place)
        status = unsafe avcodec_send_frame(context, frame)
        if status >= 0 { status = unsafe avcodec_receive_packet(context, slot.raw) }
        guard status >= 0 else {
            throw .libav(.rejected, "the mjpeg encoder failed", status, at: place, fix: "use another size")
        }
        let packet = unsafe slot.raw.pointee
        return unsafe [UInt8](UnsafeBufferPointer(start: packet.data, count: max(0, Int(packet.size))))
    }
}
