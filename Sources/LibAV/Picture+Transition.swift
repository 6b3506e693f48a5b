import CLibAV
import MediaKernels
package import MediaTypes

/// Frames between two canvases, for the ticks of a transition between two scenes.
extension Picture {
    /// Returns a mix of this canvas and `other`, as one frame of a crossfade. Both are 8-bit 4:2:0 of the same size.
    ///
    /// - Parameter weight: Share of `other`, 0 (only this canvas) … 256 (only `other`).
    /// - Throws: ``MediaError/Code/internal`` if the formats differ, ``MediaError/Code/outOfMemory``.
    package func crossfaded(to other: Picture, weight: Int) throws(MediaError) -> Picture {
        try self.checkCanvas(other)
        let result = try unsafe Picture.allocate(self.format)
        for plane in 0..<3 {
            let (width, height) = self.size(of: plane)
            let (data, stride) = unsafe result.plane(plane)
            guard let base = unsafe data, stride >= width else { continue }
            // The plane was allocated with `height` rows of `stride` bytes.
            let target = unsafe UnsafeMutableBufferPointer(start: base, count: stride * height)
            _ = unsafe self.withPlane(plane) { first, firstStride in
                unsafe other.withPlane(plane) { second, secondStride in
                    unsafe FrameBlend.mix(
                        FrameBlend.Plane(first, stride: firstStride),
                        FrameBlend.Plane(second, stride: secondStride),
                        weight: weight, into: target, stride: stride, width: width, height: height)
                }
            }
        }
        return unsafe Picture(owning: result)
    }

    /// Returns one frame of a slide in which `other` pushes this canvas out: both are moved, and neither covers the
    /// other.
    ///
    /// - Parameters:
    ///   - x: Samples by which this canvas has moved to the right; negative: to the left; even. `other` follows
    ///     directly behind it.
    ///   - y: Samples by which this canvas has moved down; negative: up; even. `x` or `y` is 0.
    /// - Throws: See ``crossfaded(to:weight:)``.
    package func pushed(by other: Picture, x: Int, y: Int) throws(MediaError) -> Picture {
        try self.checkCanvas(other)
        let (width, height) = (self.format.width, self.format.height)
        let x = max(-width, min(width, x)) & ~1
        let y = max(-height, min(height, y)) & ~1
        let result = try unsafe Picture.allocate(self.format)
        // The other canvas is one canvas size behind.
        let behindX = x == 0 ? 0 : (x > 0 ? x - width : x + width)
        let behindY = x != 0 || y == 0 ? 0 : (y > 0 ? y - height : y + height)
        unsafe self.place(on: result, x: x, y: y)
        if x != 0 || y != 0 { unsafe other.place(on: result, x: behindX, y: behindY) }
        return unsafe Picture(owning: result)
    }

    /// Copies this frame onto `target`, moved by (`x`, `y`), both even; the part outside `target` is left out. Both
    /// frames have the same format.
    private func place(on target: UnsafeMutablePointer<AVFrame>, x: Int, y: Int) {
        for plane in 0..<3 {
            let half = plane == 0 ? 0 : 1
            let (width, height) = self.size(of: plane)
            let (dx, dy) = (x >> half, y >> half)
            let (data, stride) = unsafe target.plane(plane)
            let count = width - abs(dx)
            guard let base = unsafe data, count > 0 else { continue }
            _ = unsafe self.withPlane(plane) { samples, ownStride in
                guard let own = samples.baseAddress else { return }
                // Only rows and columns that lie on both, so every copy stays inside both planes.
                for row in max(0, dy)..<max(max(0, dy), min(height, height + dy)) {
                    unsafe (base + row * stride + max(0, dx)).update(
                        from: own + (row - dy) * ownStride + max(0, -dx), count: count)
                }
            }
        }
    }

    private func size(of plane: Int) -> (width: Int, height: Int) {
        plane == 0
            ? (self.format.width, self.format.height) : ((self.format.width + 1) / 2, (self.format.height + 1) / 2)
    }

    private func checkCanvas(_ other: Picture) throws(MediaError) {
        guard self.format == other.format, self.format.pixelFormat == AV_PIX_FMT_YUV420P.rawValue else {
            throw MediaError(
                .internal, "\(self.format) and \(other.format) cannot be mixed", at: "transition",
                fix: "report this error with the log")
        }
    }
}
