import HLS
import MediaKernels
import MediaTypes
import Testing

@Suite("I-frame playlists: rfc8216bis §4.4.3.6, §4.4.6.3")
struct IFramePlaylistTests {
    private static func segment(
        _ number: Int64, discontinuity: Bool = false, gap: Bool = false, map: String = "v-1.mp4"
    ) -> Segment {
        let start = number * 64_000
        return Segment(
            mediaSequence: number, uri: "v-1-\(number).m4s", start: start,
            duration: MediaDuration(ticks: 64_000, timescale: 30_000),
            programDate: 1_700_000_000_000_000_000 + number * 64 * 1_000_000_000 / 30,
            map: InitializationSegment(uri: map), discontinuity: discontinuity, gap: gap, byteCount: 9_000,
            keyFrames: [
                KeyFrame(start: start, offset: 24, byteCount: 1_000),
                KeyFrame(start: start + 32_000, offset: 5_000, byteCount: 1_100),
            ])
    }

    @Test(
        "each entry of an I-frame playlist is a key frame's byte range and lasts to the next key frame; a gap stays a gap"
    )
    func text() throws {
        var window = PlaylistWindow(style: .event, targetDuration: 2, iFrameSequence: 0)
        try window.append(Self.segment(0))
        try window.append(Self.segment(1, gap: true))
        try window.append(Self.segment(2, discontinuity: true, map: "v-2.mp4"))
        window.end()
        #expect(
            MediaPlaylist(iFramesOf: window).rendered() == """
                #EXTM3U
                #EXT-X-VERSION:5
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-DISCONTINUITY-SEQUENCE:0
                #EXT-X-PLAYLIST-TYPE:EVENT
                #EXT-X-I-FRAMES-ONLY
                #EXT-X-MAP:URI="v-1.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:20.000Z
                #EXTINF:1.06667,
                #EXT-X-BYTERANGE:1000@24
                v-1-0.m4s
                #EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:21.067Z
                #EXTINF:1.06666,
                #EXT-X-BYTERANGE:1100@5000
                v-1-0.m4s
                #EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:22.133Z
                #EXT-X-GAP
                #EXTINF:1.06667,
                v-1-1.m4s
                #EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:23.200Z
                #EXT-X-GAP
                #EXTINF:1.06667,
                v-1-1.m4s
                #EXT-X-DISCONTINUITY
                #EXT-X-MAP:URI="v-2.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:24.267Z
                #EXTINF:1.06666,
                #EXT-X-BYTERANGE:1000@24
                v-1-2.m4s
                #EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:25.333Z
                #EXTINF:1.06667,
                #EXT-X-BYTERANGE:1100@5000
                v-1-2.m4s
                #EXT-X-ENDLIST

                """)
        #expect(MediaPlaylist(iFramesOf: PlaylistWindow(style: .event, targetDuration: 2)).version == 4)
    }

    @Test("over 300 segments of a sliding window, an I-frame entry's number always names the same bytes")
    func numbers() throws {
        var window = PlaylistWindow(style: .live(windowSeconds: 8), targetDuration: 2, iFrameSequence: 0)
        var known: [Int64: String] = [:]
        for number in Int64(0)..<300 {
            // Segments of a publisher's own GOPs have one key frame, or none that can be addressed.
            var segment = Self.segment(number)
            if number % 5 == 3 { segment = segment.with(keyFrames: []) }
            if number % 7 == 2 { segment = segment.with(keyFrames: Array(segment.keyFrames.prefix(1))) }
            try window.append(segment)
            window.removeFirst(window.removableCount)
            let list = MediaPlaylist(iFramesOf: window)
            #expect(list.segments.first?.mediaSequence == list.mediaSequence)
            #expect(list.segments.map(\.duration.nanoseconds).reduce(0, +) - window.duration < 100)
            for entry in list.segments {
                let bytes = "\(entry.uri) \(entry.byteRange.map { "\($0)" } ?? "gap")"
                #expect(known[entry.mediaSequence] ?? bytes == bytes)
                known[entry.mediaSequence] = bytes
                #expect(entry.duration.roundedSeconds <= 2)
            }
        }
        #expect(known.count == (known.keys.max() ?? 0) + 1, "no number is left out")
    }

    @Test("I-frame playlists of a low-latency stream support blocking reload and delta updates, and have no parts")
    func lowLatency() throws {
        let grid = try Make.grid()
        var window = PlaylistWindow(style: .live(windowSeconds: 60), targetDuration: 2, iFrameSequence: 0)
        for number in Int64(0)..<20 { try window.append(Self.segment(number)) }
        let list = MediaPlaylist(iFramesOf: window, control: ServerControl(grid: grid))
        let text = list.rendered()
        #expect(text.contains("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"))
        #expect(!text.contains("EXT-X-PART") && !text.contains("PRELOAD-HINT"))
        #expect(list.position.nextMediaSequence == 40 && list.position.partCount == 0)
        #expect(list.skippableCount > 20)
        #expect(list.rendered(skipping: true).contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(list.skippableCount)\n"))
    }

    @Test(
        "with I-frame playlists, a key frame has a moof and mdat of its own, and the frames after it in the part have another pair"
    )
    func isolated() throws {
        let grid = try Make.grid()
        var plain = TrackSegmenter(kind: .video, grid: grid, firstTick: 0)
        var isolating = TrackSegmenter(kind: .video, grid: grid, firstTick: 0, isolatesKeys: true)
        var segments: [(FinishedSegment, FinishedSegment)] = []
        for frame in Int64(0)..<(64 * 3) {
            let packet = Make.picture(frame, key: frame % 32 == 0, size: frame % 32 == 0 ? 700 : 50)
            let before = plain.append(packet).segments
            segments += zip(before, isolating.append(packet).segments)
        }
        #expect(segments.count == 3)
        var sequence: UInt32 = 0
        for (whole, segment) in segments {
            #expect(whole.keyFrames.isEmpty && segment.start == whole.start && segment.duration == whole.duration)
            #expect(segment.keyFrames.map(\.start) == [segment.start, segment.start + 32_000])
            let bytes = segment.pieces.flatMap(\.bytes)
            for frame in segment.keyFrames {
                let range = frame.offset..<(frame.offset + frame.byteCount)
                let reader = BoxReader(bytes: Array(bytes[range]))
                let boxes = try #require(reader.boxes(in: 0..<range.count))
                #expect(boxes.map(\.type) == ["moof", "mdat"] && boxes[1].body.count == 700)
                let run = try #require(reader.first(["traf", "trun"], in: boxes[0].body))
                #expect(reader.u32(run.body.lowerBound + 4) == 1)
                let time = try #require(reader.first(["traf", "tfdt"], in: boxes[0].body))
                #expect(reader.u64(time.body.lowerBound + 4) == UInt64(frame.start))
            }
            // Fragment numbers rise over the key frame and what follows it.
            let reader = BoxReader(bytes: bytes)
            let fragments = try #require(reader.boxes(in: 0..<bytes.count)).filter { $0.type == "moof" }
            #expect(fragments.count == 6, "four parts, two of which begin with a key frame")
            for fragment in fragments {
                let head = try #require(reader.first(["mfhd"], in: fragment.body))
                let number = try #require(reader.u32(head.body.lowerBound + 4))
                #expect(number > sequence)
                sequence = number
            }
            // The key frame is also found in parts that a successor reads from files.
            for part in segment.parts {
                let again = FinishedPart(
                    number: part.number, start: part.start, duration: part.duration,
                    memory: PacketMemory(part.memory.bytes), independent: part.independent)
                #expect(again.keyFrame == part.keyFrame)
            }
        }
    }

    @Test("an I-frame playlist's bandwidth is about one rate buffer (VBV) per GOP, at most that of the whole stream")
    func bandwidth() throws {
        let grid = try Make.grid()
        let declared = DeclaredBandwidth.ofIFrames(
            videoBitrate: 2_000_000, videoPeak: 2_400_000, videoBuffer: 1_200_000, grid: grid)
        #expect((1_150_000...1_200_000).contains(declared))
        let all = DeclaredBandwidth(
            videoBitrate: 2_000_000, videoPeak: 2_400_000, videoBuffer: 12_000_000, audioBitrate: 0, audioPeak: 0,
            grid: grid
        ).peak
        #expect(
            DeclaredBandwidth.ofIFrames(
                videoBitrate: 2_000_000, videoPeak: 2_400_000, videoBuffer: 12_000_000, grid: grid) <= all)
        #expect(
            DeclaredBandwidth.ofIFrames(videoBitrate: 2_000_000, videoPeak: 0, videoBuffer: 0, grid: grid) > 2_000_000)
    }
}
