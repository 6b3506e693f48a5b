import HLS
import HLSTestKit
import MediaTypes
import Packager
import Testing

@Suite("A map with the parameter sets of encoder and publisher, across workers")
struct JoinedMapTests {
    private static func live(_ output: Output, _ frames: Range<Int64>) {
        for start in stride(from: frames.lowerBound, to: frames.upperBound, by: 16) {
            output.feed(start..<min(start + 16, frames.upperBound))
            _ = output.packager.step()
        }
    }

    private static func joined() throws -> [UInt8] {
        let own = try #require(AVCConfiguration(extradata: Output.h264))
        let other = try #require(AVCConfiguration(extradata: Output.otherH264))
        let both = try #require(
            AVCConfiguration(
                nalUnits: own.sequenceParameterSets + other.sequenceParameterSets + own.pictureParameterSets
                    + other.pictureParameterSets))
        return both.record
    }

    /// - Returns: The playlists at the kill of the first worker, and after its successor.
    private static func succeed(
        _ store: MemoryStore, _ viewer: EdgeViewer, _ configuration: [UInt8], at change: Int64
    ) throws -> [(before: ListText, after: ListText)] {
        let first = try Output(store)
        first.packager.attach(viewer.take)
        _ = try first.packager.begin(now: Output.origin)
        Self.live(first, 0..<change)
        try ConfigurationChangeTests.changed(first, to: configuration, height: 720, at: change)
        Self.live(first, change..<240)
        let before = EdgeTests.lists.map { ListText(store.text($0)) }
        let second = try Output(store)
        second.packager.attach(viewer.take)
        let beginning = try second.packager.begin(now: SlateTests.nanoseconds(260), slate: SlateTests.slate())
        Self.live(second, beginning.firstTick..<beginning.firstTick + 128)
        return zip(before, EdgeTests.lists).map { ($0, ListText(store.text($1))) }
    }

    @Test(
        "if the map has the parameter sets of the successor's encoder, it is reused without a discontinuity",
        arguments: [0, 128])
    func goesOn(change: Int64) throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        let seam = "#EXT-X-DISCONTINUITY"
        for (before, after) in try Self.succeed(store, viewer, Self.joined(), at: change) {
            #expect(after.maps == before.maps && after.count(seam) == before.count(seam), "\(after.lines)")
            #expect(after.uris.count > before.uris.count)
        }
        #expect(viewer.faults.isEmpty, "\(viewer.faults)")
        try SlateTests.expectContinuous(store)
    }

    @Test("if the map lacks the parameter sets of the successor's encoder, a new map follows a discontinuity")
    func other() throws {
        let (store, viewer) = (MemoryStore(), EdgeViewer())
        let lists = try Self.succeed(store, viewer, Output.otherH264, at: 0)
        for (before, after) in lists.prefix(2) {
            #expect(after.maps.count == before.maps.count + 1 && after.count("#EXT-X-DISCONTINUITY") == 1)
        }
    }
}
