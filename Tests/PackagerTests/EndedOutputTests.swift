import HLS
import MediaTypes
import Packager
import Synchronization
import Testing

@Suite("The output of an ended room, read by a later worker")
struct EndedOutputTests {
    private static let kinds: [String: TrackKind] = ["720p": .video, "360p": .video, "audio": .audio]

    /// The facts of a segment that a store needs.
    private static func facts(_ listing: OutputListing) -> [[String]] {
        listing.tracks.map { track in
            track.segments.map { segment in
                "\(segment.mediaSequence) \(segment.uri) \(segment.map.uri) \(segment.start) \(segment.duration) "
                    + "\(segment.programDate) \(segment.discontinuity) \(segment.gap) \(segment.byteCount) "
                    + "\(segment.keyFrames) \(segment.key.map { "\($0)" } ?? "-")"
            }
        }
    }

    @Test("a later worker lists the same segments as the worker that ended the room", arguments: [false, true])
    func same(isEncrypted: Bool) throws {
        let settings = try Output.settings { settings in
            settings.iFramePlaylists = true
            settings.windowSeconds = 8
            if isEncrypted {
                settings.encryption = EncryptionSettings(room: "r", rotation: 2, secret: Array("0123456789abcdef".utf8))
            }
        }
        let store = MemoryStore()
        let output = try Output(store, settings: settings)
        // The first listener gets everything, like a store that was there from the start.
        let listings = Mutex<[OutputListing]>([])
        output.packager.watchListing { listing in
            listings.withLock { $0.append(listing) }
            return true
        }
        _ = try output.packager.begin(now: Output.origin)
        output.packager.mark(ProgramMarkTests.mark("solo", 0))
        output.feed(0..<700)
        #expect(output.packager.step() == nil)
        let early = try EndedOutput.open(settings, store: store)
        #expect(early?.note(named: "state.json") == nil, "it has not ended")
        let written = try #require(store.read("state.json"))
        let live = try #require(OutputSummary(json: written))
        #expect(!live.hasEnded && live.multivariantName == "index.m3u8" && live.incarnation == 1)
        #expect(Set(live.trackNames) == Set(Self.kinds.keys))
        #expect(OutputSummary(json: Array(written.dropLast(2))) == nil)
        output.packager.finish(endlist: true)
        #expect(output.packager.step() == .ended)
        let summary = store.read("state.json").flatMap { OutputSummary(json: $0) }
        #expect(summary?.hasEnded == true, "other tools find ended rooms by it")
        let ended = try #require(try EndedOutput.open(settings, store: store))
        let listing = try ended.listing(Self.kinds)
        let last = try #require(listings.withLock { $0.last })
        #expect(listing.isEnded && listing.nextMediaSequence == last.nextMediaSequence)
        #expect(listing.multivariant == store.text("index.m3u8") && listing.origin == Output.origin)
        #expect(zip(listing.tracks, last.tracks).allSatisfy { $0.name == $1.name && $0.kind == $1.kind })
        #expect(listing.dateRanges.ranges == last.dateRanges.ranges && listing.dateRanges.ranges.count == 1)
        // Each of the last segments was reported once; the playlist has those that the window kept.
        for (index, track) in listing.tracks.enumerated() {
            let told = listings.withLock { $0 }.flatMap { Self.facts($0)[index] }
            #expect(Array(told.suffix(track.segments.count)) == Self.facts(listing)[index], "\(track.name)")
            let uris = store.text(track.playlistName).split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(track.segments.map(\.uri) == uris.map(String.init))
            #expect(
                track.targetDuration == last.tracks[index].targetDuration && track.slack == last.tracks[index].slack)
            #expect(track.iFrames?.name == last.tracks[index].iFrames?.name)
        }
        #expect(ended.bytes(ofFile: listing.tracks[0].segments[0].uri) != nil)
        #expect(ended.bytes(ofFile: "state.json") == nil && ended.bytes(ofFile: "../x.m4s") == nil)
        try ended.keep(note: [1], named: ".upload-x", durable: true)
        #expect(ended.note(named: ".upload-x") == [1])
        ended.removeNote(named: ".upload-x")
        #expect(ended.note(named: ".upload-x") == nil)
        #expect(throws: MediaError.self) { try ended.listing(["720p": .video]) }
        var other = settings
        other.encryption = isEncrypted ? nil : EncryptionSettings(room: "r", rotation: 2)
        #expect(throws: MediaError.self) { try EndedOutput.open(other, store: store) }
    }
}
