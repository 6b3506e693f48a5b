import HLS
import HLSLint
import MediaTypes
import Testing

@Suite("Lint: playlists of other packagers")
struct PlaylistFormTests {
    /// The linter's findings for a single playlist, and its next requests.
    private static func read(_ lines: String) -> (rules: Set<Rule>, requests: [LintRequest]) {
        var linter = Linter(url: "https://example.org/v.m3u8")
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)\n"
        let requests = linter.begin(at: 0).flatMap { request in
            linter.received(
                LintReply(status: 200, body: Array(list.utf8), sentAt: 1_000, receivedAt: 2_000), for: request)
        }
        return (Set(linter.findings.map(\.rule)), requests)
    }

    @Test("a byte range without an offset starts after the one before it: rfc8216bis §4.4.4.2")
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
        "a playlist version below or above what the tags need is a finding: rfc8216bis §8",
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
        "CLOSED-CAPTIONS=NONE must be on all variants with video or on none; audio-only ones may differ",
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

    /// Tandem's initialization segment with the sample entry of protected video. Spec: ISO/IEC 14496-12 §8.12.
    private static func protected() throws -> [UInt8] {
        var bytes = try InitializationSegmentWriter.bytes(
            for: CodecParameters(codec: .h264, configuration: Script.large), width: 1_280, height: 720,
            grid: OutputGrid(fps: 30), place: "test")
        func size(at place: Int) -> Int { bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) } }
        let places = try ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"].map { type in
            try #require(bytes.behind(type).first) - 8
        }
        let entry = try #require(places.last)
        let end = entry + size(at: entry)
        let format: [UInt8] = [0, 0, 0, 12] + Array("frmaavc1".utf8)
        for place in places {
            let grown = size(at: place) + 8 + format.count
            for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: grown >> (24 - 8 * index)) }
        }
        bytes.insert(contentsOf: [0, 0, 0, UInt8(8 + format.count)] + Array("sinf".utf8) + format, at: end)
        return bytes.renaming("avc1", "encv").patching("frma", 0, Array("avc1".utf8))
    }

    @Test(
        "CODECS of SAMPLE-AES media is compared with the codec in its original format box (frma)",
        arguments: [("avc1.64001f", true), ("hvc1.1.6.L93", false)])
    func protectedSamples(declared: String, isRight: Bool) throws {
        let base = "https://example.org/"
        let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.apple.streamingkeydelivery\""
        let replies: [String: [UInt8]] = [
            "index.m3u8": Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"\(declared)\"\nv.m3u8\n".utf8),
            "v.m3u8": Array(
                ("#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"v.mp4\"\n\(key)\n"
                    + "#EXTINF:2.0,\nv.m4s\n#EXT-X-ENDLIST\n").utf8),
            "v.mp4": try Self.protected(), "v.m4s": [UInt8](repeating: 7, count: 100),
        ]
        var linter = Linter(url: base + "index.m3u8")
        var requests = linter.begin(at: 0)
        var asked: Set<String> = []
        while let request = requests.popLast() {
            guard asked.insert(request.url).inserted else { continue }
            let body = replies[String(request.url.dropFirst(base.count))]
            requests += linter.received(
                LintReply(status: body == nil ? 404 : 200, body: body ?? [], sentAt: 1_000, receivedAt: 2_000),
                for: request)
        }
        linter.finish(at: 3_000)
        #expect(asked.count == 4)
        let rules = Set(linter.findings.map(\.rule))
        #expect(rules.contains(.codecsWrong) == !isRight && !rules.contains(.mapUnreadable), "\(rules)")
    }
}
