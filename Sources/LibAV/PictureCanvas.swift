import CLibAV
package import MediaTypes

/// A color in the canvas's Y'CbCr: BT.709, limited range, 8 bit.
package struct CanvasColor: Sendable, Hashable {
    package var y: UInt8
    package var cb: UInt8
    package var cr: UInt8

    package init(y: UInt8, cb: UInt8, cr: UInt8) {
        self.y = y
        self.cb = cb
        self.cr = cr
    }

    /// Converts a full-range R'G'B' color, 0…255 each. Spec: ITU-R BT.709-6 §3, in integers with 16 fractional bits.
    package init(red: UInt8, green: UInt8, blue: UInt8) {
        let (r, g, b) = (Int(red), Int(green), Int(blue))
        let half = 1 << 15
        self.y = UInt8(clamping: 16 + (11966 * r + 40254 * g + 4064 * b + half) >> 16)
        self.cb = UInt8(clamping: 128 + (-6596 * r - 22189 * g + 28784 * b + half) >> 16)
        self.cr = UInt8(clamping: 128 + (28784 * r - 26145 * g - 2639 * b + half) >> 16)
    }

    package static let black = CanvasColor(y: 16, cb: 128, cr: 128)
    package static let white = CanvasColor(y: 235, cb: 128, cr: 128)
}

/// A frame under construction in the canvas format: rectangles are drawn on it, and it is then frozen into a
/// ``Picture``.
@safe
package struct PictureCanvas: ~Copyable {
    private let raw: UnsafeMutablePointer<AVFrame>
    package let width: Int
    package let height: Int

    /// Creates a frame that is filled with one color.
    ///
    /// - Parameters:
    ///   - width: Even, 2…8192.
    ///   - height: Even, 2…8192.
    /// - Throws: ``MediaError/Code/outOfMemory``, ``MediaError/Code/rejected``.
    package static func open(width: Int, height: Int, fill: CanvasColor) throws(MediaError) -> PictureCanvas {
        guard width >= 2, height >= 2, width <= 8192, height <= 8192 else {
            throw MediaError(
                .rejected, "cannot create a frame of \(width)x\(height)", at: "picture",
                fix: "use a width and a height of 2 to 8192")
        }
        guard let raw = unsafe av_frame_alloc() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a frame", at: "picture", fix: "give the room more memory")
        }
        var canvas = unsafe PictureCanvas(owning: raw, width: width, height: height)
        unsafe raw.pointee.width = Int32(width)
        unsafe raw.pointee.height = Int32(height)
        unsafe raw.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        unsafe raw.pointee.color_range = AVCOL_RANGE_MPEG
        unsafe raw.pointee.colorspace = AVCOL_SPC_BT709
        unsafe raw.pointee.color_primaries = AVCOL_PRI_BT709
        unsafe raw.pointee.color_trc = AVCOL_TRC_BT709
        unsafe raw.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        let status = unsafe av_frame_get_buffer(raw, 0)
        guard status >= 0 else {
            throw .libav(
                .outOfMemory, "there is no memory for the planes of a frame", status, at: "picture",
                fix: "give the room more memory")
        }
        canvas.fill(x: 0, y: 0, width: width, height: height, fill)
        return canvas
    }

    private init(owning raw: UnsafeMutablePointer<AVFrame>, width: Int, height: Int) {
        unsafe self.raw = raw
        self.width = width
        self.height = height
    }

    deinit {
        var raw: UnsafeMutablePointer<AVFrame>? = unsafe self.raw
        unsafe av_frame_free(&raw)
    }

    /// Fills a rectangle; parts outside the frame are cut off. Chroma covers the same area at half resolution.
    package mutating func fill(x: Int, y: Int, width: Int, height: Int, _ color: CanvasColor) {
        let left = max(0, min(x, self.width)), right = max(left, min(x &+ width, self.width))
        let top = max(0, min(y, self.height)), bottom = max(top, min(y &+ height, self.height))
        guard right > left, bottom > top else { return }
        for plane in 0..<3 {
            let half = plane == 0 ? 0 : 1
            let (data, stride) = unsafe self.raw.plane(plane)
            guard let base = unsafe data else { return }
            let value = plane == 0 ? color.y : (plane == 1 ? color.cb : color.cr)
            let (l, r) = (left >> half, (right + half) >> half)
            for row in (top >> half)..<((bottom + half) >> half) {
                // Inside the plane: all four edges were clamped to the frame above.
                unsafe (base + row * stride + l).update(repeating: value, count: r - l)
            }
        }
    }

    /// Returns the finished frame; nothing can draw on it any more.
    package consuming func finish(pts: Int64? = nil) -> Picture {
        unsafe self.raw.pointee.pts = pts ?? CLIBAV_NO_TIMESTAMP
        let picture = unsafe Picture(owning: self.raw)
        discard self
        return picture
    }
}
