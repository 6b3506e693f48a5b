extension Rendition {
    /// The steps of the default ladder: short side, and bit/s for the pixels of a 16:9 picture of that height.
    private static let steps = [
        (shortSide: 720, pixels: 1280 * 720, bitrate: 2_500_000),
        (shortSide: 480, pixels: 854 * 480, bitrate: 1_200_000),
        (shortSide: 360, pixels: 640 * 360, bitrate: 700_000),
    ]

    /// 720p, 480p and 360p in the shape of the canvas, none larger than the canvas.
    ///
    /// A canvas whose short side lies between two steps (or below all) gets a first step of its own size; a step within
    /// a tenth of that is left out.
    package static func defaultLadder(for canvas: Pipeline.Canvas) -> [Rendition] {
        let short = min(canvas.width, canvas.height)
        guard short > 0 else { return [] }
        let top = min(short, steps[0].shortSide)
        let below = self.steps.map(\.shortSide).filter { $0 * 10 <= top * 9 }
        return ([top] + below).map { side in
            // Even, rounded to the nearer one, and never above the canvas.
            let width = min(canvas.width, max(16, (canvas.width * side + short) / (2 * short) * 2))
            let height = min(canvas.height, max(16, (canvas.height * side + short) / (2 * short) * 2))
            return Rendition(
                name: "\(side)p", width: width, height: height, fps: canvas.fps,
                video: VideoEncoding(bitrate: self.defaultBitrate(width: width, height: height)))
        }
    }

    /// What the default ladder spends on a picture of that size, in bit/s, to the nearest 50,000.
    ///
    /// The nearest step above sets the price of a pixel, since smaller pictures need more bits for each.
    package static func defaultBitrate(width: Int, height: Int) -> Int {
        let pixels = width * height
        let step = self.steps.last { $0.pixels >= pixels } ?? self.steps[0]
        return min(50_000_000, max(100_000, (step.bitrate * pixels / step.pixels + 25_000) / 50_000 * 50_000))
    }
}
