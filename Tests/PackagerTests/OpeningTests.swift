import HLS
import HLSTestKit
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("The first playlist of a live room lists three short segments")
struct OpeningTests {
    private static func settings(_ change: (inout HLSOutputSettings) -> Void = { _ in }) throws -> HLSOutputSettings {
        try Output.settings {
            $0.opening = StartupSegments(fps: 30, gopFrames: 32, segmentFrames: 64, steps: [1])
            change(&$0)
        }
    }

    /// Frames as the ladder encodes them: an IDR frame at the start of each opening segment and of each later GOP.
    private static func feed(_ output: Output, _ frames: Range<Int64>) {
        for frame in frames {
            for (index, track) in output.tracks.enumerated() {
                guard track.kind == .video else {
                    for pts in Output.audioTimes(frame) {
                        output.packager.receive(track: index, Output.audioPacket(pts))
                    }
                    continue
                }
                var picture = Output.picture(frame)
                picture.isKey = frame < 64 ? frame.isMultiple(of: 16) : frame.isMultiple(of: 32)
                output.packager.receive(track: index, picture)
            }
            _ = output.packager.step()
        }
    }

    private static let playlists = ["720p.m3u8", "360p.m3u8", "audio.m3u8", "index.m3u8"]

    @Test(
        "a live room's playlists appear with its third short segment, in memory and on disk; from the fifth on, segments have full length"
    )
    func appears() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        let shown = Atomic(0)
        output.packager.whenShown { shown.add(1, ordering: .relaxed) }
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<47)
        #expect(viewer.texts("720p.m3u8").isEmpty && output.events.published.isEmpty)
        #expect(Self.playlists.allSatisfy { !store.contains($0) && output.packager.object(named: $0) == nil })
        #expect(shown.load(ordering: .relaxed) == 0)
        Self.feed(output, 47..<49)
        #expect(Self.playlists.allSatisfy { store.contains($0) && output.packager.object(named: $0) != nil })
        #expect(shown.load(ordering: .relaxed) == 1)
        for name in Self.playlists.dropLast() {
            let first = ListText(try #require(viewer.texts(name).first))
            #expect(first.uris.count == 3 && first.lines.count { $0.hasPrefix("#EXTINF:0.5") } == 3, "\(name)")
            #expect(ListText(store.text(name)).uris.count == 3 && ListText(store.text(name)).mediaSequence == 0)
        }
        #expect(output.events.published.map(\.frames) == [0..<16, 16..<32, 32..<48])
        Self.feed(output, 49..<200)
        #expect(output.events.published.map(\.frames).suffix(3) == [48..<64, 64..<128, 128..<192])
        #expect(viewer.faults == [] && output.events.failures.isEmpty && shown.load(ordering: .relaxed) == 1)
    }

    @Test(
        "if the third segment is not in the state file, playlists appear with the next part, the multivariant one later"
    )
    func notTwo() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        let shown = Atomic(0)
        output.packager.whenShown { shown.add(1, ordering: .relaxed) }
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<40)
        // The state file does not have the third one: it is listed with the next part, and there is no multivariant
        // playlist yet.
        store.refuse { $0 == "state.json" }
        Self.feed(output, 40..<49)
        #expect(Self.playlists.allSatisfy { viewer.texts($0).isEmpty })
        Self.feed(output, 49..<66)
        for name in Self.playlists.dropLast() {
            #expect(ListText(try #require(viewer.texts(name).first)).uris.count == 3, "\(name)")
        }
        #expect(shown.load(ordering: .relaxed) == 0)
        store.refuse { _ in false }
        Self.feed(output, 66..<130)
        #expect(shown.load(ordering: .relaxed) == 1 && output.packager.object(named: "index.m3u8") != nil)
        #expect(viewer.faults == [])
    }

    @Test("a room that ends or drains before the third segment lists what it has", arguments: [true, false])
    func endsEarlier(_ endlist: Bool) throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        let viewer = EdgeViewer()
        output.packager.attach(viewer.take)
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<40)
        output.packager.finish(endlist: endlist)
        #expect(output.packager.step() == (endlist ? .ended : .drained))
        #expect(Self.playlists.allSatisfy(store.contains))
        #expect(store.text("720p.m3u8").contains("#EXT-X-ENDLIST") == endlist)
        #expect(ListText(store.text("720p.m3u8")).uris.count == (endlist ? 3 : 2))
    }

    @Test("a successor starts with segments of full length and publishes without waiting for three of them")
    func successor() throws {
        let store = MemoryStore()
        let first = try Output(store, settings: Self.settings())
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<130)
        let second = try Output(store, settings: Self.settings())
        #expect(second.packager.opening == nil)
        let begun = try second.packager.begin(now: Output.origin + 5_000_000_000)
        Self.feed(second, begun.firstTick..<begun.firstTick + 66)
        #expect(second.events.published.map { $0.frames.count } == [64])
    }

    @Test(
        "no playlist has EXT-X-GAP if the encoders' lookahead puts the video 44 frames behind the audio")
    func lookahead() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        _ = try output.packager.begin(now: Output.origin)
        for frame in Int64(0)..<240 {
            for pts in Output.audioTimes(frame) { output.packager.receive(track: 2, Output.audioPacket(pts)) }
            guard frame >= 44 else { continue }
            for track in 0..<2 {
                var picture = Output.picture(frame - 44)
                picture.isKey = frame - 44 < 64 ? (frame - 44).isMultiple(of: 16) : (frame - 44).isMultiple(of: 32)
                output.packager.receive(track: track, picture)
            }
            _ = output.packager.step()
        }
        #expect(output.events.published.map(\.frames) == [0..<16, 16..<32, 32..<48, 48..<64, 64..<128, 128..<192])
        for name in Self.playlists.dropLast() { #expect(!store.text(name).contains("#EXT-X-GAP"), "\(name)") }
    }

    @Test(
        "after a kill during or soon after the short segments there is no gap, and segments return to the grid",
        arguments: [20, 33, 40, 47, 48, 49, 56, 63, 64, 65, 70, 81, 97, 130] as [Int64], [12, 70] as [Int64])
    func killed(frames: Int64, away: Int64) throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        let first = try Output(store, settings: Self.settings())
        first.packager.attach(viewer.take)
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<frames)
        let second = try Output(store, settings: Self.settings())
        second.packager.attach(viewer.take)
        let begun = try second.packager.begin(now: SlateTests.nanoseconds(frames + away), slate: SlateTests.slate())
        Self.feed(second, begun.firstTick..<begun.firstTick + 130)
        #expect(viewer.faults == [], "\(viewer.faults)")
        for name in Self.playlists.dropLast() {
            let text = store.text(name)
            #expect(!text.contains("#EXT-X-GAP") && !text.contains("#EXT-X-DISCONTINUITY\n"), "\(name): \(text)")
        }
        let ends = second.events.published.map(\.frames)
        #expect(zip(ends, ends.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound }, "\(ends)")
        #expect(ends.last?.count == 64 && ends.last.map { $0.upperBound.isMultiple(of: 64) } == true, "\(ends)")
        try SlateTests.expectContinuous(store)
    }

    @Test("a cut that is requested at another frame replaces the planned cuts of the short segments")
    func cut() throws {
        let store = MemoryStore()
        let output = try Output(store, settings: Self.settings())
        _ = try output.packager.begin(now: Output.origin)
        Self.feed(output, 0..<20)
        output.packager.cut(at: 20, isBreak: true)
        for frame in Int64(20)..<150 {
            for track in output.tracks.indices {
                if output.tracks[track].kind == .audio {
                    for pts in Output.audioTimes(frame) {
                        output.packager.receive(track: track, Output.audioPacket(pts))
                    }
                } else {
                    var picture = Output.picture(frame)
                    picture.isKey = (frame - 20).isMultiple(of: 32)
                    output.packager.receive(track: track, picture)
                }
            }
        }
        _ = output.packager.step()
        #expect(output.events.published.map(\.frames) == [0..<16, 16..<20, 20..<84, 84..<148])
    }
}
