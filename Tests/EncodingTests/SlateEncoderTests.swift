import Encoding
import LibAV
import MediaTypes
import Testing

@Suite("Slate encoded with the renditions' encoders")
struct SlateEncoderTests {
    private static func rendition(_ name: String, _ width: Int, fps: Int, bFrames: Int) -> EncodedRendition {
        EncodedRendition(
            name: name,
            settings: VideoEncoderSettings(
                width: width, height: width * 9 / 16, fps: fps, preset: "ultrafast", profile: "high", bitrate: 300_000,
                maxBitrate: 360_000, bufferSize: 360_000, bFrames: bFrames, lookaheadFrames: 3, threads: 1),
            frameStep: 30 / fps)
    }

    @Test("slate is one part per rendition, starting with an IDR frame, and one frame per audio bit rate")
    func everyTrack() throws {
        let renditions = [
            Self.rendition("large", 320, fps: 30, bFrames: 0), Self.rendition("half", 160, fps: 15, bFrames: 0),
            Self.rendition("reordered", 160, fps: 30, bFrames: 2),
        ]
        var settings = EncodingStage.Settings(
            width: 320, height: 180, fps: 30, gopFrames: 32, sampleRate: 48_000, audioBitrates: [128_000, 48_000],
            isOffline: false)
        // The short segments of a live room's start have an IDR frame at frame 16; slate must not.
        settings.opening = StartupSegments(fps: 30, gopFrames: 32, segmentFrames: 64, steps: [1, 2, 1])
        try #require(settings.opening != nil)
        let ladder = try EncodingStage.open(
            renditions: renditions, settings: settings,
            output: EncodingStage.Output(packet: { _, _ in }, finished: { _ in }, failed: { _ in }))
        defer { ladder.finish() }
        let picture = try PictureCanvas.open(width: 320, height: 180, fill: .black).finish()
        let tracks = try SlateEncoder.code(picture, frames: 32, like: ladder)
        #expect(tracks.map(\.count) == [32, 16, 32, 1, 1])
        for (track, fps) in zip(tracks, [30, 15, 30]) {
            #expect(track.allSatisfy { $0.kind == .video })
            let tick = Int64(track.first?.timescale ?? 0) / Int64(fps)
            #expect(track.map(\.isKey) == [true] + track.dropFirst().map { _ in false })
            #expect(track.map(\.pts).sorted() == (0..<Int64(track.count)).map { $0 * tick })
            #expect(zip(track, track.dropFirst()).allSatisfy { $0.dts < $1.dts })
            #expect(track.first?.pts == 0)
        }
        for track in tracks.suffix(2) { #expect(track.first?.kind == .audio && track.first?.duration == 1_024) }
        #expect(tracks[3][0].count >= tracks[4][0].count && tracks[4][0].count > 0)
    }
}
