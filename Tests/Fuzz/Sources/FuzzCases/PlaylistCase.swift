import HLSLint

/// The linter, which reads playlists and media of other servers. Input: replies, separated by the byte 0x1E. A reply
/// that starts with the byte 0x1F has its status and its header fields in the next two bytes; others are 200 or 206
/// without any.
enum PlaylistCase {
    static let entry = FuzzCase("playlists", longest: 5000, seeds: Self.seeds, run: Self.run)

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        let folder = FuzzFiles.tests + "/HLSTests/Golden"
        let lists = FuzzFiles.names(folder).filter { $0.hasSuffix(".m3u8") }
        var seeds: [(name: String, bytes: [UInt8])] = []
        for name in lists {
            let list = FuzzFiles.bytes("\(folder)/\(name)").prefix(2000)
            seeds.append((name, Array(list)))
            let head = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9000,CODECS=\"avc1.42c00a\",RESOLUTION=64x64\nlow.m3u8\n"
            seeds.append(("variant.\(name)", Array(head.utf8) + [0x1E] + list + [0x1E] + list))
        }
        // The same with more header fields.
        let marks: [[UInt8]] = [
            [0x1F, 254, 0x15], [0x1F, 254, 0x0A], [0x1F, 2, 0x20], [0x1F, 255, 0], [0x1F, 254, 0x80],
        ]
        for (mark, name) in zip(marks, lists) {
            let list = Array(FuzzFiles.bytes("\(folder)/\(name)").prefix(1500))
            let again: [UInt8] = mark + list + [0x1E] + mark + list
            seeds.append(("said.\(name)", mark + list + [0x1E] + again))
        }
        for name in FuzzFiles.names(folder) where name.hasSuffix(".mp4") || name.hasSuffix(".m4s") {
            let list =
                "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:2,\ns.m4s\n"
            seeds.append((name, Array(list.utf8) + [0x1E] + FuzzFiles.bytes("\(folder)/\(name)").prefix(2500)))
        }
        return seeds
    }

    private static let statuses = [200, 206, 301, 302, 400, 403, 404, 416, 500, 503]
    private static let fields = [
        ("content-type", "application/vnd.apple.mpegurl"), ("content-type", "video/mp4; codecs=x"),
        ("cache-control", "public, max-age=1"), ("cache-control", "no-store, MAX-AGE = 99999999999999999999"),
        ("content-encoding", "gzip"), ("location", "https://example.org/other.m3u8"),
    ]

    private static func reply(_ said: ArraySlice<UInt8>?, to request: LintRequest, at now: Int64) -> LintReply {
        let usual = request.range == nil ? 200 : 206
        guard var body = said else { return LintReply(status: 404, sentAt: now, receivedAt: now + 10_000_000) }
        guard body.first == 0x1F, body.count >= 3 else {
            return LintReply(status: usual, body: Array(body), sentAt: now, receivedAt: now + 10_000_000)
        }
        body.removeFirst()
        let (status, bits) = (Int(body.removeFirst()), body.removeFirst())
        var headers: [String: String] = [:]
        for (index, field) in Self.fields.enumerated() where bits >> UInt8(index) & 1 == 1 {
            headers[field.0] = field.1
        }
        // Beyond the table: no answer at all, or a slow one.
        guard status != 255 else {
            return LintReply(status: 0, failure: "no answer", sentAt: now, receivedAt: now + 3_000_000_000)
        }
        return LintReply(
            status: status == 254 ? usual : Self.statuses[status % Self.statuses.count], headers: headers,
            body: Array(body), sentAt: now, receivedAt: now + (bits & 0x80 == 0 ? 10_000_000 : 4_000_000_000),
            isLocal: bits & 0x40 != 0)
    }

    static func run(_ bytes: [UInt8]) -> String? {
        var replies = bytes.split(separator: 0x1E, omittingEmptySubsequences: false)[...]
        var linter = Linter(url: "https://example.org/live/index.m3u8")
        var now: Int64 = 1_000_000_000
        var requests = linter.begin(at: now)[...]
        var answered = 0
        while let request = requests.popFirst(), answered < 40 {
            answered += 1
            now += 200_000_000
            let reply = Self.reply(replies.popFirst(), to: request, at: now)
            requests += linter.received(reply, for: request)
            // Time never goes back.
            if reply.receivedAt - now > 10_000_000 { now = reply.receivedAt }
            if requests.count > 4000 { return "\(requests.count) requests at once" }
        }
        linter.finish(at: now)
        if linter.findings.count > linter.findingCount { return "more findings are listed than counted" }
        if linter.byteCount < 0 { return "a negative number of bytes" }
        return nil
    }
}
