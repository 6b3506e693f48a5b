import HLS
import MediaKernels
import MediaTypes

/// Writes a publication to its store in an order in which a viewer never sees a name before its bytes exist:
/// initialization segments, segments of all tracks, the state file, media playlists (audio first), the multivariant
/// playlist if it changed, deletions.
///
/// The end of the room is recorded in the state file last, because no later worker can complete missing playlists after
/// that.
///
/// A segment that cannot be written is *held*: the write is retried when the next segment is ready, and if it fails
/// again the segment is listed as a gap in the playlists of the tracks that lack it.
struct PublicationWriter: Sendable {
    /// Result of an attempt to publish.
    ///
    /// - `done`: The caller has nothing to repeat. If a segment or a playlist could not be written, an event reported
    ///   that, and the write is retried with the next segment.
    /// - `superseded`: A newer worker has claimed the room.
    /// - `unwritten`: The state file could not be written or, at the end of the run, the playlists, or the last segment
    ///   of playlists that stay open.
    enum Result: Sendable, Equatable { case done, superseded, unwritten }

    /// The segments of one interval that are not listed yet, and which of them must still be written.
    private struct HeldSegment {
        let segment: AlignedSegment
        /// Indices of the tracks whose segment is not written.
        var unwritten: Set<Int>
        /// The error of the last attempt.
        var failure: MediaError?
    }

    let store: any SegmentStore
    let clock: any MonotonicClock
    /// Number of segments to list before the playlists are first shown and written.
    let firstListed: Int64
    /// Whether the playlists may be shown to viewers.
    var isShown = false
    /// Callback that replaces the set of objects that viewers can request.
    let show: @Sendable ([String: PublishedObject]) -> Void
    /// Callback that receives the publication whenever viewers get new playlists, before they are written to the store.
    let note: @Sendable (Publication) -> Void
    /// Callback that receives the media sequence number below which the state file has all segments, whenever a publish
    /// has written the file.
    let recorded: @Sendable (Int64) -> Void
    /// Returns whether viewers of the live edge may know the URI of a track's segment with a media sequence number.
    private let isPromised: @Sendable (_ track: Int, _ mediaSequence: Int64) -> Bool
    /// Receives everything that is listed, for recordings, which keep media longer than the playlists; `nil` without
    /// recording.
    let keeper: (any ListingObserver)?
    /// The content of the subtitle renditions' segments; `nil` if there are no such renditions.
    let subtitles: SubtitleRenditions?
    var publication: Publication
    /// The newest segment, if it is not listed yet.
    private var held: HeldSegment?
    /// Listed segments whose playlists have not been written, so that no event has been reported.
    var unannounced: [ListedAlignedSegment] = []
    /// Objects that viewers can request, by name.
    var objects: [String: PublishedObject] = [:]
    /// Text of the multivariant playlist that was last written; empty if it must be written again.
    var writtenMultivariant: [UInt8] = []
    /// State of the playlists of the whole window in the store.
    var wholeWindow = WholeWindowFiles()
    /// Text of the multivariant playlist that was last passed to ``keeper``.
    var keptMultivariant = ""
    /// Content of the state file as this worker last wrote it.
    var writtenState: [UInt8] = []
    /// Whether the last publish failed, so that playlists may be outdated.
    var isStale = false
    /// Whether the state file lacks changes of date ranges.
    var isStateStale = false
    /// Whether the playlists in the store have `EXT-X-ENDLIST`.
    var isEndListed = false
    /// The next media sequence number in the state file; never above the publication's.
    var recordedMediaSequence: Int64
    /// Events that have not been taken yet.
    var events: [PackagerEvent] = []
    /// Names of files that could not be deleted when they expired, those that expired first at the beginning.
    var undeleted: [String] = []
    /// The output directory, kept open to detect if it is replaced; `nil` if the store cannot detect that.
    var place: (any HeldDirectory)?
    /// Time on ``clock``, in nanoseconds, at which this worker last read the state file to check whether it still owns
    /// the room.
    private var assuredAt: Int64 = 0

