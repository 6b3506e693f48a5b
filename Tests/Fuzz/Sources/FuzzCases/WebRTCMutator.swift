/// Mutates descriptions line by line; other inputs by bytes.
enum WebRTCMutator {
    private static let lines = [
        "a=mid:0", "a=mid:1", "a=setup:passive", "a=rtcp-mux", "a=bundle-only", "a=sendonly", "a=recvonly",
        "a=inactive",
        "a=extmap:3 urn:3gpp:video-orientation", "a=extmap:15/sendonly urn:3gpp:video-orientation",
        "a=rid:h send pt=96",
        "a=simulcast:send h;m,~l", "a=rtpmap:96 H264/90000", "a=fmtp:96 apt=96", "a=rtcp-fb:* nack pli", "a=ice-lite",
        "a=group:BUNDLE 1 0", "a=group:BUNDLE", "a=ssrc:4294967295 cname:x", "m=audio 0 UDP/TLS/RTP/SAVPF 111",
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=", "=", "v=0",
        "a=extmap-allow-mixed", "a=fmtp:96 profile-level-id=640c1f;packetization-mode=0",
    ]
    private static let values = [
        "0", "1", "96", "127", "128", "255", "65536", "-1", "4294967296", "", " ", "*", "\u{e9}",
    ]

    static func mutate(_ bytes: [UInt8], _ seed: UInt64) -> [UInt8] {
        var random = FuzzRandom(seed: seed)
        guard let first = bytes.first, [0, 1, 5].contains(first % 7) else {
            var bytes = bytes
            SessionMutator.flip(&bytes, &random)
            return bytes
        }
        let text = bytes.dropFirst()
        var lines = text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { Array($0) }
        for _ in 0..<(1 + random.below(3)) { Self.change(&lines, &random) }
        let end: [UInt8] = random.pick([[0x0D, 0x0A], [0x0D, 0x0A], [0x0A], [0x0D]], or: [0x0A])
        return [first] + lines.flatMap { $0 + end }
    }

    private static func change(_ lines: inout [[UInt8]], _ random: inout FuzzRandom) {
        guard !lines.isEmpty else {
            lines = [Array("v=0".utf8)]
            return
        }
        let at = random.below(lines.count)
        switch random.below(8) {
        case 0: lines.remove(at: at)
        case 1: lines.insert(lines[at], at: random.below(lines.count))
        case 2: lines.swapAt(at, random.below(lines.count))
        case 3: lines.insert(Array(random.pick(Self.lines, or: "a=x").utf8), at: at)
        case 4: lines[at] = Array(random.pick(Self.lines, or: "a=x").utf8)
        case 5:
            // One word of a line becomes another value.
            let marks: [UInt8] = Array(" :/=;-".utf8)
            let ends = lines[at].indices.filter { marks.contains(lines[at][$0]) }
            guard let start = ends.isEmpty ? nil : random.pick(ends, or: 0) else { return }
            let end = ends.first { $0 > start } ?? lines[at].count
            lines[at].replaceSubrange((start + 1)..<end, with: Array(random.pick(Self.values, or: "0").utf8))
        case 6: lines[at].append(contentsOf: lines[random.below(lines.count)].prefix(40))
        default: SessionMutator.flip(&lines[at], &random)
        }
    }
}
