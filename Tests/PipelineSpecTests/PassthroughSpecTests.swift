import PipelineSpec
import Testing

@Suite("Pipeline file: passthrough (a publisher's own video packets as a rendition)")
struct PassthroughSpecTests {
    private static let videoRendition =
        #"{ "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } }"#

    private static func read(_ renditions: String) -> SpecReport {
        Pipeline.parse(Documents.room.replacing("[ \(self.videoRendition) ]", with: "[ \(renditions) ]"))
    }

    @Test("passthrough is off by default and may be set to auto; another value is an error")
    func words() throws {
        #expect(try Self.read(Self.videoRendition).result.get().renditions[0].video.passthrough == .off)
        let auto = Self.videoRendition.replacing("2500000", with: #"2500000, "passthrough": "auto""#)
        #expect(try Self.read(auto).result.get().renditions[0].video.passthrough == .auto)
        let wrong = Self.read(Self.videoRendition.replacing("2500000", with: #"2500000, "passthrough": "on""#))
        #expect(wrong.mistakes.map(\.path) == ["renditions[0].video.passthrough"])
    }

    @Test("passthrough is refused for a rendition at half the canvas's frame rate")
    func impossible() {
        let report = Self.read(
            Self.videoRendition
                + #", { "name": "b", "width": 640, "height": 360, "fps": 15, "video": { "passthrough": "auto" } }"#)
        #expect(report.mistakes.map(\.path) == ["renditions[1].video.passthrough"])
    }

    @Test("passthrough is allowed for 854x480 on a canvas of 1280x720, although the ratio is rounded")
    func rounded() throws {
        let own = Self.read(
            Self.videoRendition + #", { "name": "b", "width": 854, "height": 480, "video": { "passthrough": "auto" } }"#
        )
        #expect(try own.result.get().renditions[1].video.passthrough == .auto)
    }
}
