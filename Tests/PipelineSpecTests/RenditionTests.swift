import PipelineSpec
import Testing

@Suite("The default ladder")
struct RenditionTests {
    private func ladder(_ width: Int, _ height: Int) -> [String] {
        Rendition.defaultLadder(for: .init(width: width, height: height)).map {
            "\($0.name) \($0.width)x\($0.height) \($0.video.bitrate)"
        }
    }

    @Test("is 720p, 480p and 360p in the shape of the canvas")
    func knownLadders() {
        #expect(self.ladder(1280, 720) == ["720p 1280x720 2500000", "480p 854x480 1200000", "360p 640x360 700000"])
        #expect(self.ladder(720, 1280) == ["720p 720x1280 2500000", "480p 480x854 1200000", "360p 360x640 700000"])
        #expect(self.ladder(1920, 1080) == ["720p 1280x720 2500000", "480p 854x480 1200000", "360p 640x360 700000"])
        #expect(self.ladder(640, 360) == ["360p 640x360 700000"])
        #expect(self.ladder(320, 180) == ["180p 320x180 200000"])
        #expect(self.ladder(720, 640) == ["640p 720x640 1250000", "480p 540x480 750000", "360p 406x360 450000"])
    }

    @Test("never exceeds the canvas, stays even, and keeps its shape to a pixel")
    func ladderFitsAnyCanvas() {
        for width in stride(from: 64, through: 1920, by: 58) {
            for height in stride(from: 64, through: 1920, by: 62) where max(width, height) <= 8 * min(width, height) {
                let ladder = Rendition.defaultLadder(for: .init(width: width, height: height))
                #expect(!ladder.isEmpty)
                #expect(Set(ladder.map(\.name)).count == ladder.count)
                for step in ladder {
                    #expect(step.width <= width && step.height <= height)
                    #expect(step.width.isMultiple(of: 2) && step.height.isMultiple(of: 2))
                    #expect(abs(step.width * height - step.height * width) <= max(width, height))
                }
            }
        }
    }

    @Test("the peak is a tenth above the target, and the buffer one second of the peak")
    func rateDefaults() {
        let video = VideoEncoding(bitrate: 2_048_005)
        #expect(video.maxBitrate == 2_252_806)
        #expect(video.bufferSize == 2_252_806)
    }
}
