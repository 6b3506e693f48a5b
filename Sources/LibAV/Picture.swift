import CLibAV
import MediaTypes

/// Size, pixel format and color properties of a frame: what a filter graph is built for.
package struct PictureFormat: Sendable, Hashable, CustomStringConvertible {
    /// Coded size in samples.
    package var width: Int
    package var height: Int
    /// Raw value of `AVPixelFormat`.
    package var pixelFormat: Int32
    /// Sample aspect ratio; 1:1 if the stream does not contain it.
    package var sarNumerator: Int32 = 1
    package var sarDenominator: Int32 = 1
    /// Raw values of `AVColorRange` (0: unspecified) and `AVColorSpace` (2: unspecified), as the stream signals them.
    package var range: UInt32 = 0
    package var matrix: UInt32 = 2

    /// The format of every canvas: 8-bit 4:2:0, BT.709, limited range, square samples.
    package static func canvas(width: Int, height: Int) -> PictureFormat {
        PictureFormat(
            width: width, height: height, pixelFormat: AV_PIX_FMT_YUV420P.rawValue,
            range: AVCOL_RANGE_MPEG.rawValue, matrix: AVCOL_SPC_BT709.rawValue)
    }

    /// Whether the samples have full range: signaled, implied by a `yuvj` format, or RGB.
    package var isFullRange: Bool {
        let j: [AVPixelFormat] = [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P]
        return self.range == AVCOL_RANGE_JPEG.rawValue || j.contains { $0.rawValue == self.pixelFormat } || self.isRGB
    }

    /// Whether the pixel format is RGB, so that no Y'CbCr matrix applies; false for a palette.
    package var isRGB: Bool {
        guard let descriptor = unsafe av_pix_fmt_desc_get(AVPixelFormat(self.pixelFormat)) else { return false }
        return unsafe descriptor.pointee.flags & UInt64(1 << 5) != 0  // AV_PIX_FMT_FLAG_RGB
    }

    /// Whether the matrix is BT.601: signaled or, as players do, assumed for standard definition without a signaled
    /// matrix, which means fewer than 720 lines and 1,280 columns, in either orientation.
    package var isBT601: Bool {
        switch AVColorSpace(self.matrix) {
        case AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT470BG, AVCOL_SPC_FCC: true
        case AVCOL_SPC_UNSPECIFIED, AVCOL_SPC_RESERVED:
            min(self.width, self.height) < 720 && max(self.width, self.height) < 1280
        default: false
        }
    }

    /// Whether a scene's scale filter can convert the samples to the canvas's: 8-bit 4:2:0 in BT.709 or BT.601.
    package var isSceneReady: Bool {
        guard self.pixelFormat == AV_PIX_FMT_YUV420P.rawValue || self.pixelFormat == AV_PIX_FMT_YUVJ420P.rawValue
        else { return false }
        return switch AVColorSpace(self.matrix) {
        case AVCOL_SPC_BT709, AVCOL_SPC_UNSPECIFIED, AVCOL_SPC_RESERVED: true
        default: self.isBT601
        }
    }

    /// Whether the samples are already in the canvas's format, so that no conversion is needed.
    package var isCanvasLike: Bool {
        self.pixelFormat == AV_PIX_FMT_YUV420P.rawValue && !self.isFullRange && !self.isBT601
    }

    package var description: String {
        let name = unsafe av_get_pix_fmt_name(AVPixelFormat(self.pixelFormat)).map { unsafe String(cString: $0) }
        return "\(self.width)x\(self.height) \(name ?? "format \(self.pixelFormat)")"
    }
}

