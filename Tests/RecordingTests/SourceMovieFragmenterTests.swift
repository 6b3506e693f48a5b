import MediaTypes
import Recording
import Testing

@Suite("A source's own recording: ISO/IEC 14496-12 §8.6.6, §8.8")
struct SourceMovieFragmenterTests {
    private typealias Kit = SourceMovieKit

    /// Milliseconds in nanoseconds.
    private static func ms(_ time: Int64) -> Int64 { time * 1_000_000 }

    private static func make(partMs: Int64 = 1_000) -> (SourceMovieFragmenter, Kit.Files) {
        (SourceMovieFragmenter(settings: .init(partDuration: Self.ms(partMs))), Kit.Files())
    }

    /// Feeds video frames of 40 ms with a key frame every `gop` frames, and audio frames of 20 ms from `audioFrom`
    /// milliseconds on.
    private static func feed(
        _ fragmenter: inout SourceMovieFragmenter, _ files: inout Kit.Files, frames: Range<Int64>, gop: Int64 = 25,
        audioFrom: Int64 = 0
    ) {
        for frame in frames {
            let time = frame * 40
            files.perform(fragmenter.add(Kit.sample(.video, dts: Self.ms(time), isKey: frame % gop == 0)))
            for half in [time, time + 20] where half >= audioFrom {
                files.perform(fragmenter.add(Kit.sample(.audio, dts: Self.ms(half))))
            }
        }
    }

