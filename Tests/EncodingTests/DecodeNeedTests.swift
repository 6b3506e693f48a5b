import Encoding
import MediaTypes
import Testing

@Suite("Which frames of a source that is passed through are decoded")
struct DecodeNeedTests {
    private static let source = SourceID(uid: "1001")

    private static func facts(
        isPassed: Bool = true, isEncoded: Bool = false, isRecorded: Bool = false, isStillWanted: Bool = false,
        isFresh: Bool = false
    ) -> DecodeNeed.Facts {
        DecodeNeed.Facts(
            passed: isPassed ? self.source : nil, isEncoded: isEncoded, isRecorded: isRecorded,
            isStillWanted: isStillWanted, isFresh: isFresh)
    }

    @Test("only key frames of the passed source, or of all sources, are decoded while nothing shows the canvas")
    func rows() {
        for row in 0..<16 {
            let (isPassed, isEncoded, isRecorded, isStillWanted) = (
                row & 1 == 0, row & 2 != 0, row & 4 != 0, row & 8 != 0
            )
            var need = DecodeNeed(fps: 30)
            let decision = need.step(
                0,
                Self.facts(
                    isPassed: isPassed, isEncoded: isEncoded, isRecorded: isRecorded, isStillWanted: isStillWanted))
            let expected: KeyFrameSources = row == 0 ? .one(Self.source) : row == 1 ? .all : .none
            #expect(decision.keyFramesOnly == expected, "row \(row)")
            #expect(decision.isCanvasCurrent == (row > 1), "row \(row)")
        }
    }

    @Test("a still waits until the canvas shows the current frame again, and key frames alone are decoded after it")
    func still() {
        var need = DecodeNeed(fps: 30)
        #expect(!need.step(0, Self.facts()).isCanvasCurrent)
        for tick in Int64(1)..<4 {
            let decision = need.step(tick, Self.facts(isStillWanted: true))
            #expect(decision.keyFramesOnly == .none && !decision.isCanvasCurrent, "tick \(tick)")
        }
        let ready = need.step(4, Self.facts(isStillWanted: true, isFresh: true))
        #expect(ready.keyFramesOnly == .none && ready.isCanvasCurrent)
        #expect(need.step(5, Self.facts(isFresh: true)).keyFramesOnly == .one(Self.source))
    }

    @Test(
        "if the source never has a current frame, because it sends nothing, stills wait for a fifth of a second at most"
    )
    func stalled() {
        var need = DecodeNeed(fps: 30)
        _ = need.step(0, Self.facts())
        let current = (Int64(1)..<10).map {
            need.step($0, Self.facts(isPassed: false, isEncoded: true)).isCanvasCurrent
        }
        #expect(current == [false, false, false, false, false, false, true, true, true])
    }
}
