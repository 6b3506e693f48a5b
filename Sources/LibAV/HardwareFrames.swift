import CLibAV
import MediaTypes

/// Converts canvas frames to NV12, the input format of the VAAPI and QSV encoders. With VAAPI the result is in the
/// device's memory, with QSV in main memory. Only the encoder's thread may use it.
@safe
final class HardwareFrames {
    /// The encoder's pixel format.
    let format: AVPixelFormat
    /// Pool of the device's frames; `nil`: frames stay in main memory.
    private let pool: UnsafeMutablePointer<AVBufferRef>?
    private let place: String

    private init(format: AVPixelFormat, owning pool: UnsafeMutablePointer<AVBufferRef>?, place: String) {
        self.format = format
        unsafe self.pool = pool
        self.place = place
    }

    deinit {
        var pool = unsafe self.pool
        unsafe av_buffer_unref(&pool)
    }

    /// Opens the device of an encoder that needs one.
    ///
    /// - Parameter fix: Remedy in errors.
    /// - Throws: ``MediaError/Code/outOfMemory``; ``MediaError/Code/unavailable`` if the device does not open or has no
    ///   memory for frames of this size.
    static func open(_ settings: VideoEncoderSettings, fix: String, place: String) throws(MediaError) -> HardwareFrames
    {
        guard settings.implementation == .vaapi else {
            return unsafe HardwareFrames(format: AV_PIX_FMT_NV12, owning: nil, place: place)
        }
        var device: UnsafeMutablePointer<AVBufferRef>?
        defer { unsafe av_buffer_unref(&device) }
        // Without a name, libavutil opens the first render node that works.
        let status = unsafe av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, nil, nil, 0)
        guard status >= 0, let opened = unsafe device else {
            throw .libav(.unavailable, "no VAAPI device opens", status, at: place, fix: fix)
        }
        var pool = unsafe av_hwframe_ctx_alloc(opened)
        guard let frames = unsafe pool else {
            throw MediaError(
                .outOfMemory, "there is no memory for a pool of frames", at: place, fix: "give the room more memory")
        }
        let context = unsafe UnsafeMutableRawPointer(frames.pointee.data).assumingMemoryBound(
            to: AVHWFramesContext.self)
        unsafe context.pointee.format = AV_PIX_FMT_VAAPI
        unsafe context.pointee.sw_format = AV_PIX_FMT_NV12
        unsafe context.pointee.width = Int32(settings.width)
        unsafe context.pointee.height = Int32(settings.height)
        unsafe context.pointee.initial_pool_size = Int32(Self.poolSize)
        let ready = unsafe av_hwframe_ctx_init(frames)
        guard ready >= 0 else {
            unsafe av_buffer_unref(&pool)
            throw .libav(
                .unavailable, "the VAAPI device has no frames of \(settings.width)x\(settings.height)", ready,
                at: place, fix: fix)
        }
        return unsafe HardwareFrames(format: AV_PIX_FMT_VAAPI, owning: frames, place: place)
    }

    /// Frames of the device: more than the encoder and its references hold at once.
    private static let poolSize = 20

    /// A reference to the pool for the encoder's context, which takes ownership of it; `nil` without a device.
    func makePoolReference() -> UnsafeMutablePointer<AVBufferRef>? {
        guard let pool = unsafe self.pool else { return nil }
        return unsafe av_buffer_ref(pool)
    }

    /// Makes the encoder's frame of a canvas frame. The caller owns it.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``; ``MediaError/Code/rejected`` for another pixel format than the
    ///   canvas's, and if the device takes no frame.
    func makeFrame(of picture: Picture) throws(MediaError) -> UnsafeMutablePointer<AVFrame> {
        let plain = try unsafe self.interleaved(picture)
        guard let pool = unsafe self.pool else { return unsafe plain }
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe plain
        defer { unsafe av_frame_free(&spare) }
        guard let frame = unsafe av_frame_alloc() else { throw self.withoutMemory }
        var status = unsafe av_hwframe_get_buffer(pool, frame, 0)
        if status >= 0 { status = unsafe av_hwframe_transfer_data(frame, plain, 0) }
        if status >= 0 { status = unsafe av_frame_copy_props(frame, plain) }
        guard status >= 0 else {
            var failed: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&failed)
            throw .libav(
                .rejected, "the device took no frame", status, at: self.place, fix: "look at the GPU's kernel log")
        }
        return unsafe frame
    }

    /// Makes an NV12 copy of a canvas frame in main memory.
    private func interleaved(_ picture: Picture) throws(MediaError) -> UnsafeMutablePointer<AVFrame> {
        let source = try unsafe picture.makeReference()
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe source
        defer { unsafe av_frame_free(&spare) }
        guard let frame = unsafe av_frame_alloc() else { throw self.withoutMemory }
        var made: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe frame.pointee.width = source.pointee.width
        unsafe frame.pointee.height = source.pointee.height
        unsafe frame.pointee.format = AV_PIX_FMT_NV12.rawValue
        guard unsafe source.pointee.format == AV_PIX_FMT_YUV420P.rawValue, unsafe av_frame_get_buffer(frame, 0) >= 0,
            unsafe av_frame_copy_props(frame, source) >= 0, unsafe Self.copy(source, to: frame)
        else {
            unsafe av_frame_free(&made)
            throw MediaError(
                .rejected, "a frame of \(picture.format) cannot be converted to NV12", at: self.place,
                fix: "report this error with the log")
        }
        return unsafe frame
    }

    /// Copies the planes of a planar 8-bit 4:2:0 frame to an NV12 frame of the same size.
    ///
    /// - Returns: `false` if either frame lacks a plane, or if a plane's rows are too short for the frame's width.
    private static func copy(
        _ source: UnsafeMutablePointer<AVFrame>, to target: UnsafeMutablePointer<AVFrame>
    ) -> Bool {
        let (width, height) = unsafe (Int(source.pointee.width), Int(source.pointee.height))
        let (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
        let (luma, lumaStride) = unsafe source.plane(0)
        let (blue, blueStride) = unsafe source.plane(1)
        let (red, redStride) = unsafe source.plane(2)
        let (ownLuma, ownLumaStride) = unsafe target.plane(0)
        let (pairs, pairStride) = unsafe target.plane(1)
        guard let luma = unsafe luma, let blue = unsafe blue, let red = unsafe red, let ownLuma = unsafe ownLuma,
            let pairs = unsafe pairs, min(lumaStride, ownLumaStride) >= width, min(blueStride, redStride) >= columns,
            pairStride >= 2 * columns
        else { return false }
        // Inside the planes: every row is at least as long as what is copied, by the checks above.
        for row in 0..<height {
            unsafe (ownLuma + row * ownLumaStride).update(from: luma + row * lumaStride, count: width)
        }
        for row in 0..<rows {
            let (b, r, p) = unsafe (blue + row * blueStride, red + row * redStride, pairs + row * pairStride)
            for column in 0..<columns {
                unsafe p[2 &* column] = b[column]
                unsafe p[2 &* column &+ 1] = r[column]
            }
        }
        return true
    }

    private var withoutMemory: MediaError {
        MediaError(.outOfMemory, "there is no memory for a frame", at: self.place, fix: "give the room more memory")
    }
}