    @Test("a source recording with one part has exactly the expected bytes")
    func golden() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        files.perform(fragmenter.configure(Kit.aac))
        files.perform(fragmenter.add(Kit.sample(.video, dts: Self.ms(1_000), pts: Self.ms(1_080))))
        files.perform(fragmenter.add(Kit.sample(.audio, dts: Self.ms(1_100))))
        files.perform(fragmenter.add(Kit.sample(.video, dts: Self.ms(1_040), pts: Self.ms(1_160), isKey: false)))
        files.perform(fragmenter.end(.publicationEnded))
        #expect(files.files.map(\.bytes) == [Kit.bytes(hex: Self.goldenBytes)])
    }

    private static let goldenBytes = """
        000000186674797069736f360000000069736f366d703431000004956d6f6f760000006c6d76686400000000000000000000000000015f90
        0000000000010000010000000000000000000000000100000000000000000000000000000001000000000000000000000000000040000000
        00000000000000000000000000000000000000000000000000000003000001f47472616b0000005c746b6864000000030000000000000000
        0000000100000000000000000000000000000000000000000000000000010000000000000000000000000000000100000000000000000000
        0000000040000000004000000030000000000024656474730000001c656c737400000000000000010000000000001c20000100000000016c
        6d646961000000206d64686400000000000000000000000000015f900000000055c400000000002668646c72000000000000000076696465
        000000000000000000000000566964656f000000011e6d696e6600000014766d68640000000100000000000000000000002464696e660000
        001c6472656600000000000000010000000c75726c2000000001000000de7374626c00000092737473640000000000000001000000826176
        6331000000000000000100000000000000000000000000000000004000300048000000480000000000000001000000000000000000000000
        00000000000000000000000000000000000000000018ffff0000002c617663430142c00affe100156742c00ada11ec044000000300400000
        0f03c489a801000468ce0fc80000001073747473000000000000000000000010737473630000000000000000000000147374737a00000000
        0000000000000000000000107374636f0000000000000000000001d17472616b0000005c746b686400000003000000000000000000000002
        0000000000000000000000000000000000000000010000000001000000000000000000000000000000010000000000000000000000000000
        400000000000000000000000000000306564747300000028656c7374000000000000000200000708ffffffff000100000000000000000000
        000100000000013d6d646961000000206d6468640000000000000000000000000000bb800000000055c400000000002668646c7200000000
        00000000736f756e000000000000000000000000417564696f00000000ef6d696e6600000010736d68640000000000000000000000246469
        6e660000001c6472656600000000000000010000000c75726c2000000001000000b37374626c000000677374736400000000000000010000
        00576d703461000000000000000100000000000000000002001000000000bb80000000000033657364730000000003808080220000000480
        8080144015000000000000000000000005808080021190068080800102000000107374747300000000000000000000001073747363000000
        0000000000000000147374737a000000000000000000000000000000107374636f00000000000000000000005c6d76657800000014667265
        6500000000000000000000000000000020747265780000000000000001000000010000000000000000000000000000002074726578000000
        000000000200000001000000000000000000000000000000786d6f6f66000000106d66686400000000000000010000006074726166000000
        107466686400020000000000010000001474666474010000000000000000000000000000347472756e01000f01000000020000008000000e
        10000000100200000000001c2000000e10000000100101000000002a30000000286d646174e8e8e8e8e8e8e8e8e8e8e8e8e8e8e8e8101010
        10101010101010101010101010000000646d6f6f66000000106d66686400000000000000020000004c747261660000001474666864000200
        20000000020200000000000014746664740100000000000000000000000000001c7472756e01000301000000010000006c00000001000000
        10000000186d6461744c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c
        """

    @Test(
        "every frame of a source recording keeps its times; edit lists skip the reorder delay and delay the track that starts later"
    )
    func times() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        files.perform(fragmenter.configure(Kit.aac))
        // I P B B, as an encoder with two B-frames sends them, from 500 ms on.
        let order: [(dts: Int64, pts: Int64, isKey: Bool)] = [
            (500, 580, true), (540, 700, false), (580, 620, false), (620, 660, false), (660, 740, true),
        ]
        for frame in order {
            files.perform(
                fragmenter.add(
                    Kit.sample(.video, dts: Self.ms(frame.dts), pts: Self.ms(frame.pts), isKey: frame.isKey)))
        }
        files.perform(fragmenter.add(Kit.sample(.audio, dts: Self.ms(600))))
        files.perform(fragmenter.end(.stopped))
        let bytes = files.files[0].bytes
        let rows = Kit.rows(bytes, track: 1)
        #expect(rows.map(\.dts) == order.map { ($0.dts - 500) * 90 })
        #expect(rows.map(\.pts) == order.map { ($0.pts - 500) * 90 })
        #expect(rows.map(\.isKey) == order.map(\.isKey))
        // The first frame is shown at 0, audio 20 ms later.
        #expect(Kit.edits(bytes) == [[[0, 80 * 90]], [[20 * 90, -1], [0, 0]]])
        #expect(files.files[0].facts.zero == Self.ms(580))
    }

    @Test("durations are exact from part to part of a source recording, and no frame is missing or written twice")
    func parts() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        files.perform(fragmenter.configure(Kit.aac))
        Self.feed(&fragmenter, &files, frames: 0..<250)
        files.perform(fragmenter.end(.publicationEnded))
        let video = Kit.rows(files.files[0].bytes, track: 1)
        #expect(files.files.count == 1 && files.ends == [.publicationEnded])
        #expect(video.map(\.dts) == (0..<250).map { Int64($0) * 3_600 })
        #expect(video.allSatisfy { $0.duration == 3_600 } && video.count { $0.isKey } == 10)
        #expect(Kit.rows(files.files[0].bytes, track: 2).map(\.dts) == (0..<500).map { Int64($0) * 960 })
        let facts = files.files[0].facts
        #expect(facts.duration == 10 * Kit.second && facts.gaps.isEmpty)
        // One part a second, each with a fragment per track.
        #expect(files.files[0].parts.count == 20)
    }

    @Test("video before the first key frame is counted and not recorded; earlier audio is recorded")
    func beforeKeyFrame() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        files.perform(fragmenter.configure(Kit.aac))
        Self.feed(&fragmenter, &files, frames: 20..<60)
        files.perform(fragmenter.end(.publicationEnded))
        let facts = files.files[0].facts
        #expect(facts.beforeKeyFrame == 5 && facts.tracks.map(\.frames) == [35, 80])
        #expect(Kit.edits(files.files[0].bytes) == [[[200 * 90, -1], [0, 0]], [[0, 0]]])
    }

    @Test("a hole of three seconds in a publisher's timestamps is listed as a gap, and later frames keep their times")
    func gap() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        Self.feed(&fragmenter, &files, frames: 0..<25)
        Self.feed(&fragmenter, &files, frames: 100..<125)
        files.perform(fragmenter.end(.publicationEnded))
        let facts = files.files[0].facts
        #expect(facts.gaps.map { [$0.start, $0.duration] } == [[Self.ms(960), Self.ms(3_040)]])
        #expect(Kit.rows(files.files[0].bytes, track: 1)[25].dts == 100 * 3_600)
    }

    @Test(
        "in a source recording, decoding times that do not increase are moved to a tick after the last; presentation times stay"
    )
    func equalTimes() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        for (dts, pts) in [(0, 0), (40, 40), (40, 50), (30, 60), (80, 80)] as [(Int64, Int64)] {
            files.perform(fragmenter.add(Kit.sample(.video, dts: Self.ms(dts), pts: Self.ms(pts), isKey: dts == 0)))
        }
        files.perform(fragmenter.end(.publicationEnded))
        let rows = Kit.rows(files.files[0].bytes, track: 1)
        #expect(rows.map(\.dts) == [0, 3_600, 3_601, 3_602, 7_200])
        #expect(rows.map(\.pts) == [0, 3_600, 4_500, 5_400, 7_200])
    }

    @Test("a change of the video's format begins a new file at once; a change of the audio's waits for a key frame")
    func formatChange() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        files.perform(fragmenter.configure(Kit.aac))
        Self.feed(&fragmenter, &files, frames: 0..<30)
        files.perform(fragmenter.configure(CodecParameters(codec: .aac, configuration: [0x12, 0x10])))
        Self.feed(&fragmenter, &files, frames: 30..<60)
        var other = Kit.avc.configuration
        other[3] &+= 1
        files.perform(fragmenter.configure(CodecParameters(codec: .h264, configuration: other)))
        Self.feed(&fragmenter, &files, frames: 75..<100)
        // The same parameters again are no change.
        files.perform(fragmenter.configure(CodecParameters(codec: .h264, configuration: other)))
        files.perform(fragmenter.end(.publicationEnded))
        #expect(files.ends == [.formatChanged, .formatChanged, .publicationEnded])
        let facts = files.files.map(\.facts)
        #expect(facts.map(\.part) == [1, 2, 3])
        // The video of the first file goes on to the key frame 50, its audio to the change.
        #expect(facts.map { $0.tracks.map(\.frames) } == [[50, 60], [10, 60], [25, 50]])
        #expect(facts[1].tracks[1].timescale == 44_100)
        #expect(facts[1].zero == Self.ms(1_200) && facts[1].frames == 70)
    }

    @Test("an MP3 track is reported once as not recorded, and the video track is recorded")
    func skipped() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        for _ in 0..<3 { files.perform(fragmenter.configure(CodecParameters(codec: .mp3, configuration: []))) }
        Self.feed(&fragmenter, &files, frames: 0..<30)
        files.perform(fragmenter.end(.publicationEnded))
        #expect(files.skipped.map(\.codec) == [.mp3] && files.files.count == 1)
        #expect(files.files[0].facts.tracks.map(\.frames) == [30] && files.files[0].facts.skipped.count == 1)
    }

    @Test(
        "a track that is configured before the first part is written joins the file; a later one begins the next file")
    func lateTrack() {
        for start in [10, 100] as [Int64] {
            var (fragmenter, files) = Self.make()
            files.perform(fragmenter.configure(Kit.aac))
            Self.feed(&fragmenter, &files, frames: 0..<start)
            files.perform(fragmenter.configure(Kit.avc))
            Self.feed(&fragmenter, &files, frames: start..<200)
            files.perform(fragmenter.end(.publicationEnded))
            let counts = files.files.map { $0.facts.tracks.map(\.frames) }
            #expect(counts == (start == 10 ? [[175, 400]] : [[200], [100, 200]]))
        }
    }

    @Test("video without key frames is recorded after its first 300 frames were dropped")
    func intraRefresh() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        Self.feed(&fragmenter, &files, frames: 1..<400, gop: 1_000)
        files.perform(fragmenter.end(.publicationEnded))
        #expect(files.files[0].facts.tracks.map(\.frames) == [99] && files.files[0].facts.beforeKeyFrame == 300)
    }

    @Test("with video recording switched off, the file has the audio track only, in parts of one second")
    func audioOnly() {
        var settings = SourceMovieFragmenter.Settings(partDuration: Kit.second)
        settings.video = false
        var fragmenter = SourceMovieFragmenter(settings: settings)
        var files = Kit.Files()
        files.perform(fragmenter.configure(Kit.avc))
        files.perform(fragmenter.configure(Kit.aac))
        Self.feed(&fragmenter, &files, frames: 0..<100)
        files.perform(fragmenter.end(.publicationEnded))
        #expect(files.files[0].facts.tracks.map(\.kind) == [.audio] && files.files[0].parts.count == 4)
    }

    @Test("if a source recording is cut at any byte of its last part, a scan of the file ends after the part before")
    func killed() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        files.perform(fragmenter.configure(Kit.aac))
        Self.feed(&fragmenter, &files, frames: 0..<75)
        files.perform(fragmenter.end(.publicationEnded))
        let (header, bytes, parts, facts) = files.files[0]
        let whole = Kit.scan(bytes)
        #expect(whole.end == Int64(bytes.count) && whole.tracks.map(\.frames) == facts.tracks.map(\.frames))
        #expect(whole.tracks.map(\.keyFrames) == facts.tracks.map(\.keyFrames) && whole.duration == facts.duration)
        for cut in (bytes.count - (parts.last ?? 0))..<bytes.count {
            let scan = Kit.scan(Array(bytes[..<cut]))
            #expect(scan.end == Int64(bytes.count - (parts.last ?? 0)))
            #expect(scan.tracks[0] == whole.tracks[0] && scan.tracks[1].frames < whole.tracks[1].frames)
        }
        for cut in 0..<header {
            let scan = Kit.scan(Array(bytes[..<cut]))
            #expect(scan.durationOffset == nil && scan.tracks.allSatisfy { $0.frames == 0 })
        }
    }

    @Test("a damaged byte in a source recording's header or first part does not crash the scan of the file")
    func damaged() {
        var (fragmenter, files) = Self.make()
        files.perform(fragmenter.configure(Kit.avc))
        Self.feed(&fragmenter, &files, frames: 0..<50)
        files.perform(fragmenter.end(.publicationEnded))
        let (header, bytes, parts, _) = files.files[0]
        for position in 0..<(header + (parts.first ?? 0)) {
            for value: UInt8 in [0, 0x7F, 0xFF] {
                var damaged = bytes
                damaged[position] = value
                #expect(Kit.scan(damaged).end <= Int64(bytes.count))
            }
        }
    }
}
