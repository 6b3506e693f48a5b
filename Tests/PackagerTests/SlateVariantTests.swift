import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("Slate for renditions with half the frame rate and several audio bit rates")
struct SlateVariantTests {
    private static let tracks = VariantTests.tracks
    private static let names = ["720p", "360p", "hi", "lo"]

    /// As the ladder's encoders encode it: the rendition at half the rate counts its own frames, 15 a second.
    private static func picture(_ number: Int64, step: Int, isKey: Bool) -> CodedPacket {
        var packet = Output.picture(number)
        packet.timescale = Int32(30 / step)
        packet.isKey = isKey
        return packet
    }

    private static func slate(frames: Int, _ tracks: [TrackDescription] = Self.tracks) -> Slate {
        Slate(
            frames: frames,
            tracks: tracks.map { track in
                guard track.kind == .video else { return [Output.audioPacket(0)] }
                return (0..<Int64(frames / track.frameStep)).map {
                    self.picture($0, step: track.frameStep, isKey: $0 == 0)
                }
            })
    }

    private static func feed(_ output: Output, _ frames: Range<Int64>, gop: Int64 = 32) {
        for frame in frames {
            for (index, track) in output.tracks.enumerated() {
                if track.kind == .audio {
                    for pts in Output.audioTimes(frame) {
                        output.packager.receive(track: index, Output.audioPacket(pts))
                    }
                } else if frame % Int64(track.frameStep) == 0 {
                    let packet = self.picture(
                        frame / Int64(track.frameStep), step: track.frameStep, isKey: frame % gop == 0)
                    output.packager.receive(track: index, packet)
                }
            }
        }
    }

    /// Samples in each fragment of a segment (ISO/IEC 14496-12 §8.8.8).
    private static func samples(_ bytes: [UInt8]) -> [Int] {
        bytes.indices.dropLast(12).filter { bytes[$0..<($0 + 4)].elementsEqual("trun".utf8) }.map { at in
            bytes[(at + 8)..<(at + 12)].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    @Test(
        "the slate of every track has the samples that its segments need, and live media follows without a gap",
        arguments: [16, 32])
    func filled(frames: Int) throws {
        let store = MemoryStore()
        let first = try Output(store, tracks: Self.tracks)
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<200)
        _ = first.packager.step()
        let second = try Output(store, tracks: Self.tracks)
        #expect(second.packager.slateFrames == 16)
        let begin = try second.packager.begin(now: SlateTests.nanoseconds(360), slate: Self.slate(frames: frames))
        #expect(begin.firstTick == 352)
        Self.feed(second, 352..<520)
        _ = second.packager.step()
        for name in Self.names {
            let list = ListText(store.text("\(name).m3u8"))
            #expect(list.uris == (0..<3).map { "\(name)-1-\($0).m4s" } + (3..<8).map { "\(name)-2-\($0).m4s" })
            #expect(list.count("#EXT-X-DISCONTINUITY") == 0 && list.count("#EXT-X-GAP") == 0 && list.maps.count == 1)
            // Two segments of slate, one that is half slate and half live, and two live segments.
            for number in 3..<8 {
                let samples = Self.samples(try #require(store.read("\(name)-2-\(number).m4s")))
                switch name {
                case "720p": #expect(samples == [16, 16, 16, 16], "\(name) \(number)")
                case "360p": #expect(samples == [8, 8, 8, 8], "\(name) \(number)")
                default: #expect(samples.count == 4 && samples.reduce(0, +) == 100, "\(name) \(number): \(samples)")
                }
            }
        }
        try SlateTests.expectContinuous(store, Self.names)
    }

    @Test("the live edge lists every slate part of every track")
    func edge() throws {
        let store = MemoryStore()
        let first = try Output(store, tracks: Self.tracks)
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<200)
        _ = first.packager.step()
        let second = try Output(store, tracks: Self.tracks)
        let viewer = EdgeViewer()
        second.packager.attach(viewer.take)
        _ = try second.packager.begin(now: SlateTests.nanoseconds(300), slate: Self.slate(frames: 16))
        for name in Self.names {
            #expect(EdgeTests.tags(viewer.last("\(name).m3u8"), "#EXT-X-PART:").count == 6, "\(name)")
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
    }

    @Test("slate is as long as a part, and at most a GOP", arguments: [(15, 30), (16, 32), (30, 15)])
    func length(partFrames: Int, gopFrames: Int) throws {
        let grid = try OutputGrid(fps: 30, gopFrames: gopFrames, segmentGops: 2, partFrames: partFrames)
        let settings = try Output.settings { $0.grid = grid }
        #expect(try Output(MemoryStore(), settings: settings).packager.slateFrames == min(partFrames, gopFrames))
    }

    @Test("parts of an odd number of frames are refused beside a rendition at half the frame rate")
    func oddPartsAtHalfRate() throws {
        let grid = try OutputGrid(fps: 30, gopFrames: 30, segmentGops: 2, partFrames: 15)
        let settings = try Output.settings { $0.grid = grid }
        #expect(throws: MediaError.self) { try Output(MemoryStore(), settings: settings, tracks: Self.tracks) }
    }

    @Test(
        "after a kill, a successor keeps the last four listed parts of 15 frames, and no media sequence number falls",
        arguments: [3_600, 6])
    func oddPartsStay(windowSeconds: Int) throws {
        let grid = try OutputGrid(fps: 30, gopFrames: 30, segmentGops: 2, partFrames: 15)
        let settings = try Output.settings { ($0.grid, $0.windowSeconds) = (grid, windowSeconds) }
        let tracks = [Output.video("720p"), Output.audio]
        for end in stride(from: Int64(421), to: 661, by: 15) {
            let store = MemoryStore()
            let viewer = EdgeViewer()
            let first = try Output(store, settings: settings, tracks: tracks)
            first.packager.attach(viewer.take)
            _ = try first.packager.begin(now: Output.origin)
            Self.feed(first, 0..<end, gop: 30)
            _ = first.packager.step()
            let listed = EdgeTests.tags(viewer.last("720p.m3u8"), "#EXT-X-PART:")
            let second = try Output(store, settings: settings, tracks: tracks)
            second.packager.attach(viewer.take)
            _ = try second.packager.begin(
                now: SlateTests.nanoseconds(end + 60), slate: Self.slate(frames: second.packager.slateFrames, tracks))
            let after = EdgeTests.tags(viewer.last("720p.m3u8"), "#EXT-X-PART:")
            // Older parts leave the playlist; the viewer's checks cover those that stay.
            #expect(listed.count >= 4 && listed.suffix(4).allSatisfy(after.contains), "\(end): \(listed) \(after)")
            #expect(viewer.faults.isEmpty, "\(end): \(viewer.faults)")
        }
    }
}
