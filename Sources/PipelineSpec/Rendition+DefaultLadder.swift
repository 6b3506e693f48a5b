extension Rendition {
    /// The larger renditions of the default ladder: length of the short side, pixel count of a 16:9 frame of that
    /// height, and bit rate in bit/s for that pixel count.
    private static let steps = [
        (shortSide: 720, pixels: 1280 * 720, bitrate: 2_500_000),
        (shortSide: 480, pixels: 854 * 480, bitrate: 1_200_000),
        (shortSide: 360, pixels: 640 * 360, bitrate: 700_000),
    ]

    /// The smallest rendition, for viewers on slow networks: with container overhead and 128 kbit/s of audio, it stays
    /// below 350 kbit/s. Its bit rate is fixed, because the rate per pixel of the larger renditions would exceed that
    /// limit.
    private static let smallest = (shortSide: 240, bitrate: 150_000)
    /// The name of the rendition without video.
    private static let audioOnlyName = "audioOnly"

    /// Returns the default renditions: 720p, 480p, 360p and 240p in the canvas's aspect ratio, none larger than the
    /// canvas; then audio only.
    ///
    /// If the canvas's short side is between two of these sizes (or below all of them), the first rendition has the
    /// size of the canvas. Sizes above 90 % of the first rendition are omitted.
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

    /// Returns the default ladder of earlier versions of the program, without the 240p and audio-only renditions. A
    /// room that was started with this ladder keeps it.
    static func firstLadder(for canvas: Pipeline.Canvas) -> [Rendition] {
        let short = min(canvas.width, canvas.height)
        guard short > 0 else { return [] }
        let top = min(short, steps[0].shortSide)
        let below = self.steps.map(\.shortSide).filter { $0 * 10 <= top * 9 }
        return ([top] + below).map { self.step($0, of: canvas) }
    }

    /// Returns the rendition whose short side is `side`, in the canvas's aspect ratio.
    ///
    /// - Parameter bitrate: Bit rate in bit/s; `nil`: the default ladder's rate for this number of pixels.
    private static func step(_ side: Int, of canvas: Pipeline.Canvas, bitrate: Int? = nil) -> Rendition {
        let short = max(1, min(canvas.width, canvas.height))
        // Rounded to the nearest even number, but never larger than the canvas.
        let width = min(canvas.width, max(16, (canvas.width * side + short) / (2 * short) * 2))
        let height = min(canvas.height, max(16, (canvas.height * side + short) / (2 * short) * 2))
        return Rendition(
            name: "\(side)p", width: width, height: height, fps: canvas.fps,
            video: VideoEncoding(bitrate: bitrate ?? self.defaultBitrate(width: width, height: height)))
    }

    /// Returns the default bit rate for frames of this size, in bit/s, rounded to 50,000 (100,000…50,000,000).
    ///
    /// The rate per pixel is that of the smallest of 720p, 480p and 360p with at least as many pixels, or of 720p if
    /// the frame is larger.
    package static func defaultBitrate(width: Int, height: Int) -> Int {
        let pixels = width * height
        let step = self.steps.last { $0.pixels >= pixels } ?? self.steps[0]
        return min(50_000_000, max(100_000, (step.bitrate * pixels / step.pixels + 25_000) / 50_000 * 50_000))
    }
}

extension Pipeline {
    /// Keeps the default ladder of an earlier version of the program if it started the room. Players already have the
    /// multivariant playlist, and a rendition that is added later has no earlier segments.
    ///
    /// - Parameters:
    ///   - tracks: Names of the tracks that the room has.
    ///   - hasAudioOnly: Whether the room's multivariant playlist has an audio-only variant.
    mutating func keepLadder(tracks: Set<String>, hasAudioOnly: Bool) {
        let first = Rendition.firstLadder(for: self.canvas).map(\.name)
        guard !hasAudioOnly, tracks.subtracting(self.audioRenditions.map(\.name)) == Set(first) else { return }
        self.renditions.removeAll { !first.contains($0.name) }
    }
}
