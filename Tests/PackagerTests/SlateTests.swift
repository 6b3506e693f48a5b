import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Packager
import Testing

@Suite("The time between two workers is filled with slate (still frame and silence): rfc8216bis §6.2.1, §6.2.2")
struct SlateTests {
    static let lists = ["720p", "360p", "audio"]

    /// A video part with one frame sent ahead, as from encoders with B-frames, and an audio frame of silence.
    static func slate(_ tracks: [TrackDescription] = [Output.video("720p"), Output.video("360p"), Output.audio])
        -> Slate
    {
        Slate(
            frames: 16,
            tracks: tracks.enumerated().map { index, track in
                track.kind == .audio
                    ? [Self.packet(.audio, 0, 0, size: 6)]
                    : (0..<16).map { Self.packet(.video, Int64($0), Int64($0) - 1, size: 40 + index) }
            })
    }

    private static func packet(_ kind: TrackKind, _ pts: Int64, _ dts: Int64, size: Int) -> CodedPacket {
        CodedPacket(
            kind: kind, memory: PacketMemory([UInt8](repeating: 0x51, count: size)), pts: pts, dts: dts,
            duration: kind == .audio ? 1_024 : 1, timescale: kind == .audio ? 48_000 : 30,
            isKey: kind == .audio || pts == 0)
    }

    static func nanoseconds(_ frame: Int64) -> Int64 { Output.origin + frame * 1_000_000_000 / 30 + 1 }

