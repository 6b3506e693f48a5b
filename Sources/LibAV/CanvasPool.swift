import CLibAV
package import MediaTypes

/// Memory of canvases that are copied to be drawn on. It is used again when a canvas is not referenced any more, so that
/// the system does not have to clear new pages for every frame.
package final class CanvasPool: Sendable {
    package let format: PictureFormat
    private let pool: BufferPool
    /// Bytes between two rows.
    private let strides: (luma: Int, chroma: Int)
    /// Where the planes begin in a buffer.
    private let chroma: (cb: Int, cr: Int)

    /// Strides and the beginnings of planes are multiples of this, the size of the widest vector in bytes. As many bytes follow
    /// each plane, since codecs and filters may read beyond the end of a row.
    private static let alignment = 64

    /// Creates an empty pool.
    ///
    /// - Parameter format: A format of ``PictureFormat/canvas(width:height:)``; size at most 8192.
    /// - Throws: ``MediaError/Code/outOfMemory``, ``MediaError/Code/internal`` for another pixel format or size.
    package static func open(_ format: PictureFormat) throws(MediaError) -> CanvasPool {
        guard format.pixelFormat == AV_PIX_FMT_YUV420P.rawValue, (1...8192).contains(format.width),
            (1...8192).contains(format.height)
        else {
            throw MediaError(
                .internal, "\(format) is no canvas", at: "picture", fix: "report this error with the log")
        }
        func aligned(_ width: Int) -> Int { (width + Self.alignment - 1) / Self.alignment * Self.alignment }
        let strides = (luma: aligned(format.width), chroma: aligned((format.width + 1) / 2))
        // As in libav's frames, with room for whole macroblocks.
        let rows = (format.height + 31) / 32 * 32
        let cb = strides.luma * rows + Self.alignment
        let cr = cb + strides.chroma * rows / 2 + Self.alignment
        let pool = try BufferPool.open(cr + strides.chroma * rows / 2 + Self.alignment)
        return CanvasPool(format, pool, strides, (cb, cr))
    }

    private init(
        _ format: PictureFormat, _ pool: BufferPool, _ strides: (luma: Int, chroma: Int), _ chroma: (cb: Int, cr: Int)
    ) {
        self.format = format
        self.pool = pool
        self.strides = strides
        self.chroma = chroma
    }

    /// Returns a frame with its own planes; their content is undefined.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    func frame() throws(MediaError) -> UnsafeMutablePointer<AVFrame> {
        let buffer = try unsafe self.pool.buffer()
        guard let frame = unsafe av_frame_alloc() else {
            var spent: UnsafeMutablePointer<AVBufferRef>? = unsafe buffer
            unsafe av_buffer_unref(&spent)
            throw BufferPool.noMemory
        }
        unsafe frame.pointee.width = Int32(clamping: self.format.width)
        unsafe frame.pointee.height = Int32(clamping: self.format.height)
        unsafe frame.pointee.format = self.format.pixelFormat
        unsafe frame.sign(as: self.format)
        unsafe frame.pointee.buf.0 = buffer
        // The size of the pool's buffers was computed from the same offsets and strides.
        let data = unsafe buffer.pointee.data
        unsafe frame.pointee.data.0 = data
        unsafe frame.pointee.data.1 = data.map { unsafe $0 + self.chroma.cb }
        unsafe frame.pointee.data.2 = data.map { unsafe $0 + self.chroma.cr }
        unsafe frame.pointee.linesize.0 = Int32(clamping: self.strides.luma)
        unsafe frame.pointee.linesize.1 = Int32(clamping: self.strides.chroma)
        unsafe frame.pointee.linesize.2 = Int32(clamping: self.strides.chroma)
        return unsafe frame
    }
}
