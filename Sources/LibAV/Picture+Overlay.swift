import CLibAV
import MediaKernels
package import MediaTypes

/// Frames with an alpha plane that are drawn over a canvas.
extension Picture {
    /// A frame with transparency at a place on the canvas.
    package struct Overlay: Sendable {
        /// A frame in ``PictureFormat/sprite(width:height:)`` format; other frames are not drawn.
        package var picture: Picture
        /// Left and top edge on the canvas in samples: even, not negative.
        package var x: Int
        package var y: Int

        package init(_ picture: Picture, x: Int, y: Int) {
            self.picture = picture
            self.x = x
            self.y = y
        }
    }

    /// Returns a copy of this canvas with `overlays` drawn over it, the last one on top, as FFmpeg's `overlay` filter
    /// draws them. Parts beyond the right and bottom edge of the canvas are cut off.
    ///
    /// - Throws: ``MediaError/Code/internal`` if this frame is no canvas, ``MediaError/Code/outOfMemory``.
    package func overlaid(with overlays: [Overlay]) throws(MediaError) -> Picture {
        guard self.format.pixelFormat == AV_PIX_FMT_YUV420P.rawValue else {
            throw MediaError(
                .internal, "nothing can be drawn on \(self.format)", at: "overlay",
                fix: "report this error with the log")
        }
        let result = try unsafe Picture.allocate(self.format)
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
            for overlay in overlays {
                unsafe overlay.picture.draw(
                    plane, onto: target, stride, width: width, height: height, x: overlay.x >> half,
                    y: overlay.y >> half)
            }
        }
        return unsafe Picture(owning: result)
    }

    /// Draws one plane of this frame onto a plane of a canvas, at (`x`, `y`).
    ///
    /// - Parameters:
    ///   - target: `height` rows of `stride` bytes, of which `width` are samples.
    private func draw(
        _ plane: Int, onto target: UnsafeMutableBufferPointer<UInt8>, _ stride: Int, width: Int, height: Int, x: Int,
        y: Int
    ) {
        let own = self.format
        guard own.pixelFormat == AV_PIX_FMT_YUVA420P.rawValue, own.width.isMultiple(of: 2),
            own.height.isMultiple(of: 2), x >= 0, y >= 0, x < width, y < height
        else { return }
        let half = plane == 0 ? 0 : 1
        let (columns, lines) = (min(own.width >> half, width - x), min(own.height >> half, height - y))
        // Begins inside the plane: both coordinates were checked above.
        let below = unsafe UnsafeMutableBufferPointer(rebasing: target[(y * stride + x)...])
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
