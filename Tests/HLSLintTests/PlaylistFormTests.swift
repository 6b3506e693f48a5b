import HLSLint
import Testing

@Suite("Linter: what other packagers write")
struct PlaylistFormTests {
    /// What the linter finds in a list of its own, and asks for next.
    private static func read(_ lines: String) -> (rules: Set<Rule>, requests: [LintRequest]) {
        var linter = Linter(url: "https://example.org/v.m3u8")
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)\n"
        let requests = linter.begin(at: 0).flatMap { request in
            linter.received(
                LintReply(status: 200, body: Array(list.utf8), sentAt: 1_000, receivedAt: 2_000), for: request)
        }
        return (Set(linter.findings.map(\.rule)), requests)
    }

    @Test("a range without an offset begins behind the one before it: rfc8216bis §4.4.4.2")
    func ranges() {
        let segments = ["1880@188|all.ts", "940|all.ts", "376|all.ts", "188@0|other.ts", "188|other.ts"].map { text in
            let pieces = text.split(separator: "|")
            return "#EXTINF:2,\n#EXT-X-BYTERANGE:\(pieces[0])\n\(pieces[1])"
        }
        let read = Self.read("#EXT-X-VERSION:4\n" + segments.joined(separator: "\n"))
        let ranges = read.requests.compactMap(\.range).map { [$0.start, $0.count] }
        #expect(ranges == [[188, 1_880], [2_068, 940], [3_008, 376], [0, 188], [188, 188]])
    }

    @Test(
        "a version is what the tags need: rfc8216bis §8",
        arguments: [
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"", 5), ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", 3),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"identity\"", 5),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMATVERSIONS=\"1\"", 5),
            ("#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"", 8), ("#EXT-X-DEFINE:QUERYPARAM=\"a\"", 11),
        ])
    func versions(tag: String, needed: Int) {
        let findings = (needed - 1...needed + 1).map { version in
            Self.read("#EXT-X-VERSION:\(version)\n\(tag)\n#EXTINF:2.0,\na.ts").rules
        }
        #expect(findings[0].contains(.versionLow) && !findings[0].contains(.versionHigh))
        #expect(findings[1].isDisjoint(with: [.versionLow, .versionHigh]))
        #expect(findings[2].contains(.versionHigh) && !findings[2].contains(.versionLow))
    }

    @Test(
        "CLOSED-CAPTIONS=NONE of a variant of sound alone stands for none with pictures: rfc8216bis §4.4.6.2",
        arguments: [
            ([true, true, true], false), ([true, true, false], false), ([false, false, false], false),
            ([true, false, true], true), ([true, false, false], true), ([false, false, true], true),
        ])
    func captions(saysNone: [Bool], isMixed: Bool) {
        let variants = zip(["avc1.64001f", "avc1.42c01e", "mp4a.40.2"], saysNone).map { codec, isNone in
            "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"\(codec)\"\(isNone ? ",CLOSED-CAPTIONS=NONE" : "")\n\(codec).m3u8"
        }
        #expect(Self.read(variants.joined(separator: "\n")).rules.contains(.captionsMixed) == isMixed)
    }
}
