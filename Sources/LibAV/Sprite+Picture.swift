import CLibAV
package import MediaTypes

extension PictureFormat {
    /// Format of images, texts and bars: the canvas's colors with an alpha plane.
    package static func sprite(width: Int, height: Int) -> PictureFormat {
        PictureFormat(
            width: width, height: height, pixelFormat: AV_PIX_FMT_YUVA420P.rawValue,
            range: AVCOL_RANGE_MPEG.rawValue, matrix: AVCOL_SPC_BT709.rawValue)
    }

    /// Format of masks: one plane of 0…255.
    package static func mask(width: Int, height: Int) -> PictureFormat {
        PictureFormat(
            width: width, height: height, pixelFormat: AV_PIX_FMT_GRAY8.rawValue, range: AVCOL_RANGE_JPEG.rawValue,
            matrix: AVCOL_SPC_UNSPECIFIED.rawValue)
    }

    /// Name of the `AVPixelFormat`, for example `yuv420p`.
    package var pixelFormatName: String {
        unsafe av_get_pix_fmt_name(AVPixelFormat(self.pixelFormat)).map { unsafe String(cString: $0) } ?? "none"
    }
}

extension Picture {
    /// Allocates a frame of `format` with its own planes; their content is undefined.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    static func allocate(_ format: PictureFormat) throws(MediaError) -> UnsafeMutablePointer<AVFrame> {
        guard let raw = unsafe av_frame_alloc() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a frame", at: "picture", fix: "give the room more memory")
        }
        unsafe raw.pointee.width = Int32(clamping: format.width)
        unsafe raw.pointee.height = Int32(clamping: format.height)
        unsafe raw.pointee.format = format.pixelFormat
        unsafe raw.sign(as: format)
        let status = unsafe av_frame_get_buffer(raw, 0)
        guard status >= 0 else {
            var spent: UnsafeMutablePointer<AVFrame>? = unsafe raw
            unsafe av_frame_free(&spent)
            throw .libav(
                .outOfMemory, "there is no memory for the planes of a frame", status, at: "picture",
                fix: "give the room more memory")
        }
        return unsafe raw
    }

    /// Returns a frame with the same planes, marked with the color properties and sample aspect ratio of `format`, for
    /// frames that have these properties although the filter did not set them. O(1).
    ///
    /// - Throws: ``MediaError/Code/internal`` if size or pixel format differ, ``MediaError/Code/outOfMemory``.
    package func signalled(as format: PictureFormat) throws(MediaError) -> Picture {
        if self.format == format { return self }
        guard self.format.width == format.width, self.format.height == format.height,
            self.format.pixelFormat == format.pixelFormat
        else {
            throw MediaError(
                .internal, "\(self.format) cannot be marked as \(format)", at: "picture",
                fix: "report this error with the log")
        }
        let raw = try unsafe self.makeReference()
        unsafe raw.sign(as: format)
        return unsafe Picture(owning: raw)
    }
}

extension UnsafeMutablePointer where Pointee == AVFrame {
    /// Whether size and pixel format are those of `format`.
    func isShaped(as format: PictureFormat) -> Bool {
        unsafe Int(self.pointee.width) == format.width && Int(self.pointee.height) == format.height
            && self.pointee.format == format.pixelFormat
    }

    func sign(as format: PictureFormat) {
        unsafe self.pointee.color_range = AVColorRange(format.range)
        unsafe self.pointee.colorspace = AVColorSpace(format.matrix)
        unsafe self.pointee.sample_aspect_ratio = AVRational(num: format.sarNumerator, den: format.sarDenominator)
    }
}

extension Sprite {
    /// Converts the sprite to `yuva420p`. The chroma of each four samples is their average, weighted by their alpha.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    package func picture() throws(MediaError) -> Picture {
        let raw = try unsafe Picture.allocate(self.format)
        let frame = unsafe raw.pointee
        unsafe Self.copy(self.luma, self.width, to: frame.data.0, Int(frame.linesize.0))
        unsafe Self.copy(self.alpha, self.width, to: frame.data.3, Int(frame.linesize.3))
        unsafe Self.copy(self.halved(self.cb), self.width / 2, to: frame.data.1, Int(frame.linesize.1))
        unsafe Self.copy(self.halved(self.cr), self.width / 2, to: frame.data.2, Int(frame.linesize.2))
        return unsafe Picture(owning: raw)
    }

    private func halved(_ plane: [UInt8]) -> [UInt8] {
        let half = self.width / 2
        var small = [UInt8](repeating: 128, count: half * (self.height / 2))
        for row in 0..<self.height / 2 {
            for column in 0..<half {
                let first = 2 * row * self.width + 2 * column
                var sum = 0, weight = 0
                for index in [first, first + 1, first + self.width, first + self.width + 1] {
                    // Plus 1, so that four transparent samples still have an average.
                    let share = Int(self.alpha[index]) * 16 + 1
                    sum += Int(plane[index]) * share
                    weight += share
                }
                small[row * half + column] = UInt8(clamping: (sum + weight / 2) / weight)
            }
        }
        return small
    }

    /// Copies rows of `width` samples to a plane, which was allocated with as many rows as `samples` has.
    fileprivate static func copy(
        _ samples: [UInt8], _ width: Int, to plane: UnsafeMutablePointer<UInt8>?, _ stride: Int
    ) {
        guard let plane = unsafe plane, stride >= width, width > 0 else { return }
        unsafe samples.withUnsafeBufferPointer { samples in
            guard let base = samples.baseAddress else { return }
            for row in 0..<samples.count / width {
                unsafe (plane + row * stride).update(from: base + row * width, count: width)
            }
        }
    }
}

extension TextMask {
    /// Converts the mask to an 8-bit gray frame.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    package func picture() throws(MediaError) -> Picture {
        let raw = try unsafe Picture.allocate(.mask(width: self.width, height: self.height))
        let frame = unsafe raw.pointee
        unsafe Sprite.copy(self.coverage, self.width, to: frame.data.0, Int(frame.linesize.0))
        return unsafe Picture(owning: raw)
    }
}