    init(
        publication: Publication, store: any SegmentStore, clock: any MonotonicClock, firstListed: Int = 1,
        keeper: (any ListingObserver)? = nil, subtitles: SubtitleRenditions? = nil,
        show: @escaping @Sendable ([String: PublishedObject]) -> Void,
        note: @escaping @Sendable (Publication) -> Void = { _ in },
        recorded: @escaping @Sendable (Int64) -> Void = { _ in },
        isPromised: @escaping @Sendable (_ track: Int, _ mediaSequence: Int64) -> Bool = { _, _ in false }
    ) {
        self.publication = publication
        self.recordedMediaSequence = publication.nextMediaSequence
        self.store = store
        self.clock = clock
        self.firstListed = Int64(firstListed)
        self.keeper = keeper
        self.subtitles = subtitles
        self.show = show
        self.note = note
        self.recorded = recorded
        self.isPromised = isPromised
    }

    /// Adds an event that did not arise in the writer.
    mutating func note(_ event: PackagerEvent) { self.events.append(event) }

    /// Returns the events since the last call, in order.
    mutating func takeEvents() -> [PackagerEvent] {
        defer { self.events.removeAll() }
        return self.events
    }

    // MARK: Steps of a run

    /// Writes the room's origin to the state file before anything depends on it, and makes the previous worker's
    /// playlists and segments available to viewers.
    ///
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``, ``MediaError/Code/superseded``.
    mutating func begin() throws(MediaError) {
        let store = self.store
        try store.exclusively { () throws(MediaError) in
            guard !self.isSuperseded() else {
                throw MediaError(.superseded, "a newer worker serves this room", at: "hls", fix: "stop this worker")
            }
            // The journal of this run is complete before the state file names it.
            if let archive = self.publication.archive,
                archive.journal != nil || archive.rowCount > 0 || !archive.ranges.isEmpty
            {
                try self.putWholeJournal()
            }
            try self.putState()
        }
        self.place = store.hold()
        guard self.publication.hasSegments else { return }
        for track in self.publication.tracks {
            let archived = self.publication.archived(mapsOf: track)
            for map in track.maps + archived {
                if let bytes = self.store.read(map.uri) { self.add(map, bytes, of: track) }
            }
            for segment in track.window.segments where !segment.gap {
                self.add(segment.uri, segment.byteCount, of: track)
            }
            for segment in track.window.retired where !segment.gap {
                self.add(segment.uri, segment.byteCount, of: track)
            }
        }
        self.addRestoredSubtitles()
        // Initialization segments of tracks that the room no longer has, for players that still have their playlists.
        if let archive = self.publication.archive, let track = self.publication.tracks.first {
            for map in archive.maps where self.objects[map.uri] == nil {
                if let bytes = self.store.read(map.uri) { self.add(map, bytes, of: track) }
            }
        }
        self.showPlaylists(Texts(self.publication))
        self.showWholeWindow(WholeWindowTexts(self.publication))
    }

