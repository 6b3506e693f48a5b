import HLSLint
import Testing

@Suite("Lint: numbers and dates out of range")
struct HostilePlaylistTests {
    /// The linter's findings for a playlist if all other requests are answered with 404.
    private static func findings(_ list: String) -> [Finding] {
        var linter = Linter(url: "https://example.org/index.m3u8")
        var requests = linter.begin(at: 0)[...]
        var isFirst = true
        var answered = 0
        while let request = requests.popFirst(), answered < 10 {
            answered += 1
            let reply = LintReply(
                status: isFirst ? 200 : 404, body: isFirst ? Array(list.utf8) : [], sentAt: 1_000, receivedAt: 2_000)
            isFirst = false
            requests += linter.received(reply, for: request)
        }
        linter.finish(at: 3_000)
        return linter.findings
    }

    private static func list(_ lines: String) -> String {
        "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n\(lines)\n#EXTINF:2,\na.ts\n"
    }

    @Test(
        "a PROGRAM-DATE-TIME that does not fit in 64 bits of nanoseconds is a finding that quotes it",
        arguments: ["9999-12-31T23:59:59Z", "2262-04-12T00:00:00Z", "0000-01-01T00:00:00.5Z"])
    func farDate(date: String) {
        let findings = Self.findings(Self.list("#EXT-X-PROGRAM-DATE-TIME:\(date)"))
        #expect(findings.contains { $0.what.contains(date) })
        #expect(
            !Self.findings(Self.list("#EXT-X-PROGRAM-DATE-TIME:2026-01-31T20:00:00Z")).contains {
                $0.what.contains("DATE-TIME is")
            })
    }

    @Test("durations, target durations and hold-backs of years do not overflow in the linter")
    func longDurations() {
        let parts = "#EXT-X-PART-INF:PART-TARGET=999999999\n#EXT-X-PART:DURATION=999999998,URI=\"p\"\n"
        let findings = Self.findings(
            Self.list(
                "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=9999999,PART-HOLD-BACK=9999999\n\(parts)"
                    + "#EXT-X-PART:DURATION=9999999,URI=\"q\"\n#EXT-X-PART:DURATION=9999999,URI=\"r\""))
        #expect(!findings.isEmpty)
        let far = "#EXTM3U\n#EXT-X-TARGETDURATION:9223372036854775807\n#EXTINF:9999999,\na.ts\n"
        #expect(!Self.findings(far).isEmpty)
    }

    @Test("sums of long durations, and bandwidths of 2⁶³-1, do not overflow in the linter")
    func sums() {
        let age = String(repeating: "#EXTINF:9999999,\na.ts\n", count: 1_000)
        #expect(!Self.findings("#EXTM3U\n#EXT-X-TARGETDURATION:9999999\n\(age)").isEmpty)
        let most = Int64.max
        let variants =
            "#EXT-X-STREAM-INF:BANDWIDTH=\(most),AVERAGE-BANDWIDTH=\(most)\nv.m3u8\n"
            + "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=\(most),URI=\"i.m3u8\"\n"
        #expect(!Self.findings("#EXTM3U\n\(variants)").isEmpty)
    }
}
