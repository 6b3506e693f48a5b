import CLibAV
package import MediaKernels
package import MediaTypes

/// Frames with an alpha plane that are drawn over a canvas.
extension Picture {
    /// A frame with transparency at a place on the canvas.
    package struct Overlay: Sendable {
        package enum Content: Sendable {
            /// A frame in ``PictureFormat/sprite(width:height:)`` format; other frames are not drawn.
            case picture(Picture)
            case packed(PackedFrame)
        }

        package var content: Content
        /// Left and top edge on the canvas in samples: even, not negative.
        package var x: Int
        package var y: Int

        package init(_ picture: Picture, x: Int, y: Int) {
            self.content = .picture(picture)
            self.x = x
            self.y = y
        }

        package init(_ packed: PackedFrame, x: Int, y: Int) {
            self.content = .packed(packed)
            self.x = x
            self.y = y
        }
    }

    /// Packs a frame in ``PictureFormat/sprite(width:height:)`` format, so that it needs less memory while it is kept.
    ///
    /// - Parameter scratch: Memory that is reused from frame to frame; any content.
    /// - Returns: `nil` if the frame has another pixel format or an odd size.
    package func packed(scratch: inout [UInt8]) -> PackedFrame? {
        let (width, height) = (self.format.width, self.format.height)
        var planes: [FrameBlend.Plane] = []
        for plane in 0..<3 {
            _ = unsafe self.withPlane(plane) { samples, stride in
                unsafe planes.append(FrameBlend.Plane(samples, stride: stride))
            }
        }
        // The planes are read only while this frame lives.
        return withExtendedLifetime(self) {
            unsafe self.withAlpha { samples, stride -> PackedFrame? in
                guard planes.count == 3 else { return nil }
                return unsafe PackedFrame(
                    luma: planes[0], cb: planes[1], cr: planes[2], alpha: FrameBlend.Plane(samples, stride: stride),
                    width: width, height: height, scratch: &scratch)
            } ?? nil
        }
    }

    /// Returns a copy of this canvas with `overlays` drawn over it, the last one on top, as FFmpeg's `overlay` filter
    /// draws them. Parts beyond the right and bottom edge of the canvas are cut off.
    ///
    /// - Parameter pool: Memory for the copy; `nil`, or a pool for another format: it is allocated.
    /// - Throws: ``MediaError/Code/internal`` if this frame is no canvas, ``MediaError/Code/outOfMemory``.
    package func overlaid(with overlays: [Overlay], in pool: CanvasPool? = nil) throws(MediaError) -> Picture {
        guard self.format.pixelFormat == AV_PIX_FMT_YUV420P.rawValue else {
            throw MediaError(
                .internal, "nothing can be drawn on \(self.format)", at: "overlay",
                fix: "report this error with the log")
        }
        let result: UnsafeMutablePointer<AVFrame>
        if let pool, pool.format == self.format {
            unsafe result = try pool.frame()
        } else {
            unsafe result = try Picture.allocate(self.format)
        }
        var targets: [PackedFrame.Target] = []
        for plane in 0..<3 {
            let half = plane == 0 ? 0 : 1
            let (width, height) = (
                (self.format.width + half) >> half, (self.format.height + half) >> half
            )
            let (data, stride) = unsafe result.plane(plane)
            guard let base = unsafe data, stride >= width else { continue }
            // The plane was allocated with `height` rows of `stride` bytes.
            let target = unsafe UnsafeMutableBufferPointer(start: base, count: stride * height)
            _ = unsafe self.withPlane(plane) { samples, ownStride in
                guard let own = samples.baseAddress, ownStride >= width else { return }
                for row in 0..<height {
                    unsafe (base + row * stride).update(from: own + row * ownStride, count: width)
                }
            }
            unsafe targets.append(PackedFrame.Target(target, stride: stride, width: width, height: height))
        }
        for overlay in overlays where targets.count == 3 {
            switch overlay.content {
            case .picture(let picture):
                for plane in 0..<3 { picture.draw(plane, onto: targets[plane], x: overlay.x, y: overlay.y) }
            case .packed(let frame):
                frame.draw(onto: targets[0], targets[1], targets[2], x: overlay.x, y: overlay.y)
            }
        }
        return unsafe Picture(owning: result)
    }

    /// Draws one plane of this frame onto a plane of a canvas.
    ///
    /// - Parameters:
    ///   - x: Left edge in samples of the canvas's luma. `y`: the top edge in the same way.
    private func draw(_ plane: Int, onto target: PackedFrame.Target, x: Int, y: Int) {
        let own = self.format
        let half = plane == 0 ? 0 : 1
        let (x, y) = (x >> half, y >> half)
        guard own.pixelFormat == AV_PIX_FMT_YUVA420P.rawValue, own.width.isMultiple(of: 2),
            own.height.isMultiple(of: 2), x >= 0, y >= 0, x < target.width, y < target.height
        else { return }
        let (columns, lines) = (min(own.width >> half, target.width - x), min(own.height >> half, target.height - y))
        let stride = target.stride
        // Begins inside the plane: both coordinates were checked above.
        let below = unsafe UnsafeMutableBufferPointer(rebasing: target.samples[(y * stride + x)...])
        _ = unsafe self.withPlane(plane) { samples, ownStride in
            unsafe self.withAlpha { alpha, alphaStride in
                let above = unsafe FrameBlend.Plane(samples, stride: ownStride)
                let share = unsafe FrameBlend.Plane(alpha, stride: alphaStride)
                if plane == 0 {
                    unsafe AlphaBlend.drawFull(above, share, onto: below, stride: stride, width: columns, height: lines)
                } else {
                    unsafe AlphaBlend.drawHalved(
                        above, share, onto: below, stride: stride, width: own.width / 2, height: own.height / 2,
                        columns: columns, lines: lines)
                }
            }
        }
    }
}