    /// Writes the segments of one interval and lists them, after the held segment if there is one. If a write fails,
    /// the segments are held for another attempt.
    mutating func commit(_ segment: AlignedSegment) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        if self.restorePlace() == .superseded || self.settleHeld() == .superseded { return .superseded }
        let store = self.store
        self.publication.apply(segment.changes) { store.contains($0) }
        if segment.isBreak { self.publication.breakTime() }
        let present = segment.segments.indices.filter { segment.segments[$0].map { !$0.gap } ?? false }
        var held = HeldSegment(segment: segment, unwritten: Set(present))
        self.write(&held)
        self.held = held
        return held.unwritten.isEmpty ? self.settleHeld() : .done
    }

    /// Publishes the held segment, then ends the playlists or leaves them open. If the result is `unwritten`, call this
    /// again.
    mutating func end(endlist: Bool) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        // No further segments come, so there is nothing to wait for.
        self.isShown = true
        if self.restorePlace() == .superseded { return .superseded }
        // The last segment before the next worker is worth waiting for: no later segment is delayed by it.
        if !endlist, !self.writeHeld() { return .unwritten }
        if self.settleHeld() == .superseded { return .superseded }
        guard endlist, self.publication.hasSegments else {
            if self.unannounced.isEmpty, !self.isStale {
                // Viewers of the live edge have seen the changes of date ranges.
                return self.isStateStale && !endlist ? self.writeState() : .done
            }
            let result = self.publish()
            return result == .done && self.isStale ? .unwritten : result
        }
        self.publication.end()
        if self.publish() == .superseded { return .superseded }
        guard self.isEndListed else { return .unwritten }
        // The few playlists are flushed first: a day's segments may take longer than the time until the process is
        // killed.
        self.synchronize(self.publication.playlistNames)
        // From here on no later worker can continue in this directory.
        let result = self.writeState()
        guard result == .done else { return result }
        // An orchestrator that learns that the playlists have ended may stop the machine.
        self.synchronize(self.publication.listedNames)
        self.keeper?.ended(nextMediaSequence: self.publication.nextMediaSequence)
        self.events.append(.playlistEnded)
        return .done
    }

    private mutating func synchronize(_ names: [String]) {
        do {
            try self.store.synchronize(names)
        } catch {
            self.events.append(.outputFailed(error))
        }
    }

    /// Writes only the state file.
    ///
    /// - Returns: `unwritten` if the state file could not be written.
    mutating func writeState() -> Result {
        do {
            let store = self.store
            let result = try store.exclusively { () throws(MediaError) -> Result in
                guard !self.isSuperseded() else { return .superseded }
                try self.putState()
                return .done
            }
            return result == .done ? .done : self.giveWay()
        } catch {
            self.events.append(.outputFailed(error))
            return .unwritten
        }
    }

    /// Checks whether a newer worker has claimed the room, and then stops publishing; otherwise checks that the written
    /// files still exist.
    mutating func look() -> Result { self.isSuperseded() ? self.giveWay() : self.restorePlace() }

    /// Writes changes of date ranges to the state file before the next segment lists them: viewers of the live edge may
    /// have seen them, and the next worker needs them.
    mutating func record(_ changes: [DateRange.Change]) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        self.list(changes)
        // If this fails, the next segment's publish writes them again.
        return self.writeState() == .superseded ? .superseded : .done
    }

    /// Lists date range changes with the next segment, and passes them to the recording.
    mutating func list(_ changes: [DateRange.Change]) {
        self.publication.list(changes)
        if !changes.isEmpty { self.isStateStale = true }
        for change in changes { self.keeper?.keep(change) }
    }

    /// Declares other bit rates for some tracks, by track index. If segments are listed, the playlists are written at
    /// once.
    mutating func declare(_ rates: [Int: BitRates]) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        self.publication.declare(rates)
        return self.publication.hasSegments ? self.publish() : .done
    }

    // MARK: Space

    /// Limits the number of listed segments in all playlists; `nil` removes the limit.
    mutating func limit(to most: Int?) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        self.publication.limit(to: most)
        if most != nil { self.wholeWindow.isStale = true }
        return self.publication.hasSegments && most != nil ? self.publish() : .done
    }

    /// Frees space on a full disk: deletes all unlisted segments at once, and retries the failed writes.
    mutating func makeSpace() -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        if self.isShown, self.publication.archive != nil {
            // Viewers' playlists of the whole window are up to 30 s old and may list what is deleted now.
            self.showWholeWindow(WholeWindowTexts(self.publication))
            self.wholeWindow.isStale = true
        }
        self.delete(self.publication.takeExpired(hurries: true))
        if var held = self.held, !held.unwritten.isEmpty {
            self.write(&held)
            self.held = held
            return held.unwritten.isEmpty ? self.settleHeld() : .done
        }
        return self.publication.hasSegments ? self.publish() : .done
    }

    // MARK: Segments

    /// Lists the held segment, after one more attempt to write it; tracks whose write fails again get a gap.
    private mutating func settleHeld() -> Result {
        guard var held = self.held else { return .done }
        if !held.unwritten.isEmpty { self.write(&held) }
        self.held = nil
        do {
            let listed = try self.publication.append(held.segment, missing: held.unwritten)
            self.unannounced.append(listed)
            if !held.unwritten.isEmpty {
                let tracks = held.unwritten.sorted().map { self.publication.tracks[$0].names.track }
                self.events.append(
                    .segmentLost(mediaSequence: listed.mediaSequence, tracks: tracks, held.failure ?? Self.unwritten))
            }
            self.keep(listed)
            for (index, track) in self.publication.tracks.enumerated() where !held.unwritten.contains(index) {
                if let segment = track.window.segments.last, segment.mediaSequence == listed.mediaSequence, !segment.gap
                {
                    self.add(track.map, track.initialization, of: track)
                    self.add(segment.uri, segment.byteCount, of: track)
                    if index == self.publication.subtitleReference { self.addSubtitles(like: segment) }
                }
            }
        } catch {
            self.events.append(.outputFailed(error))
            return .done
        }
        self.events += self.publication.takeAlarms()
        return held.segment.isFollowed ? .done : self.publish()
    }

    /// Retries to write the held segment.
    ///
    /// - Returns: Whether the segments of all tracks are written.
    private mutating func writeHeld() -> Bool {
        guard var held = self.held, !held.unwritten.isEmpty else { return true }
        self.write(&held)
        self.held = held
        return held.unwritten.isEmpty
    }

    private func keep(_ listed: ListedAlignedSegment) {
        guard let keeper = self.keeper else { return }
        let tracks = self.publication.tracks.compactMap { track in
            track.window.segments.last.map {
                ListedSegmentSet.Track(name: track.names.track, kind: track.kind, segment: $0)
            }
        }
        keeper.keep(
            ListedSegmentSet(
                mediaSequence: listed.mediaSequence, incarnation: self.publication.incarnation, frames: listed.frames,
                tracks: tracks))
    }

    private mutating func write(_ held: inout HeldSegment) {
        let number = self.publication.nextMediaSequence
        for index in held.unwritten.sorted() {
            guard let segment = held.segment.segments[index], self.publication.tracks.indices.contains(index)
            else {
                continue
            }
            let track = self.publication.tracks[index]
            do {
                if !track.isInitializationWritten {
                    try self.store.put(track.map.uri, bytes: track.initialization)
                    self.publication.tracks[index].isInitializationWritten = true
                }
                let name = track.segmentName(number, incarnation: self.publication.incarnation)
                if index == self.publication.subtitleReference {
                    try self.writeSubtitles(like: segment, number, name)
                }
                try self.store.put(name, track.sealed(segment.pieces, of: number), durable: false)
                held.unwritten.remove(index)
            } catch {
                held.failure = error
                self.events.append(.outputFailed(error))
            }
        }
    }

    private static let unwritten = MediaError(
        .outputLost, "a segment was not written", at: "hls", fix: "restore the directory")

    // MARK: Giving way

    /// Whether a newer worker has claimed the room: the state file has a higher incarnation. False if the file is
    /// missing or damaged, because this worker then writes it again.
    mutating func isSuperseded() -> Bool {
        self.assuredAt = self.clock.now()
        return StateFile.isSuperseded(self.publication.incarnation, in: self.store, known: self.writtenState)
    }

    /// Whether this worker still owns the room. The state file is read again only if this process may have been stopped
    /// since the last check: a newer worker does not wait for the lock of a stopped process.
    mutating func isStillOurs() -> Bool {
        self.clock.now() &- self.assuredAt < HLSPackager.longestPause || !self.isSuperseded()
    }

    /// Stops publishing because a newer worker has claimed the room. Removes segments that the state file does not
    /// have, since the newer worker does not know them. Segments whose URIs viewers know stay, because the newer worker
    /// has taken them over.
    mutating func giveWay() -> Result {
        for number in self.recordedMediaSequence...self.publication.nextMediaSequence {
            for (index, track) in self.publication.tracks.enumerated() where !self.isPromised(index, number) {
                // Errors are ignored: the directory belongs to another worker now.
                let name = track.names.segment(number, incarnation: self.publication.incarnation)
                for name in [name] + self.publication.subtitleNames(like: [name]) { try? self.store.remove(name) }
            }
        }
        self.held = nil
        self.events.append(.superseded)
        return .superseded
    }
}
