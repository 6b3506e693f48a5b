import LibAV
import MediaTypes

/// Generates frames to measure with: a textured background that pans, moving objects, and camera noise.
enum CalibrationMaterial {
    /// Drawn frames are this many times smaller in each direction and are enlarged with a soft scaler, so that no edge
    /// is sharper than in a camera image.
    private static let grain = 4
    /// Width and height of a patch of the background, in pixels of a drawn frame.
    private static let patch = 6
    /// Strength of FFmpeg's noise filter, 0 to 100.
    private static let noise = 5

    /// Generates the frames with which a calibration measures.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if this FFmpeg lacks a filter, ``MediaError/Code/outOfMemory``.
    static func frames(count: Int, width: Int, height: Int, fps: Int) throws(MediaError) -> [Picture] {
        let (small, low) = (width / self.grain & ~1, height / self.grain & ~1)
        let graph = try FilterGraph.open(
            "[a]scale=\(width):\(height):flags=bicubic,noise=alls=\(self.noise):allf=t[o]",
            inputs: [FilterGraph.Input(label: "a", format: .canvas(width: small, height: low))], outputs: ["o"],
            fps: fps, place: "calibration")
        var frames: [Picture] = []
        for index in 0..<count {
            frames += try graph.run([try self.drawn(index, width: small, height: low)], pts: Int64(index))
        }
        return frames
    }

    private static func drawn(_ index: Int, width: Int, height: Int) throws(MediaError) -> Picture {
        var canvas = try PictureCanvas.open(width: width, height: height, fill: .black)
        for row in 0...(height / self.patch) {
            for column in -1...(width / self.patch) {
                // Rows pan at different speeds, like near and far objects.
                let shift = index * (1 + row % 3)
                let cell = column - shift / self.patch
                let x = column * self.patch + shift % self.patch
                canvas.fill(
                    x: max(0, x & ~1), y: row * self.patch & ~1, width: self.patch, height: self.patch,
                    self.color(self.hash(cell, row)))
            }
        }
        for thing in 0..<12 {
            let seed = self.hash(thing, -7)
            let x = (Int(seed & 0x3ff) + index * (2 + thing % 4)) % width
            let y = (Int(seed >> 10 & 0x3ff) + index * (thing % 3)) % height
            canvas.fill(x: x & ~1, y: y & ~1, width: 16, height: 24, self.color(self.hash(thing, index / 8)))
        }
        return canvas.finish()
    }

    private static func color(_ hash: UInt32) -> CanvasColor {
        CanvasColor(
            y: UInt8(60 + hash % 120), cb: UInt8(108 + (hash >> 8) % 40), cr: UInt8(108 + (hash >> 16) % 40))
    }

    /// Returns a number for a position, the same in every run.
    private static func hash(_ x: Int, _ y: Int) -> UInt32 {
        var value = UInt32(truncatingIfNeeded: x &* 374_761_393 &+ y &* 668_265_263)
        value = (value ^ value >> 13) &* 1_274_126_177
        return value ^ value >> 16
    }
}
