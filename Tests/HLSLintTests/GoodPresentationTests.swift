import HLSLint
import Testing

@Suite("Lint: a presentation without a fault")
struct GoodPresentationTests {
    @Test("the linter fetches all segments and most parts of an 80 s low-latency room and reports no finding")
    func nothing() throws {
        let linter = ScriptServer(script: try Script.shared.get(), fault: Fault()).run()
        for finding in linter.findings { Issue.record("\(finding.text(since: 0))") }
        #expect(linter.findingCount == 0)
        #expect(linter.isEnded)
        #expect(linter.playlistCount == 3 + 2 + 1)
        // Each video segment has two key frames, the last one has one.
        #expect(linter.segmentCount == (3 + 1) * 38 + 2 * (2 * 38 - 1))
        #expect(linter.partCount > 3 * 130)
        // The window has 13 segments; removed ones are kept until their time is over.
        #expect(linter.recordCount < 3 * 38 + 2 * 2 * 38)
    }

    @Test(
        "the linter accepts a media playlist's URL, also after the stream's end, and finds only that rendition reports are missing"
    )
    func alone() throws {
        let script = try Script.shared.get()
        let entries = [
            ("360p.m3u8", Int64(9_000_000_000)), ("audio.m3u8", script.end + 1_000_000_000),
            ("720p-iframes.m3u8", 9_000_000_000),
        ]
        for (entry, start) in entries {
            let linter = ScriptServer(script: script, fault: Fault()).run(entry: entry, start: start)
            for finding in linter.findings where finding.rule != .reportMissing {
                Issue.record("\(entry): \(finding.text(since: 0))")
            }
            #expect(linter.segmentCount > 10 && linter.isEnded)
        }
    }

    @Test("two renditions with equal bytes are not reported as mixed up")
    func twins() throws {
        let script = try Script.shared.get()
        let fault = Fault(object: { name, bytes in
            guard name.hasPrefix("360p"), let other = script.objects[name.replacing("360p", with: "720p")] else {
                return bytes
            }
            return other.bytes
        })
        let linter = ScriptServer(script: script, fault: fault).run()
        #expect(!linter.findings.contains { $0.rule == .segmentMixedUp })
    }

    @Test(
        "a date range that ended before the listed media may be in one playlist only, because they are not read at the same time"
    )
    func oldDateRange() throws {
        let range = "#EXT-X-DATERANGE:ID=\"old\",START-DATE=\"2023-11-14T22:13:00Z\""
        for range in [range, range + ",DURATION=5"] {
            let fault = Fault(text: { text, context in context.list == "audio.m3u8" ? text.adding(range) : text })
            let linter = ScriptServer(script: try Script.shared.get(), fault: fault).run()
            #expect(!linter.findings.contains { $0.rule == .dateRangesDiffer })
        }
    }
}
