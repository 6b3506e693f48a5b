import HLSLint

/// The linter, which reads playlists and media of foreign servers. Input: replies, between them the byte 0x1E.
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
        for name in FuzzFiles.names(folder) where name.hasSuffix(".mp4") || name.hasSuffix(".m4s") {
            let list =
                "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:2,\ns.m4s\n"
            seeds.append((name, Array(list.utf8) + [0x1E] + FuzzFiles.bytes("\(folder)/\(name)").prefix(2500)))
        }
        return seeds
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
            let body = replies.popFirst()
            let reply = LintReply(
                status: body == nil ? 404 : request.range == nil ? 200 : 206, headers: [:], body: Array(body ?? []),
                sentAt: now, receivedAt: now + 10_000_000)
            requests += linter.received(reply, for: request)
            if requests.count > 4000 { return "\(requests.count) requests at once" }
        }
        linter.finish(at: now)
        if linter.findings.count > linter.findingCount { return "more findings than were found" }
        if linter.byteCount < 0 { return "fewer bytes than none" }
        return nil
    }
}
