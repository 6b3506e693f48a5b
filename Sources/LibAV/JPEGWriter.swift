import CLibAV
import MediaKernels
package import MediaTypes

/// Scales frames of one format to one size, and encodes them as JPEG files. Its filter graph and its encoder stay open
/// from frame to frame. Used on one thread.
///
/// Spec: ITU-T T.81, JFIF 1.02 (full range, BT.601).
@safe
package final class JPEGWriter {
    /// libavcodec's quantizer, 2 (best) to 31; with 4 no blocks are visible at thumbnail sizes.
    private static let quantizer = 4
    /// Factor from a quantizer to libavcodec's `global_quality` (`FF_QP2LAMBDA`).
    private static let lambda = 118
    /// Range of the width and the height, in pixels; other values are clamped to it.
    private static let sides = 16...4096
    private static let place = "image"

    /// Format of the frames.
    package let format: PictureFormat
    /// Size of the files as it was asked for, in pixels.
    package let width: Int
    package let height: Int
    /// Scales, and converts the colors unless `colors` does; `nil`: the frames have the right size.
    private let graph: FilterGraph?
    /// Converts the colors of 8-bit 4:2:0 frames of limited range, for which libswscale would need several conversions; `nil`:
    /// the frames have another format.
    private let colors: JFIFColors?
    private let context: UnsafeMutablePointer<AVCodecContext>
    private var pts: Int64 = 0

    private init(
        _ format: PictureFormat, _ width: Int, _ height: Int, _ graph: FilterGraph?, _ colors: JFIFColors?,
        owning context: UnsafeMutablePointer<AVCodecContext>
    ) {
        (self.format, self.width, self.height) = (format, width, height)
        self.graph = graph
        self.colors = colors
        unsafe self.context = context
    }

    deinit {
        var spare: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&spare)
    }

    /// Opens the filter graph and the encoder.
    ///
    /// - Parameters:
    ///   - width: In pixels, like `height`; limited to 16…4096 and rounded down to an even number.
    /// - Throws: ``MediaError/Code/rejected``, ``MediaError/Code/unavailable``, ``MediaError/Code/outOfMemory``.
    package static func open(_ format: PictureFormat, width: Int, height: Int) throws(MediaError) -> JPEGWriter {
        func side(_ wanted: Int) -> Int { min(max(wanted, Self.sides.lowerBound), Self.sides.upperBound) / 2 * 2 }
        let (columns, rows) = (side(width), side(height))
        let isPlain = format.pixelFormat == AV_PIX_FMT_YUV420P.rawValue && !format.isFullRange
        let graph = try Self.makeGraph(format, columns, rows, isPlain: isPlain)
        guard let codec = unsafe avcodec_find_encoder(AV_CODEC_ID_MJPEG) else {
            throw MediaError(
                .unavailable, "this FFmpeg has no mjpeg encoder", at: Self.place, fix: "install an FFmpeg that has it")
        }
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            throw MediaError(
                .outOfMemory, "there is no memory for an encoder", at: Self.place, fix: "give the room more memory")
        }
        // Owned from here on: if opening fails, `deinit` frees the context.
        let writer = unsafe JPEGWriter(
            format, width, height, graph, isPlain ? JFIFColors(isBT601: format.isBT601) : nil, owning: context)
        unsafe context.pointee.width = Int32(clamping: columns)
        unsafe context.pointee.height = Int32(clamping: rows)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        unsafe context.pointee.color_range = AVCOL_RANGE_JPEG
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1)
        unsafe context.pointee.thread_count = 1
        unsafe context.pointee.global_quality = Int32(Self.quantizer * Self.lambda)
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        unsafe av_dict_set(&options, "flags", "+qscale", 0)
        let status = unsafe avcodec_open2(context, codec, &options)
        guard status >= 0 else {
            throw .libav(
                .rejected, "the mjpeg encoder rejected \(columns)x\(rows)", status, at: Self.place,
                fix: "use another size")
        }
        return writer
    }

    /// Makes the graph that scales frames, and unless they are plain, converts their colors.
    private static func makeGraph(
        _ format: PictureFormat, _ columns: Int, _ rows: Int, isPlain: Bool
    ) throws(MediaError) -> FilterGraph? {
        if isPlain, format.width == columns, format.height == rows { return nil }
        var text = "[in]scale=w=\(columns):h=\(rows):flags=area"
        if isPlain {
            text += ":in_range=tv:out_range=tv,format=pix_fmts=yuv420p,setsar=1[out]"
        } else {
            let matrix = format.isRGB ? "" : ":in_color_matrix=\(format.isBT601 ? "bt601" : "bt709")"
            let range = format.isRGB ? "" : ":in_range=\(format.isFullRange ? "pc" : "tv")"
            text += "\(matrix)\(range):out_color_matrix=bt601:out_range=pc,format=pix_fmts=yuvj420p,setsar=1[out]"
        }
        return try FilterGraph.open(
            text, inputs: [FilterGraph.Input(label: "in", format: format)], outputs: ["out"], fps: 1, place: Self.place)
    }

    /// Scales and encodes a frame, which must have the ``format``. After an error, the writer must not be used again.
    ///
    /// - Throws: ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    package func jpeg(_ picture: Picture) throws(MediaError) -> [UInt8] {
        // The encoder refuses a timestamp that does not increase.
        let pts = self.pts
        self.pts += 1
        var scaled = picture
        if let graph = self.graph {
            guard let result = try graph.run([picture], pts: pts).first else {
                throw MediaError(
                    .rejected, "the filter graph returned no frame", at: Self.place,
                    fix: "report this error with the log")
            }
            scaled = result
        } else if picture.format != self.format {
            throw MediaError(
                .rejected, "the writer for \(self.format) got a frame of \(picture.format)", at: Self.place,
                fix: "report this error with the log")
        }
        let frame: UnsafeMutablePointer<AVFrame>
        if let colors = self.colors {
            unsafe frame = try scaled.converted(by: colors)
        } else {
            unsafe frame = try scaled.makeReference()
        }
        var spareFrame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        defer { unsafe av_frame_free(&spareFrame) }
        unsafe frame.pointee.pts = pts
        unsafe frame.pointee.quality = Int32(Self.quantizer * Self.lambda)
        let slot = try PacketSlot.open(place: Self.place)
        var status = unsafe avcodec_send_frame(self.context, frame)
        if status >= 0 { status = unsafe avcodec_receive_packet(self.context, slot.raw) }
        guard status >= 0 else {
            throw .libav(.rejected, "the mjpeg encoder failed", status, at: Self.place, fix: "use another size")
        }
        let packet = unsafe slot.raw.pointee
        return unsafe [UInt8](UnsafeBufferPointer(start: packet.data, count: max(0, Int(packet.size))))
    }
}