    /// Decode times in a segment, per fragment: start and end, the sequence number of the fragment, and the flags of its
    /// first sample; nil if it has no flags of its own.
    static func fragments(_ bytes: [UInt8]) -> [(sequence: Int64, start: Int64, end: Int64, flags: Int64?)] {
        func number(_ at: Int, _ count: Int) -> Int64 {
            bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int64($1) }
        }
        func name(_ at: Int) -> String { String(decoding: bytes[(at + 4)..<(at + 8)], as: UTF8.self) }
        var found: [(Int64, Int64, Int64, Int64?)] = []
        var (sequence, start) = (Int64(0), Int64(0))
        func walk(_ range: Range<Int>) {
            var at = range.lowerBound
            while at + 8 <= range.upperBound {
                let size = Int(number(at, 4))
                guard size >= 8, at + size <= range.upperBound else { return }
                switch name(at) {
                case "moof", "traf": walk((at + 8)..<(at + size))
                case "mfhd": sequence = number(at + 12, 4)
                case "tfdt": start = number(at + 12, 8)
                case "trun":
                    let flags = number(at + 8, 4) & 0xff_ffff
                    let row =
                        (flags & 0x100 > 0 ? 4 : 0) + (flags & 0x200 > 0 ? 4 : 0) + (flags & 0x400 > 0 ? 4 : 0)
                        + (flags & 0x800 > 0 ? 4 : 0)
                    let count = Int(number(at + 12, 4))
                    let total = (0..<count).reduce(Int64(0)) { $0 + number(at + 20 + $1 * row, 4) }
                    let place = at + 20 + (flags & 0x100 > 0 ? 4 : 0) + (flags & 0x200 > 0 ? 4 : 0)
                    found.append((sequence, start, start + total, flags & 0x400 > 0 ? number(place, 4) : nil))
                default: break
                }
                at += size
            }
        }
        walk(0..<bytes.count)
        return found
    }

    /// Checks that every listed segment exists, and that decode times and fragment numbers continue through all of
    /// them.
    static func expectContinuous(_ store: MemoryStore, _ names: [String] = Self.lists) throws {
        for name in names {
            var last: (sequence: Int64, end: Int64)?
            for uri in ListText(store.text("\(name).m3u8")).uris {
                let bytes = try #require(store.read(uri), "\(uri) is listed but missing")
                for fragment in Self.fragments(bytes) {
                    if let last {
                        #expect(fragment.start == last.end, "\(uri)")
                        #expect(fragment.sequence > last.sequence, "\(uri)")
                    }
                    last = (fragment.sequence, fragment.end)
                }
            }
            #expect(last != nil)
        }
    }

    static func firstRun(_ store: MemoryStore, frames: Int64 = 192, window: Int = 60) throws -> Output {
        let output = try Output(store, settings: Output.settings { $0.windowSeconds = window })
        _ = try output.packager.begin(now: Output.origin)
        output.feed(0..<frames)
        _ = output.packager.step()
        return output
    }

    @Test("the outage between two workers is filled with slate in every track, without discontinuity, gap or new map")
    func seamless() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store, frames: 210)
        let second = try Output(store)
        #expect(second.packager.canContinue(at: Self.nanoseconds(400)))
        // Frame 400: segments 3, 4 and 5 are over, segment 6 started with frame 384.
        let beginning = try second.packager.begin(now: Self.nanoseconds(400), slate: Self.slate())
        #expect(beginning.firstTick == 384)
        #expect(second.events.published.map(\.mediaSequence) == [3, 4, 5], "published when begin returns")
        #expect(second.events.published.map(\.isSlate) == [true, true, true])
        #expect(ListText(store.text("720p.m3u8")).uris.count == 6)
        second.feed(384..<512)
        _ = second.packager.step()
        for name in Self.lists {
            let list = ListText(store.text("\(name).m3u8"))
            #expect(list.uris == (0..<3).map { "\(name)-1-\($0).m4s" } + (3..<8).map { "\(name)-2-\($0).m4s" })
            #expect(list.count("#EXT-X-DISCONTINUITY") == 0 && list.count("#EXT-X-GAP") == 0)
            #expect(list.maps == ["#EXT-X-MAP:URI=\"\(name)-1.mp4\""])
            #expect(list.value("EXT-X-DISCONTINUITY-SEQUENCE") == "0")
        }
        try Self.expectContinuous(store)
        let fills = second.events.all.compactMap { if case .slateFilled(let fill) = $0 { fill } else { nil } }
        #expect(fills.count == 1 && fills.first?.frames == 192..<384 && fills.first?.isSeamless == true)
        #expect(fills.first?.mediaSequence == 3 && fills.first?.wholeSegments == 3)
        #expect(second.events.published.filter { !$0.isSlate }.map(\.mediaSequence) == [6, 7])
    }

    @Test("slate ends inside the segment in which the new worker's first GOP starts")
    func withinSegment() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let second = try Output(store)
        let begin = try second.packager.begin(now: Self.nanoseconds(300), slate: Self.slate())
        #expect(begin.firstTick == 288)
        second.feed(288..<384)
        _ = second.packager.step()
        try Self.expectContinuous(store)
        let mixed = try #require(store.read("720p-2-4.m4s"))
        #expect(Self.fragments(mixed).count == 4)
        // Two parts of slate, and two of live frames, which are larger.
        #expect(mixed.count > 16 * 2 * 100 && mixed.count < 64 * 100)
    }

    @Test(
        "each part of slate starts with an IDR frame, has its own time and sequence number, and otherwise the same bytes"
    )
    func restamped() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let second = try Output(store)
        _ = try second.packager.begin(now: Self.nanoseconds(320), slate: Self.slate())
        let bytes = try #require(store.read("720p-2-3.m4s"))
        let other = try #require(store.read("720p-2-4.m4s"))
        #expect(Self.fragments(bytes).map(\.start) == [192_000, 208_000, 224_000, 240_000])
        #expect(Self.fragments(bytes).map(\.sequence) == [13, 14, 15, 16])
        for segment in [bytes, other] {
            #expect(
                Self.fragments(segment).map(\.flags) == Array(repeating: Int64(FragmentWriter.syncSample), count: 4))
        }
        #expect(zip(bytes, other).count { $0 != $1 } <= 4 * 12, "except numbers and times, the same bytes")
    }

    @Test("the live edge lists the slate with its parts, and the parts of the current segment")
    func edge() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let second = try Output(store)
        let viewer = EdgeViewer()
        second.packager.attach(viewer.take)
        _ = try second.packager.begin(now: Self.nanoseconds(300), slate: Self.slate())
        let text = viewer.last("720p.m3u8")
        let parts = EdgeTests.tags(text, "#EXT-X-PART:")
        #expect(parts.count == 6 && parts.allSatisfy { $0.contains("INDEPENDENT=YES") }, "\(text)")
        #expect(text.hasSuffix("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"720p-2-4.2.m4s\"\n"), "\(text)")
        #expect(!text.contains("#EXT-X-DISCONTINUITY\n"))
        second.feed(288..<640)
        _ = second.packager.step()
        #expect(!viewer.last("720p.m3u8").contains("#EXT-X-DISCONTINUITY\n"))
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
        for list in EdgeTests.lists {
            let kept = viewer.last(list).split(separator: "\n").filter { line in
                !["#EXT-X-PART", "#EXT-X-PRELOAD", "#EXT-X-SERVER"].contains { line.hasPrefix($0) }
            }
            #expect(kept == store.text(list).split(separator: "\n"), "\(list)")
        }
    }

    @Test(
        "if a successor's rendition has another codec configuration, it gets a new map, and all playlists a discontinuity and slate"
    )
    func otherCoding() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let tracks = [Output.video("720p", Output.otherH264), Output.video("360p"), Output.audio]
        let second = try Output(store, tracks: tracks)
        _ = try second.packager.begin(now: Self.nanoseconds(330), slate: Self.slate(tracks))
        second.feed(320..<384)
        _ = second.packager.step()
        for name in Self.lists {
            let list = ListText(store.text("\(name).m3u8"))
            #expect(list.tags(before: "\(name)-2-3.m4s").contains("#EXT-X-DISCONTINUITY"))
            #expect(list.count("#EXT-X-DISCONTINUITY") == 1)
            #expect(list.maps.count == (name == "720p" ? 2 : 1))
        }
        try Self.expectContinuous(store)
    }

    @Test(
        "after an outage longer than the window there is a discontinuity instead of slate, and sequence numbers continue"
    )
    func tooLong() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store, window: 10)
        let second = try Output(store, settings: Output.settings { $0.windowSeconds = 10 })
        #expect(second.packager.canContinue(at: Self.nanoseconds(192 + 300)))
        #expect(!second.packager.canContinue(at: Self.nanoseconds(192 + 330)))
        let begin = try second.packager.begin(now: Self.nanoseconds(192 + 330), slate: Self.slate())
        #expect(begin.firstTick == 576)
        second.feed(576..<640)
        _ = second.packager.step()
        for name in Self.lists {
            let list = ListText(store.text("\(name).m3u8"))
            #expect(list.mediaSequence == 0 && list.uris.last == "\(name)-2-3.m4s", "\(name)")
            let tags = list.tags(before: "\(name)-2-3.m4s")
            #expect(
                tags.contains("#EXT-X-DISCONTINUITY") && tags.contains("#EXT-X-MAP:URI=\"\(name)-2.mp4\""), "\(tags)")
            #expect(list.count("#EXT-X-DISCONTINUITY") == 1 && list.maps.count == 2)
            #expect(store.read("\(name)-2.mp4") == store.read("\(name)-1.mp4"))
        }
        #expect(!second.events.all.contains { if case .slateFilled = $0 { true } else { false } })
        // A third worker in time continues with the newer map, without another discontinuity.
        let third = try Output(store, settings: Output.settings { $0.windowSeconds = 10 })
        _ = try third.packager.begin(now: Self.nanoseconds(660), slate: Self.slate())
        third.feed(640..<704)
        _ = third.packager.step()
        let list = ListText(store.text("360p.m3u8"))
        #expect(list.uris.last == "360p-3-4.m4s" && list.count("#EXT-X-DISCONTINUITY") == 1 && list.maps.count == 2)
    }

    @Test("even with a window of two hours, an outage of more than five minutes is a discontinuity instead of slate")
    func longWindow() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store, window: 7_200)
        let second = try Output(store, settings: Output.settings { $0.windowSeconds = 7_200 })
        #expect(second.packager.canContinue(at: Self.nanoseconds(192 + 300 * 30)))
        #expect(!second.packager.canContinue(at: Self.nanoseconds(192 + 301 * 30)))
        let start = try second.packager.begin(now: Self.nanoseconds(192 + 3_600 * 30), slate: Self.slate()).firstTick
        second.feed(start..<(start + 64))
        _ = second.packager.step()
        let list = ListText(store.text("720p.m3u8"))
        #expect(list.uris == (0..<3).map { "720p-1-\($0).m4s" } + ["720p-2-3.m4s"] && list.mediaSequence == 0)
        #expect(list.tags(before: "720p-2-3.m4s").contains("#EXT-X-DISCONTINUITY"))
    }

    @Test("an outage just shorter than the window is filled with slate; after a clock was set back no slate is added")
    func extremes() throws {
        let store = MemoryStore()
        _ = try Self.firstRun(store)
        let second = try Output(store)
        _ = try second.packager.begin(now: Self.nanoseconds(192 + 1_790), slate: Self.slate())
        #expect(second.events.published.count == 27)
        try Self.expectContinuous(store)
        let third = try Output(store)
        let frame = try third.packager.begin(now: Self.nanoseconds(0), slate: Self.slate()).firstTick
        #expect(frame == 192 + 27 * 64)
        third.feed(frame..<(frame + 64))
        _ = third.packager.step()
        #expect(ListText(store.text("720p.m3u8")).count("#EXT-X-DISCONTINUITY") == 0)
        try Self.expectContinuous(store)
    }

    @Test("a drained room ends with a whole segment, and its successor continues it seamlessly")
    func drained() throws {
        let store = MemoryStore()
        let first = try Self.firstRun(store, frames: 230)
        first.packager.finish(endlist: false)
        #expect(first.packager.step() == .drained)
        #expect(ListText(store.text("720p.m3u8")).uris.count == 3)
        let second = try Output(store)
        let begin = try second.packager.begin(now: Self.nanoseconds(230), slate: Self.slate())
        second.feed(begin.firstTick..<320)
        _ = second.packager.step()
        #expect(ListText(store.text("720p.m3u8")).count("#EXT-X-DISCONTINUITY") == 0)
        try Self.expectContinuous(store)
    }

    @Test("ten kills in a row give one timeline, whichever frame each kill hits", arguments: 0..<20)
    func tenKills(seed: Int64) throws {
        let store = MemoryStore()
        var names: [Int64: String] = [:]
        var (frame, number) = (Int64(0), Int64(0))
        for run in Int64(1)...10 {
            let output = try Output(store, settings: Output.settings { $0.windowSeconds = 20 })
            let begin = try output.packager.begin(now: Self.nanoseconds(frame), slate: run == 1 ? nil : Self.slate())
            // Killed before its first segment a worker leaves nothing to continue.
            if number > 0 || names.count > 0 { #expect(begin.firstTick <= frame) }
            let end = frame + 40 + (seed * 37 + run * 53) % 120
            output.feed(begin.firstTick..<end)
            _ = output.packager.step()
            frame = end + (seed * 11 + run * 17) % 90
            for name in Self.lists where ListText(store.text("\(name).m3u8")).mediaSequence != nil {
                let list = ListText(store.text("\(name).m3u8"))
                #expect(list.count("#EXT-X-DISCONTINUITY") == 0 && list.count("#EXT-X-GAP") == 0)
            }
            let list = ListText(store.text("360p.m3u8"))
            guard let first = list.mediaSequence else { continue }
            #expect(first >= number)
            number = first
            for (offset, uri) in list.uris.enumerated() {
                #expect(names[first + Int64(offset), default: uri] == uri)
                names[first + Int64(offset)] = uri
            }
            try Self.expectContinuous(store)
        }
        #expect(names.count > 10)
    }

    @Test(
        "audio frames continue through slate at 44.1 kHz, where segments have no whole number of frames",
        arguments: [24, 25, 30, 50, 60])
    func audioGrid(fps: Int) throws {
        let grid = try OutputGrid(fps: fps, sampleRate: 44_100)
        let store = MemoryStore()
        let settings = try Output.settings { $0.grid = grid }
        let tracks = [Output.video("v"), Output.audio]
        let silence = CodedPacket(
            kind: .audio, memory: PacketMemory([1]), pts: 0, dts: 0, duration: 1_024, timescale: 44_100, isKey: true)
        let slate = Slate(
            frames: grid.gopFrames,
            tracks: [
                (0..<Int64(grid.gopFrames)).map {
                    CodedPacket(
                        kind: .video, memory: PacketMemory([2]), pts: $0, dts: $0, timescale: Int32(fps), isKey: $0 == 0
                    )
                }, [silence],
            ])
        func feed(_ output: Output, _ frames: Range<Int64>) {
            for frame in frames {
                var picture = Output.picture(frame)
                picture.timescale = Int32(fps)
                picture.isKey = frame % Int64(grid.gopFrames) == 0
                output.packager.receive(track: 0, picture)
                let first = (frame * 44_100 / Int64(fps) + 1_023) / 1_024
                let last = ((frame + 1) * 44_100 / Int64(fps) + 1_023) / 1_024
                for index in first..<last {
                    var packet = silence
                    (packet.pts, packet.dts) = (index * 1_024, index * 1_024)
                    output.packager.receive(track: 1, packet)
                }
            }
        }
        let length = Int64(grid.segmentFrames)
        var frame = Int64(0)
        for run in 0..<5 {
            let output = try Output(store, settings: settings, tracks: tracks)
            let now = Output.origin + frame * 1_000_000_000 / Int64(fps) + 1
            let begin = try output.packager.begin(now: now, slate: run == 0 ? nil : slate)
            feed(output, begin.firstTick..<(begin.firstTick + length * 3 + 7))
            _ = output.packager.step()
            frame = begin.firstTick + length * 3 + 40
        }
        #expect(ListText(store.text("audio.m3u8")).count("#EXT-X-DISCONTINUITY") == 0)
        try Self.expectContinuous(store, ["v", "audio"])
    }
}