/// One raw frame. Immutable and shared by reference: a repeated or fanned-out frame shares the same planes.
@safe
package final class Picture: @unchecked Sendable {
    // @unchecked Sendable: after `init(owning:)` nothing writes `raw` or its planes except a PicturePool that has the
    // only reference to the object; libav's reference counts are atomic ("Referencing and unreferencing the buffers is
    // thread-safe", libavutil/buffer.h).
    private let raw: UnsafeMutablePointer<AVFrame>
    private var shape: PictureFormat
    private var notes: PictureTraits
    package var format: PictureFormat { self.shape }
    package var traits: PictureTraits { self.notes }

    /// Takes ownership of `raw` and its reference; the caller must not write to it afterwards.
    ///
    /// - Parameter traits: Properties of the frame, if its side data has already been removed; `nil`: they are read
    ///   from the frame.
    init(owning raw: UnsafeMutablePointer<AVFrame>, traits: PictureTraits? = nil) {
        unsafe self.raw = raw
        unsafe self.shape = PictureFormat(raw.pointee)
        unsafe self.notes = traits ?? PictureTraits(raw)
    }

    /// Releases the planes. There must be no other reference to the object.
    func empty() { unsafe av_frame_unref(self.raw) }

    /// Moves the content of `frame` into this object; `frame` is empty afterwards. This object must be empty before,
    /// and there must be no other reference to it.
    func fill(moving frame: UnsafeMutablePointer<AVFrame>, traits: PictureTraits?) {
        unsafe av_frame_move_ref(self.raw, frame)
        unsafe self.shape = PictureFormat(self.raw.pointee)
        unsafe self.notes = traits ?? PictureTraits(self.raw)
    }

    deinit {
        var raw: UnsafeMutablePointer<AVFrame>? = unsafe self.raw
        unsafe av_frame_free(&raw)
    }

    /// Presentation time in ticks of the stage that created the frame; `nil` if it has none.
    package var pts: Int64? {
        let ticks = unsafe self.raw.pointee.pts
        return ticks == CLIBAV_NO_TIMESTAMP ? nil : ticks
    }

    /// Creates a frame header for the same planes, for a filter or encoder that needs its own pts. O(1).
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    func makeReference() throws(MediaError) -> UnsafeMutablePointer<AVFrame> {
        guard let copy = unsafe av_frame_clone(self.raw) else {
            throw MediaError(
                .outOfMemory, "there is no memory for a frame header", at: "picture", fix: "give the room more memory")
        }
        return unsafe copy
    }

    /// Gives access to one plane of an 8-bit 4:2:0 frame: rows of `stride` bytes, which begin with the plane's samples.
    ///
    /// - Parameter plane: 0 for luma, 1 and 2 for chroma, which has half the rows.
    /// - Returns: `nil` if the frame has no such plane.
    package func withPlane<R>(_ plane: Int, _ body: (UnsafeBufferPointer<UInt8>, _ stride: Int) -> R) -> R? {
        guard plane >= 0, plane < 3 else { return nil }
        let height = plane == 0 ? self.format.height : (self.format.height + 1) / 2
        let (data, stride) = unsafe self.raw.plane(plane)
        // A negative stride means bottom-up rows, which none of the decoders produces.
        guard let base = unsafe data, stride > 0 else { return nil }
        return unsafe body(UnsafeBufferPointer(start: base, count: stride * height), stride)
    }

    /// Gives access to the alpha plane of a `yuva420p` frame: rows of `stride` bytes, which begin with the plane's samples.
    ///
    /// - Returns: `nil` if the frame has another pixel format.
    func withAlpha<R>(_ body: (UnsafeBufferPointer<UInt8>, _ stride: Int) -> R) -> R? {
        guard self.format.pixelFormat == AV_PIX_FMT_YUVA420P.rawValue else { return nil }
        let stride = unsafe Int(self.raw.pointee.linesize.3)
        guard let base = unsafe self.raw.pointee.data.3, stride > 0 else { return nil }
        return unsafe body(UnsafeBufferPointer(start: base, count: stride * self.format.height), stride)
    }
}

extension PictureFormat {
    init(_ frame: AVFrame) {
        let sar = unsafe frame.sample_aspect_ratio
        let known = sar.num > 0 && sar.den > 0
        unsafe self.init(
            width: Int(frame.width), height: Int(frame.height), pixelFormat: frame.format,
            sarNumerator: known ? sar.num : 1, sarDenominator: known ? sar.den : 1,
            range: frame.color_range.rawValue, matrix: frame.colorspace.rawValue)
    }
}

extension UnsafeMutablePointer where Pointee == AVFrame {
    /// Address and stride of plane `index` (0, 1 or 2).
    func plane(_ index: Int) -> (UnsafeMutablePointer<UInt8>?, Int) {
        let frame = unsafe self.pointee
        switch index {
        case 0: return unsafe (frame.data.0, Int(frame.linesize.0))
        case 1: return unsafe (frame.data.1, Int(frame.linesize.1))
        default: return unsafe (frame.data.2, Int(frame.linesize.2))
        }
    }
}