extension Picture {
    /// Returns a `yuvj420p` frame of the same size with converted colors.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    fileprivate func converted(by colors: JFIFColors) throws(MediaError) -> UnsafeMutablePointer<AVFrame> {
        let (width, height) = (self.format.width, self.format.height)
        let frame = try unsafe Picture.allocate(
            PictureFormat(
                width: width, height: height, pixelFormat: AV_PIX_FMT_YUVJ420P.rawValue,
                range: AVCOL_RANGE_JPEG.rawValue, matrix: AVCOL_SPC_SMPTE170M.rawValue))
        var targets: [PackedFrame.Target] = []
        for plane in 0..<3 {
            let half = plane == 0 ? 0 : 1
            let (columns, rows) = ((width + half) >> half, (height + half) >> half)
            let (data, stride) = unsafe frame.plane(plane)
            guard let base = unsafe data, stride >= columns else { continue }
            // The plane was allocated with `rows` rows of `stride` bytes.
            let samples = unsafe UnsafeMutableBufferPointer(start: base, count: stride * rows)
            unsafe targets.append(PackedFrame.Target(samples, stride: stride, width: columns, height: rows))
        }
        guard targets.count == 3 else { return unsafe frame }
        _ = unsafe self.withPlane(0) { luma, lumaStride in
            unsafe self.withPlane(1) { cb, cbStride in
                unsafe self.withPlane(2) { cr, crStride in
                    unsafe colors.convert(
                        luma: FrameBlend.Plane(luma, stride: lumaStride), cb: FrameBlend.Plane(cb, stride: cbStride),
                        cr: FrameBlend.Plane(cr, stride: crStride), into: targets[0], targets[1], targets[2])
                }
            }
        }
        return unsafe frame
    }
}
