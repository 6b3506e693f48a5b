import CLibAV
import MediaKernels
package import MediaTypes

extension Picture {
    /// Whether ``joined(alphaOnRight:in:)`` can join the halves of frames of this format.
    package static func canJoin(_ format: PictureFormat) -> Bool {
        format.isCanvasLike && format.width.isMultiple(of: 4) && format.height.isMultiple(of: 2)
            && format.width <= 16_384 && format.height <= 8192
    }

    /// Memory for the alpha planes of frames whose halves are joined.
    package static func alphaPool(_ format: PictureFormat) throws(MediaError) -> BufferPool {
        try BufferPool.open(self.alphaStride(format) * (format.height + 1))
    }

    private static func alphaStride(_ format: PictureFormat) -> Int { (format.width / 2 + 63) / 64 * 64 }

    /// Returns a frame of half the width, in ``PictureFormat/sprite(width:height:)`` format, from a frame with colors in one
    /// half and alpha as gray levels in the other one. The planes of the colors are shared.
    ///
    /// - Parameters:
    ///   - alphaOnRight: Whether the alpha is in the right half.
    ///   - pool: A pool of ``alphaPool(_:)`` for the format of this frame.
    /// - Returns: `nil` if ``canJoin(_:)`` is false for the format.
    /// - Throws: ``MediaError/Code/outOfMemory``.
    package func joined(alphaOnRight: Bool, in pool: BufferPool) throws(MediaError) -> Picture? {
        guard Self.canJoin(self.format) else { return nil }
        let (width, height) = (self.format.width / 2, self.format.height)
        let stride = Self.alphaStride(self.format)
        let raw = try unsafe self.makeReference()
        var spare: UnsafeMutablePointer<AVFrame>? = unsafe raw
        defer { unsafe av_frame_free(&spare) }
        guard unsafe raw.pointee.buf.3 == nil else { return nil }
        let buffer = try unsafe pool.buffer()
        unsafe raw.pointee.buf.3 = buffer
        guard let alpha = unsafe buffer.pointee.data, unsafe buffer.pointee.size >= stride * height else { return nil }
        // The buffer has `height` rows of `stride` bytes: checked above.
        let target = unsafe PackedFrame.Target(
            UnsafeMutableBufferPointer(start: alpha, count: stride * height), stride: stride, width: width,
            height: height)
        _ = unsafe self.withPlane(0) { samples, ownStride in
            let first = alphaOnRight ? width : 0
            guard samples.count > first else { return }
            let gray = unsafe UnsafeBufferPointer(rebasing: samples[first...])
            unsafe LevelMap.fullRange.map(FrameBlend.Plane(gray, stride: ownStride), into: target)
        }
        let colors = alphaOnRight ? 0 : width
        unsafe raw.pointee.data.0 = raw.pointee.data.0.map { unsafe $0 + colors }
        unsafe raw.pointee.data.1 = raw.pointee.data.1.map { unsafe $0 + colors / 2 }
        unsafe raw.pointee.data.2 = raw.pointee.data.2.map { unsafe $0 + colors / 2 }
        unsafe raw.pointee.data.3 = alpha
        unsafe raw.pointee.linesize.3 = Int32(clamping: stride)
        unsafe raw.pointee.width = Int32(clamping: width)
        unsafe raw.pointee.format = AV_PIX_FMT_YUVA420P.rawValue
        unsafe raw.sign(as: .sprite(width: width, height: height))
        unsafe spare = nil
        return unsafe Picture(owning: raw)
    }
}
