import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("The live edge (playlists with parts, in memory): rfc8216bis §4.4.4.9, §4.4.5.3, §6.2")
struct EdgeTests {
    static let lists = ["720p.m3u8", "360p.m3u8", "audio.m3u8"]

    static func begun(
        _ store: MemoryStore, settings: HLSOutputSettings? = nil, now: Int64 = Output.origin
    ) throws -> (Output, EdgeViewer, HLSPackager.Beginning) {
        let output = try Output(store, settings: settings)
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        return (output, viewer, try output.packager.begin(now: now))
    }

    static func tags(_ text: String, _ prefix: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
    }

    @Test("a part is listed as soon as its last frame is there, although nothing is written to the store yet")
    func atOnce() throws {
        let (output, viewer, _) = try Self.begun(MemoryStore())
        output.feed(0..<64)
        #expect(Self.tags(viewer.last("720p.m3u8"), "#EXT-X-PART:").count == 4)
        output.feed(64..<79)
        #expect(Self.tags(viewer.last("720p.m3u8"), "#EXT-X-PART:").count == 4)
        output.feed(79..<80)
        for list in Self.lists {
            #expect(Self.tags(viewer.last(list), "#EXT-X-PART:").count == 5, "\(list)")
            let name = list.dropLast(5)
            #expect(viewer.last(list).hasSuffix("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(name)-1-1.1.m4s\"\n"))
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("a segment is listed once its number is in the state file, or at the latest with the next part")
    func recordedFirst() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        output.feed(0..<128)
        for list in Self.lists {
            let text = viewer.last(list)
            #expect(!text.contains("-1-1.m4s\n"), "a successor would give the number to another segment")
            #expect(text.hasSuffix("TYPE=PART,URI=\"\(list.dropLast(5))-1-2.0.m4s\"\n"), "\(text)")
        }
        _ = output.packager.step()
        for list in Self.lists { #expect(viewer.last(list).contains("-1-1.m4s\n")) }
        output.feed(128..<192)
        store.refuse { $0 == "state.json" }
        _ = output.packager.step()
        for list in Self.lists { #expect(!viewer.last(list).contains("-1-2.m4s\n")) }
        output.feed(192..<208)
        for list in Self.lists { #expect(viewer.last(list).contains("-1-2.m4s\n"), "no player waits for the disk") }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("no playlist is shown before every playlist has a segment")
    func together() throws {
        let (output, viewer, _) = try Self.begun(MemoryStore())
        output.feed(0..<128, only: [0, 2])
        #expect(Self.lists.allSatisfy { viewer.last($0).isEmpty })
        output.feed(0..<64, only: [1])
        #expect(Self.lists.allSatisfy { !viewer.last($0).isEmpty })
    }

    @Test("the live edge's segment equals its parts joined and the segment in the store")
    func bytes() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        output.feed(0..<320)
        #expect(output.packager.step() == nil)
        for track in ["720p", "360p", "audio"] {
            for number in 0..<5 {
                let name = "\(track)-1-\(number).m4s"
                let parts = (0..<4).compactMap { viewer.object("\(track)-1-\(number).\($0).m4s") }
                #expect(parts.count == 4 || number < 1)
                #expect(viewer.object(name) == store.files[name] && store.files[name] != nil)
                if parts.count == 4 { #expect(parts.flatMap { $0 } == viewer.object(name)) }
            }
            let durations = Self.tags(viewer.last("\(track).m3u8"), "#EXT-X-PART:").map { String($0.prefix(29)) }
            #expect(Set(durations).isSubset(of: ["#EXT-X-PART:DURATION=0.53333,", "#EXT-X-PART:DURATION=0.53334,"]))
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("the playlists on disk equal those of the live edge, without parts and hints")
    func sameModel() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        output.feed(0..<3_200)
        #expect(output.packager.step() == nil)
        for list in Self.lists {
            let plain = store.text(list)
            #expect(!plain.contains("PART") && !plain.contains("SERVER-CONTROL"))
            let kept = viewer.last(list).split(separator: "\n").filter { line in
                !["#EXT-X-PART", "#EXT-X-PRELOAD", "#EXT-X-SERVER"].contains { line.hasPrefix($0) }
            }
            #expect(kept == plain.split(separator: "\n"), "\(list)")
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("a part that left the playlist stays available for three target durations, then its memory is freed")
    func retention() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        var peak = 0
        for second in Int64(0)..<300 {
            output.feed(second * 30..<(second + 1) * 30)
            #expect(output.packager.step() == nil)
            peak = max(peak, viewer.bytes)
            // 12 s: three target durations listed, three more after that.
            let segmentIndex = second * 30 / 64 - 6
            if segmentIndex >= 0 {
                #expect(viewer.object("720p-1-\(segmentIndex + 1).0.m4s") != nil, "\(segmentIndex) at \(second)")
                if segmentIndex > 1 {
                    #expect(viewer.object("720p-1-\(segmentIndex - 1).0.m4s") == nil, "\(segmentIndex) at \(second)")
                }
            }
        }
        let segment = viewer.object("720p-1-139.m4s")?.count ?? 0
        #expect(segment > 0 && peak < 3 * 9 * segment, "no more than nine segments of each track")
        #expect(viewer.names.count < 3 * 9 * 5 + 3)
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test(
        "while the store fails, parts continue, and listed segments stay in memory"
    )
    func failingStore() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        output.feed(0..<640)
        #expect(output.packager.step() == nil)
        store.refuse { $0.hasSuffix(".m4s") }
        // A part of the next segment: players no longer wait for the state file.
        output.feed(640..<1_296)
        #expect(output.packager.step() == nil)
        #expect(!output.events.failures.isEmpty)
        let listed = viewer.last("720p.m3u8").split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        #expect(listed.last == "720p-1-19.m4s")
        for name in listed { #expect(viewer.object(name) != nil || store.files[name] != nil, "\(name)") }
        #expect(!viewer.last("720p.m3u8").contains("#EXT-X-GAP") && store.text("720p.m3u8").contains("#EXT-X-GAP"))
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test(
        "if the room returns to an earlier canvas, that canvas's map stays available although its earlier segments have expired"
    )
    func mapAhead() throws {
        let settings = try Output.settings {
            $0.windowSeconds = 6
            $0.deleteGraceSeconds = 0
        }
        let (output, viewer, _) = try Self.begun(MemoryStore(), settings: settings)
        func feed(_ frames: Range<Int64>) {
            for start in stride(from: frames.lowerBound, to: frames.upperBound, by: 16) {
                output.feed(start..<start + 16)
                #expect(output.packager.step() == nil)
            }
        }
        feed(0..<128)
        try ConfigurationChangeTests.changed(output, to: Output.otherH264, height: 360, at: 128)
        feed(128..<480)
        #expect(viewer.object("720p-1.mp4") != nil)
        // Two segments ahead: segments with the map may be deleted together with the one in between.
        try ConfigurationChangeTests.changed(output, to: Output.h264, height: 720, at: 576)
        feed(480..<592)
        for track in ["720p", "360p"] {
            #expect(ListText(viewer.last("\(track).m3u8")).maps.last == "#EXT-X-MAP:URI=\"\(track)-1.mp4\"")
            #expect(viewer.object("\(track)-1.mp4") != nil)
        }
        #expect(viewer.object("720p-1-1.m4s") == nil && viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("a rendition that lags delays no other one, and gets a gap when it is two segments behind")
    func lagging() throws {
        let (output, viewer, _) = try Self.begun(MemoryStore())
        output.feed(0..<64)
        output.feed(64..<190, only: [0, 2])
        output.feed(64..<90, only: [1])
        #expect(Self.tags(viewer.last("720p.m3u8"), "#EXTINF").count == 2)
        #expect(Self.tags(viewer.last("360p.m3u8"), "#EXTINF").count == 1)
        #expect(Self.tags(viewer.last("360p.m3u8"), "#EXT-X-PART:").count == 5)
        output.feed(190..<256, only: [0, 2])
        // Two segments behind: segment 1 of 360p is finished, with the one part it had.
        let gap = viewer.last("360p.m3u8")
        #expect(gap.contains("360p-1-1.0.m4s\",INDEPENDENT=YES\n#EXT-X-GAP\n#EXTINF:2.13334,\n360p-1-1.m4s\n"))
        #expect(gap.contains("TYPE=PART,URI=\"360p-1-2.0.m4s\""))
        output.feed(90..<320, only: [1])
        output.feed(256..<320, only: [0, 2])
        _ = output.packager.step()
        #expect(viewer.last("360p.m3u8").contains("\n360p-1-4.m4s\n"))
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test(
        "when a room ends, every playlist has its last segment and ENDLIST, no preload hint, and lacks nothing listed or hinted before"
    )
    func ended() throws {
        let (output, viewer, _) = try Self.begun(MemoryStore())
        output.feed(0..<150)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        for list in Self.lists {
            #expect(viewer.last(list).hasSuffix("m4s\n#EXT-X-ENDLIST\n"))
            #expect(viewer.last(list).contains("-1-2.m4s"))
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("after a drain the playlists have no ENDLIST")
    func drained() throws {
        let (output, viewer, _) = try Self.begun(MemoryStore())
        output.feed(0..<128)
        output.packager.finish(endlist: false)
        #expect(output.packager.step() == .drained)
        #expect(!viewer.last("720p.m3u8").contains("ENDLIST"))
    }

    @Test("a successor lists the previous segments at once and continues the numbers, with its own names")
    func successor() throws {
        let store = MemoryStore()
        let (one, _, _) = try Self.begun(store)
        one.feed(0..<192)
        one.packager.finish(endlist: false)
        #expect(one.packager.step() == .drained)
        let (two, viewer, begin) = try Self.begun(store, now: Output.origin + 20 * 1_000_000_000)
        for list in Self.lists {
            let name = list.dropLast(5)
            #expect(viewer.last(list).contains("\(name)-1-2.m4s"), "at once, before any media")
            #expect(viewer.last(list).contains("TYPE=PART,URI=\"\(name)-2-3.0.m4s\""))
        }
        two.feed(begin.firstTick..<begin.firstTick + 80)
        for list in Self.lists {
            let name = list.dropLast(5)
            #expect(Self.tags(viewer.last(list), "#EXT-X-DISCONTINUITY").contains("#EXT-X-DISCONTINUITY"))
            #expect(viewer.last(list).contains("\(name)-2-3.m4s\n") && viewer.object("\(name)-2-4.0.m4s") != nil)
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    // MARK: Another configuration

    @Test(
        "a change of the canvas puts a discontinuity and a map before the segment's first part, in memory and on disk"
    )
    func change() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        output.feed(0..<128)
        try ConfigurationChangeTests.changed(output, to: Output.otherH264, height: 360, at: 128)
        #expect(viewer.last("720p.m3u8").contains("#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"720p-1-1.mp4\"\n"))
        #expect(viewer.object("720p-1-1.mp4") != nil, "hinted parts exist")
        output.feed(128..<150)
        for list in Self.lists {
            let isAudio = list == "audio.m3u8"
            let name = list.dropLast(5)
            let lines = viewer.last(list).split(separator: "\n")
            let part = try #require(lines.firstIndex { $0.contains("\(name)-1-2.0.m4s") })
            let head = lines[..<part].suffix(isAudio ? 2 : 3)
            #expect(head.first == "#EXT-X-DISCONTINUITY" && head.last?.hasPrefix("#EXT-X-PROGRAM-DATE-TIME") == true)
            #expect(isAudio || head.contains { $0.hasPrefix("#EXT-X-MAP:URI=\"\(name)-1-") })
        }
        output.feed(150..<192)
        #expect(output.packager.step() == nil)
        for list in Self.lists {
            let kept = viewer.last(list).split(separator: "\n").filter { line in
                !["#EXT-X-PART", "#EXT-X-PRELOAD", "#EXT-X-SERVER"].contains { line.hasPrefix($0) }
            }
            #expect(kept == store.text(list).split(separator: "\n"))
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("a change of the canvas reported after parts were listed starts at the next segment, after a gap")
    func lateChange() throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        output.feed(0..<128)
        // Audio and one rendition have listed a part of segment 2 when the other reports a new size there.
        output.feed(128..<150, only: [1, 2])
        try output.packager.configure(
            track: 0, CodecParameters(codec: .h264, configuration: Output.otherH264), width: 640, height: 360,
            firstTick: 128)
        output.feed(128..<150, only: [0])
        output.feed(150..<256)
        #expect(output.packager.step() == nil)
        for (list, names) in [("720p.m3u8", "720p-1-3"), ("360p.m3u8", "360p-1-3"), ("audio.m3u8", "audio-1-3")] {
            for text in [viewer.last(list), store.text(list)] {
                #expect(Self.tags(text, "#EXT-X-DISCONTINUITY").count == 2, "the sequence number and one discontinuity")
                let lines = text.split(separator: "\n")
                let seam = try #require(lines.firstIndex(of: "#EXT-X-DISCONTINUITY"))
                #expect(lines[seam...].first { !$0.hasPrefix("#") } == "\(names).m4s")
                #expect(text.contains("#EXT-X-GAP\n") == (list == "720p.m3u8"))
            }
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    // MARK: Hints

    @Test(
        "if frames of different tracks arrive in random order, hinted parts appear, and listed names keep their bytes and positions",
        arguments: 1...12)
    func interleavings(seed: UInt64) throws {
        let store = MemoryStore()
        let (output, viewer, _) = try Self.begun(store)
        var state = seed
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var frames: [Int64] = [0, 0, 0]
        while (frames.min() ?? 0) < 1_000 {
            let track = Int(next(3))
            // No track is further ahead than an encoder's delay, so none is given up.
            guard frames[track] - (frames.min() ?? 0) < 60 else { continue }
            let count = Int64(next(20)) + 1
            output.feed(frames[track]..<frames[track] + count, only: [track])
            frames[track] += count
            if next(9) == 0 { _ = output.packager.step() }
            if next(40) == 0 {
                // At a segment that no track has reached.
                let boundary = ((frames.max() ?? 0) / 64 + 1) * 64
                let configuration = next(2) == 0 ? Output.h264 : Output.otherH264
                if track < 2, frames.allSatisfy({ $0 <= boundary }) {
                    try output.packager.configure(
                        track: track, CodecParameters(codec: .h264, configuration: configuration), width: 1280,
                        height: 720, firstTick: boundary)
                }
            }
        }
        let (hints, names, removed) = viewer.seen.withLock { ($0.hints, Set($0.objects.keys), $0.removed) }
        for list in Self.lists {
            let current = Self.tags(viewer.last(list), "#EXT-X-PRELOAD-HINT:TYPE=PART")
            for hint in hints[list] ?? [] where !names.contains(hint) && !removed.contains(hint) {
                #expect(current == ["#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(hint)\""], "\(hint) was never published")
            }
            #expect((hints[list]?.count ?? 0) > 50)
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test(
        "at common frame rates, GOP and part lengths, listed parts last 85 % to 100 % of PART-TARGET",
        arguments: [(24, 24, 12), (25, 32, 16), (29, 30, 15), (30, 32, 16), (30, 30, 10), (50, 64, 32), (60, 64, 32)],
        [48_000, 44_100])
    func partRatio(_ frames: (fps: Int, gop: Int, part: Int), sampleRate: Int) throws {
        let grid = try OutputGrid(
            fps: frames.fps, gopFrames: frames.gop, partFrames: frames.part, sampleRate: sampleRate)
        let target = ServerControl(grid: grid).partTarget
        for kind in [TrackKind.video, .audio] {
            for part in Int64(0)..<2_000 {
                var start = grid.startOfPart(part, of: kind)
                var end = grid.startOfPart(part + 1, of: kind)
                if kind == .audio { (start, end) = ((start + 1_023) / 1_024 * 1_024, (end + 1_023) / 1_024 * 1_024) }
                let listed = Part(
                    uri: "x", start: start,
                    duration: MediaDuration(ticks: end - start, timescale: grid.timescale(of: kind)),
                    independent: false,
                    byteCount: 1
                ).listedDuration
                #expect(listed <= target * 100 && listed * 100 >= target * 100 * 85)
            }
        }
    }
}
