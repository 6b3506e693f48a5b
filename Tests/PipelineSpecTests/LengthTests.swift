import MediaTypes
import PipelineSpec
import TestSupport
import Testing

@Suite("Lengths: pixels, or percent of the canvas")
struct LengthTests {
    @Test(
        "a percentage with up to four decimals is read exactly, in millionths",
        arguments: [("0%", 0), ("50%", 500_000), ("33.3333%", 333_333), ("100%", 1_000_000), ("100.0%", 1_000_000)])
    func reads(text: String, share: Int) {
        #expect(Length(percent: text) == .share(share))
    }

    @Test(
        "a length text that is no percentage from 0% to 100% is refused",
        arguments: ["", "%", "50", "-1%", "+1%", "100.0001%", "101%", "1.%", ".5%", "1.23456%", "1,5%", "1e1%", " 5%"])
    func refuses(text: String) {
        #expect(Length(percent: text) == nil)
    }

    @Test(
        "a percentage is equal after it is written and read again", arguments: ["0%", "50%", "33.33%", "12.5%", "100%"])
    func writes(text: String) {
        #expect(Length(percent: text)?.description == text)
    }

    @Test(
        "areas side by side whose percentages add up to 100 leave no gap and no overlap, on canvases of random even width"
    )
    func tiles() {
        var random = TestRandom(state: 1)
        for _ in 0..<2000 {
            let width = Int.random(in: 32...960, using: &random) * 2
            let count = Int.random(in: 1...9, using: &random)
            let cuts =
                [0] + (1..<count).map { _ in Int.random(in: 0...Length.whole, using: &random) }.sorted()
                + [Length.whole]
            var end = 0
            for (left, right) in zip(cuts, cuts.dropFirst()) {
                let area = Area(x: .share(left), y: 0, width: .share(right - left), height: 2)
                let rect = area.pixels(width: width, height: 64)
                #expect(rect.x == end && rect.width >= 0)
                #expect(rect.x.isMultiple(of: 2) && rect.width.isMultiple(of: 2))
                end = rect.x + rect.width
            }
            #expect(end == width)
        }
    }

    @Test("a pane's area in percent, pixels or both gives a rectangle with even positions and sizes")
    func known() {
        func rect(_ x: String, _ width: String) -> [Int] {
            guard let x = Length(percent: x), let width = Length(percent: width) else { return [] }
            let rect = Area(x: x, y: 0, width: width, height: 2).pixels(width: 1280, height: 720)
            return [rect.x, rect.width]
        }
        #expect(rect("0%", "50%") == [0, 640] && rect("50%", "50%") == [640, 640])
        #expect(rect("0%", "33.33%") == [0, 426] && rect("33.33%", "33.33%") == [426, 426])
        #expect(rect("66.66%", "33.34%") == [852, 428])
        let mixed = Area(x: 321, y: .share(100_000), width: .share(500_000), height: 101)
        #expect(mixed.pixels(width: 1280, height: 720) == PixelRect(x: 320, y: 72, width: 640, height: 100))
        #expect(Area.whole.pixels(width: 1282, height: 722) == PixelRect(x: 0, y: 0, width: 1282, height: 722))
    }
}
