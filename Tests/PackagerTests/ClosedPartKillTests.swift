import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import Packager
import Testing

@Suite("A worker is killed while B-frames are pending: no frame is missing or doubled")
struct ClosedPartKillTests {
    private static let tracks = [Output.video("720p"), Output.video("360p"), Output.audio]

    /// A GOP of 32 frames in decode order, numbered from its first: `bFrames` before each P-frame, and with `closes` a
    /// P-frame at the end of each part.
    private static func order(bFrames: Int64, closes: Bool) -> [Int64] {
        var order: [Int64] = [0]
        var shown: Int64 = 0
        while shown < 31 {
            let end = closes && shown < 15 ? min(shown + bFrames + 1, 15) : min(shown + bFrames + 1, 31)
            order.append(end)
            order += (shown + 1)..<end
            shown = end
        }
        return order
    }

    /// The packet at position `index` in decode order.
    private static func packet(_ index: Int64, _ order: [Int64]) -> CodedPacket {
        let pts = index / 32 * 32 + order[Int(index % 32)]
        return CodedPacket(
            kind: .video, memory: PacketMemory([UInt8](repeating: UInt8(truncatingIfNeeded: pts), count: 40)), pts: pts,
            dts: index - 1, timescale: 30, isKey: index % 32 == 0)
    }

    private static func feed(_ output: Output, _ frames: Range<Int64>, _ orders: [[Int64]]) {
        for index in frames {
            for track in 0..<2 { output.packager.receive(track: track, Self.packet(index, orders[track])) }
            for pts in Output.audioTimes(index) { output.packager.receive(track: 2, Output.audioPacket(pts)) }
            if index % 8 == 7 { _ = output.packager.step() }
        }
    }

    /// Presentation times of the listed frames in ticks: from `tfdt`, the durations and the composition offsets.
    private static func shown(_ store: MemoryStore, _ list: String) throws -> [Int64] {
        var times: [Int64] = []
        for uri in ListText(store.text("\(list).m3u8")).uris {
            let bytes = try #require(store.read(uri))
            let segment = try #require(SegmentSamples(bytes))
            for fragment in segment.fragments {
                var time = fragment.decodeTime
                for sample in fragment.samples {
                    times.append(time + Int64(sample.offset))
                    time += Int64(sample.duration)
                }
            }
        }
        return times.sorted()
    }

    /// - Returns: How many frames are missing or doubled in the timelines of both renditions.
    private static func faults(killedAfter frames: Int64, bFrames: (Int64, Int64), closes: Bool) throws -> Int {
        let store = MemoryStore()
        let orders = [bFrames.0, bFrames.1].map { Self.order(bFrames: $0, closes: closes) }
        let first = try Output(store, tracks: Self.tracks)
        first.packager.attach { _ in }
        _ = try first.packager.begin(now: Output.origin)
        Self.feed(first, 0..<frames, orders)
        let second = try Output(store, tracks: Self.tracks)
        second.packager.attach { _ in }
        let beginning = try second.packager.begin(
            now: SlateTests.nanoseconds(frames + 12), slate: SlateTests.slate(Self.tracks))
        Self.feed(second, beginning.firstTick..<beginning.firstTick + 96, orders)
        var faults = 0
        for list in ["720p", "360p"] {
            let times = try Self.shown(store, list)
            #expect(times.count >= 128 && times.first == 0)
            faults += zip(times, times.dropFirst()).count { $1 - $0 != OutputGrid.ticksPerFrame }
        }
        return faults
    }

    @Test(
        "killed after 66 to 132 frames, the worker and its successor publish each frame exactly once",
        arguments: [(1, 0), (2, 1), (3, 2)])
    func everyPicture(first: Int64, second: Int64) throws {
        for frames in Int64(66)..<133 {
            let faults = try Self.faults(killedAfter: frames, bFrames: (first, second), closes: true)
            #expect(faults == 0, "killed after \(frames) frames")
        }
    }

    @Test("if the killed worker's parts end with pending B-frames, each frame is still published exactly once")
    func publishers() throws {
        for frames in Int64(66)..<133 {
            let faults = try Self.faults(killedAfter: frames, bFrames: (1, 3), closes: false)
            #expect(faults == 0, "killed after \(frames) frames")
        }
    }

    @Test(
        "a part that the successor replaces is still served to clients that know it, until it expires"
    )
    func replaced() throws {
        var replaced = 0
        for frames in Int64(66)..<133 {
            let store = MemoryStore()
            let orders = [1, 3].map { Self.order(bFrames: $0, closes: false) }
            let (before, after) = (EdgeViewer(), EdgeViewer())
            let first = try Output(store, tracks: Self.tracks)
            first.packager.attach(before.take)
            _ = try first.packager.begin(now: Output.origin)
            Self.feed(first, 0..<frames, orders)
            let second = try Output(store, tracks: Self.tracks)
            second.packager.attach(after.take)
            let beginning = try second.packager.begin(
                now: SlateTests.nanoseconds(frames + 12), slate: SlateTests.slate(Self.tracks))
            let known = before.seen.withLock { seen in seen.places.keys.filter { seen.objects[$0] != nil } }
            for name in known where name.hasSuffix(".m4s") && name.split(separator: ".").count > 2 {
                #expect(after.object(name) == before.object(name), "\(name), killed after \(frames) frames")
            }
            let gone = Set(known).subtracting(after.seen.withLock { Set($0.places.keys) }).filter {
                after.object($0) != nil
            }
            replaced += gone.count
            Self.feed(second, beginning.firstTick..<beginning.firstTick + 448, orders)
            #expect(gone.allSatisfy { after.object($0) == nil }, "killed after \(frames) frames")
            #expect(after.faults.isEmpty, "killed after \(frames) frames: \(after.faults)")
        }
        #expect(replaced > 0)
    }

    @Test(
        "the GOP that these tests use has B-frames pending at the end of its first part, and none at the end of its second"
    )
    func judge() throws {
        let order = Self.order(bFrames: 3, closes: false)
        let parts = stride(from: 16, through: 32, by: 16).map { Set(order.prefix($0)) }
        #expect(parts[0] != Set(0..<16) && parts[1] == Set(0..<32), "the GOP's first part ends open, its second closed")
    }
}
