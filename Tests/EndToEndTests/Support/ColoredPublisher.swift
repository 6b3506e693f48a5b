import Foundation

/// A publisher with a color and a tone of its own, so that the decoded output shows whether it is seen and heard.
struct ColoredPublisher {
    let uid: String
    /// Stream key in the pipeline that the test writes.
    let key: String
    let color: ColorShares.Color
    /// Frequency of its tone in hertz.
    let hertz: Int

    static let host = ColoredPublisher(uid: "1001", key: "a", color: .yellow, hertz: 400)
    static let guest = ColoredPublisher(uid: "2002", key: "b", color: .magenta, hertz: 1000)
    static let third = ColoredPublisher(uid: "4004", key: "c", color: .lime, hertz: 1700)
    static let all = [Self.host, Self.guest, Self.third]

    /// Starts FFmpeg, which publishes the color and the tone to the room.
    func publish(to room: RunningRoom, _ media: Media) throws -> Publisher {
        try Publisher.ffmpeg(
            media.ffmpeg, to: room.url(self.key), size: "320x180", hertz: self.hertz,
            picture: "color=c=\(self.color.rawValue)")
    }
}

/// A span of program time in which a command hides a publisher, in seconds.
struct HiddenSpan {
    var publisher: ColoredPublisher
    var hidesVideo = true
    var hidesAudio = true
    /// When the command was answered.
    var start: Double
    /// When the command that ends it was sent.
    var end = Double.infinity
}

/// Everything that viewers of a room got from all its workers, decoded.
struct ColoredOutput {
    let colors: ColorShares
    private let tones: Tones

    /// Decodes all segments of a room with the rendition of ``Rooms/small``.
    init(_ directory: String, _ media: Media) throws {
        let listed = Set(try Playlist(contentsOf: "\(directory)/180p.m3u8").segments.map(\.uri))
        let files = try Files.names(in: directory).filter { $0.hasPrefix("180p-") && $0.hasSuffix(".m4s") }
        guard Set(files) == listed else { throw Missing("the playlist does not list all segments: \(files)") }
        self.colors = try ColorShares("\(directory)/180p.m3u8", width: 320, height: 180, media)
        self.tones = try Tones("\(directory)/audio.m3u8", media)
    }

    /// Frames that show a publisher, and the highest amplitude of its tone; nil if the span has no audio.
    func shows(
        _ publisher: ColoredPublisher, from start: Double = 0, to end: Double = .infinity
    ) -> (frames: Int, amplitude: Double?) {
        let frames = self.colors.times(with: publisher.color, over: 0.2, from: start, to: end)
        return (frames.count, self.tones.peak(publisher.hertz, from: start, to: end))
    }

    /// Times of frames that show a hidden publisher, and the highest amplitude of its tone while it is muted.
    func faults(_ span: HiddenSpan) -> (frames: [Double], amplitude: Double?) {
        // A command takes effect within one tick and 50 ms, which are 2.5 frames. A mute is a ramp.
        let gone = span.start + 2.5 / 30
        let frames = self.colors.times(with: span.publisher.color, over: 0.002, from: gone, to: span.end)
        let amplitude = self.tones.peak(span.publisher.hertz, from: gone + 0.2, to: span.end)
        return (span.hidesVideo ? frames : [], span.hidesAudio ? amplitude : nil)
    }
}
