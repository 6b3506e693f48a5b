extension Rendition {
    /// The steps of the default ladder: short side, and bit/s for the pixels of a 16:9 picture of that height.
    private static let steps = [
        (shortSide: 720, pixels: 1280 * 720, bitrate: 2_500_000),
        (shortSide: 480, pixels: 854 * 480, bitrate: 1_200_000),
        (shortSide: 360, pixels: 640 * 360, bitrate: 700_000),
    ]

    /// For viewers whose network carries less than the last step: with its container and 128 kbit/s of audio it stays below
    /// 350 kbit/s. Rated by itself, since at this size a step's price per pixel would be above that.
    private static let smallest = (shortSide: 240, bitrate: 150_000)
    /// The name of the rendition without pictures.
    private static let audioOnlyName = "audioOnly"

    /// 720p, 480p, 360p and 240p in the shape of the canvas, none larger than the canvas; then the audio alone.
    ///
    /// A canvas whose short side lies between two steps (or below all) gets a first step of its own size; a step within
    /// a tenth of that is left out.
    package static func defaultLadder(for canvas: Pipeline.Canvas) -> [Rendition] {
        var ladder = self.firstLadder(for: canvas)
        guard let top = ladder.first else { return [] }
        if self.smallest.shortSide * 10 <= min(top.width, top.height) * 9 {
            ladder.append(self.step(self.smallest.shortSide, of: canvas, bitrate: self.smallest.bitrate))
        }
        var audio = Rendition(
            name: self.audioOnlyName, width: 16, height: 16, fps: canvas.fps, video: VideoEncoding(bitrate: 0))
        audio.isAudioOnly = true
        return ladder + [audio]
    }

    /// The default ladder of rooms that began before there was a smallest step: such a room keeps it for as long as it runs.
    static func firstLadder(for canvas: Pipeline.Canvas) -> [Rendition] {
        let short = min(canvas.width, canvas.height)
        guard short > 0 else { return [] }
        let top = min(short, steps[0].shortSide)
        let below = self.steps.map(\.shortSide).filter { $0 * 10 <= top * 9 }
        return ([top] + below).map { self.step($0, of: canvas) }
    }

    /// - Parameter bitrate: Bits per second; `nil`: what the ladder spends on as many pixels.
    private static func step(_ side: Int, of canvas: Pipeline.Canvas, bitrate: Int? = nil) -> Rendition {
        let short = max(1, min(canvas.width, canvas.height))
        // Even, rounded to the nearer one, and never above the canvas.
        let width = min(canvas.width, max(16, (canvas.width * side + short) / (2 * short) * 2))
        let height = min(canvas.height, max(16, (canvas.height * side + short) / (2 * short) * 2))
        return Rendition(
            name: "\(side)p", width: width, height: height, fps: canvas.fps,
            video: VideoEncoding(bitrate: bitrate ?? self.defaultBitrate(width: width, height: height)))
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

extension Pipeline {
    /// Keeps the default ladder that a running room began with, if an earlier version of the program began it: players hold its
    /// multivariant playlist, and a rendition that joins later has no segments for them.
    ///
    /// - Parameters:
    ///   - tracks: Names of the tracks that the room has.
    ///   - hasAudioOnly: Its multivariant playlist offers the audio alone.
    mutating func keepLadder(tracks: Set<String>, hasAudioOnly: Bool) {
        let first = Rendition.firstLadder(for: self.canvas).map(\.name)
        guard !hasAudioOnly, tracks.subtracting(self.audioRenditions.map(\.name)) == Set(first) else { return }
        self.renditions.removeAll { !first.contains($0.name) }
    }
}
