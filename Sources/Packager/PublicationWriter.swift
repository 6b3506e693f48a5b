import HLS
import MediaTypes

/// Writes a publication to its store in an order in which a viewer never sees a name without its bytes: initialization
/// segments, segments of all tracks, the state file, media playlists (audio first), the multivariant playlist if it
/// changed, deletions.
///
/// The end of the room is recorded in the state file last: after that no later worker can complete missing playlists.
///
/// A slot whose segments cannot be written is *held*: it is retried when the next slot is ready, and after that listed
/// as a gap in the playlists concerned. The writer never traps, and it retries after every failure.
struct PublicationWriter: Sendable {
    /// Result of an attempt to publish. `unwritten`: the store lacks the end, or the last segments of playlists that
    /// stay open.
    enum Result: Sendable, Equatable { case done, superseded, unwritten }

    private struct HeldSlot {
        let slot: AlignedSegment
        var unwritten: Set<Int>
        /// Why the last attempt failed.
        var failure: MediaError?
    }

    let store: any SegmentStore
    private let clock: any MonotonicClock
    /// Number of segments to list before the playlists are first shown and written.
    private let firstListed: Int64
    /// Whether the playlists may be shown.
    private(set) var isShown = false
    /// Replaces the set of objects that viewers can request.
    private let show: @Sendable ([String: PublishedObject]) -> Void
    /// Called with the publication whenever the playlists change.
    private let note: @Sendable (Publication) -> Void
    /// Called once the state file has the segments below a number.
    private let recorded: @Sendable (Int64) -> Void
    /// Whether viewers of the live edge know the name of a track's segment with that number.
    private let isPromised: @Sendable (_ track: Int, _ mediaSequence: Int64) -> Bool
    /// Keeps listed media longer than the playlists do, for recordings.
    private let keeper: (any ListingObserver)?
    var publication: Publication
    private var held: HeldSlot?
    private var unannounced: [ListedSlot] = []
    var objects: [String: PublishedObject] = [:]
    var writtenMultivariant: [UInt8] = []
    /// The multivariant playlist that the keeper has.
    private var keptMultivariant = ""
    private(set) var writtenState: [UInt8] = []
    /// The last publish failed partway.
    private var isStale = false
    /// The state file lacks changes of date ranges.
    private var isStateStale = false
    /// The playlists in the store have `EXT-X-ENDLIST`.
    private var isEndListed = false
    /// The next media sequence number in the state file; never above the publication's.
    private(set) var recordedMediaSequence: Int64
    var events: [PackagerEvent] = []
    /// Files that could not be deleted when they expired, oldest first.
    private var undeleted: [String] = []
    /// The directory that everything was written to.
    var place: (any HeldDirectory)?
    /// When this worker last checked that it owns the room, on ``clock``.
    private var assuredAt: Int64 = 0

    init(
        publication: Publication, store: any SegmentStore, clock: any MonotonicClock, firstListed: Int = 1,
        keeper: (any ListingObserver)? = nil, show: @escaping @Sendable ([String: PublishedObject]) -> Void,
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
        self.show = show
        self.note = note
        self.recorded = recorded
        self.isPromised = isPromised
    }

    /// Adds an event from outside the writer.
    mutating func note(_ event: PackagerEvent) { self.events.append(event) }

    /// Events since the last call, in order.
    mutating func takeEvents() -> [PackagerEvent] {
        defer { self.events.removeAll() }
        return self.events
    }

    // MARK: Steps of a run

    /// Writes the origin to the state file before anything depends on it, and shows viewers what the previous worker
    /// has left.
    ///
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/superseded``.
    mutating func begin() throws(MediaError) {
        let store = self.store
        try store.exclusively { () throws(MediaError) in
            guard !self.isSuperseded() else {
                throw MediaError(.superseded, "a newer worker serves this room", at: "hls", fix: "stop this worker")
            }
            try self.putState()
        }
        self.place = store.hold()
        guard self.publication.hasSegments else { return }
        for track in self.publication.tracks {
            for map in track.maps { if let bytes = self.store.read(map.uri) { self.add(map, bytes, of: track) } }
            for segment in track.window.segments where !segment.gap {
                self.add(segment.uri, segment.byteCount, of: track)
            }
            for segment in track.window.retired where !segment.gap {
                self.add(segment.uri, segment.byteCount, of: track)
            }
        }
        self.showPlaylists(Texts(self.publication))
    }

    /// Publishes a slot, after the held one if there is one.
    mutating func commit(_ slot: AlignedSegment) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        if self.restorePlace() == .superseded || self.settleHeld() == .superseded { return .superseded }
        let store = self.store
        self.publication.apply(slot.changes) { store.contains($0) }
        if slot.isBreak { self.publication.breakTime() }
        let present = slot.segments.indices.filter { slot.segments[$0].map { !$0.gap } ?? false }
        var held = HeldSlot(slot: slot, unwritten: Set(present))
        self.write(&held)
        self.held = held
        return held.unwritten.isEmpty ? self.settleHeld() : .done
    }

    /// Publishes the held slot, then ends the playlists or leaves them open. If it returns `unwritten`, call it again.
    mutating func end(endlist: Bool) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        // No further segments come, so there is nothing to wait for.
        self.isShown = true
        if self.restorePlace() == .superseded { return .superseded }
        // The last segment before the next worker is worth waiting for: no later slot is delayed by it.
        if !endlist, !self.writeHeld() { return .unwritten }
        if self.settleHeld() == .superseded { return .superseded }
        guard endlist, self.publication.hasSegments else {
            if self.unannounced.isEmpty, !self.isStale {
                // Viewers of the live edge have seen the changes.
                return self.isStateStale && !endlist ? self.writeState() : .done
            }
            let result = self.publish()
            return result == .done && self.isStale ? .unwritten : result
        }
        self.publication.end()
        if self.publish() == .superseded { return .superseded }
        guard self.isEndListed else { return .unwritten }
        // The few playlists first: a day's segments may take longer than the time until the process is killed.
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
    /// - Returns: `unwritten` if the store did not take it.
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

    /// Gives way to a newer worker if there is one; otherwise checks that the written files still exist.
    mutating func look() -> Result { self.isSuperseded() ? self.giveWay() : self.restorePlace() }

    /// Writes changes of date ranges to the state file before the next segment lists them: viewers of the live edge may
    /// have seen them, and the next worker needs them.
    mutating func record(_ changes: [DateRange.Change]) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        self.list(changes)
        // If this fails, the next segment's publish writes them again.
        return self.writeState() == .superseded ? .superseded : .done
    }

    /// Lists the changes with the next segment.
    mutating func list(_ changes: [DateRange.Change]) {
        self.publication.list(changes)
        if !changes.isEmpty { self.isStateStale = true }
        for change in changes { self.keeper?.keep(change) }
    }

    /// Declares other bit rates of some tracks; at once if segments are listed.
    mutating func declare(_ rates: [Int: BitRates]) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        self.publication.declare(rates)
        return self.publication.hasSegments ? self.publish() : .done
    }

    // MARK: Space

    /// Limits the number of listed segments; `nil`: the settings apply.
    mutating func limit(to most: Int?) -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        self.publication.limit(to: most)
        return self.publication.hasSegments && most != nil ? self.publish() : .done
    }

    /// Frees space in a full store: deletes all unlisted segments at once, oldest first, and retries what could not be
    /// written.
    mutating func makeSpace() -> Result {
        guard !self.isSuperseded() else { return self.giveWay() }
        self.delete(self.publication.takeExpired(hurries: true))
        if var held = self.held, !held.unwritten.isEmpty {
            self.write(&held)
            self.held = held
            return held.unwritten.isEmpty ? self.settleHeld() : .done
        }
        return self.publication.hasSegments ? self.publish() : .done
    }

    // MARK: Segments

    /// Lists the held slot, after one more attempt to write missing segments.
    private mutating func settleHeld() -> Result {
        guard var held = self.held else { return .done }
        if !held.unwritten.isEmpty { self.write(&held) }
        self.held = nil
        do {
            let listed = try self.publication.append(held.slot, missing: held.unwritten)
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
                }
            }
        } catch {
            self.events.append(.outputFailed(error))
            return .done
        }
        self.events += self.publication.takeAlarms()
        return held.slot.isFollowed ? .done : self.publish()
    }

    /// Retries the held slot.
    ///
    /// - Returns: Whether all of it is written.
    private mutating func writeHeld() -> Bool {
        guard var held = self.held, !held.unwritten.isEmpty else { return true }
        self.write(&held)
        self.held = held
        return held.unwritten.isEmpty
    }

    private func keep(_ listed: ListedSlot) {
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

    private mutating func write(_ held: inout HeldSlot) {
        let number = self.publication.nextMediaSequence
        for index in held.unwritten.sorted() {
            guard let segment = held.slot.segments[index], self.publication.tracks.indices.contains(index) else {
                continue
            }
            let track = self.publication.tracks[index]
            do {
                if !track.isInitializationWritten {
                    try self.store.put(track.map.uri, bytes: track.initialization)
                    self.publication.tracks[index].isInitializationWritten = true
                }
                let name = track.segmentName(number, incarnation: self.publication.incarnation)
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

    // MARK: Lists

    mutating func publish() -> Result {
        do {
            let store = self.store
            let result = try store.exclusively { () throws(MediaError) -> Result in
                guard !self.isSuperseded() else { return .superseded }
                try self.putState()
                // The numbers are safe now: viewers of this process may see them even if a file fails below.
                self.recorded(self.recordedMediaSequence)
                guard self.isShown || self.publication.nextMediaSequence >= self.firstListed else { return .done }
                self.isShown = true
                let texts = Texts(self.publication)
                self.showPlaylists(texts)
                for (name, text) in texts.media {
                    guard self.isStillOurs() else { return .superseded }
                    try store.put(name, bytes: text)
                }
                guard self.isStillOurs() else { return .superseded }
                if let keeper = self.keeper {
                    let text = self.publication.multivariantOfAll.rendered()
                    if text != self.keptMultivariant { keeper.keep(multivariant: text) }
                    self.keptMultivariant = text
                }
                if texts.multivariant != self.writtenMultivariant {
                    try store.put(self.publication.settings.multivariantName, bytes: texts.multivariant)
                    self.writtenMultivariant = texts.multivariant
                }
                return .done
            }
            guard result == .done else { return self.giveWay() }
        } catch {
            self.events.append(.outputFailed(error))
            self.isStale = true
            return .done
        }
        self.isStale = false
        guard self.isShown else { return .done }
        self.isEndListed = self.publication.isEnded
        self.announce()
        self.deleteExpired()
        return .done
    }

    private mutating func announce() {
        let now = self.clock.now()
        for slot in self.unannounced {
            self.events.append(
                .segmentPublished(
                    PublishedSegment(
                        mediaSequence: slot.mediaSequence, programDate: slot.programDate, duration: slot.duration,
                        bytes: slot.bytes, publishedAt: now, frames: slot.frames, isSlate: slot.isSlate)))
        }
        self.unannounced.removeAll()
    }

    private mutating func deleteExpired() { self.delete(self.publication.takeExpired()) }

    private mutating func delete(_ expired: [String]) {
        if !expired.isEmpty {
            for name in expired { self.objects[name] = nil }
            self.show(self.objects)
        }
        // A map that could not be deleted when it expired may be in use again.
        let needed: Set<String> =
            self.undeleted.isEmpty ? [] : Set(self.publication.tracks.flatMap(\.maps).map(\.uri))
        let names = self.undeleted.filter { !needed.contains($0) } + expired
        guard !names.isEmpty else { return }
        self.undeleted = self.store.removeAll(names) { self.events.append(.outputFailed($0)) }
    }

    private mutating func putState() throws(MediaError) {
        var state = self.publication.state
        state.ended = state.ended && self.isEndListed
        let bytes = Array(state.json.utf8)
        try self.store.put(StateFile.name, bytes: bytes, durable: true)
        self.writtenState = bytes
        self.isStateStale = false
        self.recordedMediaSequence = self.publication.nextMediaSequence
    }

    // MARK: Giving way

    /// Whether the state file has a higher incarnation. If the file is missing or damaged, the answer is no: this
    /// worker writes it again.
    private mutating func isSuperseded() -> Bool {
        self.assuredAt = self.clock.now()
        return StateFile.isSuperseded(self.publication.incarnation, in: self.store, known: self.writtenState)
    }

    /// Checks again if this process may have been stopped since the last check: a newer worker does not wait for the
    /// lock of a stopped process.
    private mutating func isStillOurs() -> Bool {
        self.clock.now() &- self.assuredAt < HLSPackager.longestPause || !self.isSuperseded()
    }

    /// Removes segments that the state file does not have: the newer worker does not know them. Segments whose names
    /// viewers know stay: these names now belong to the newer worker.
    private mutating func giveWay() -> Result {
        for number in self.recordedMediaSequence...self.publication.nextMediaSequence {
            for (index, track) in self.publication.tracks.enumerated() where !self.isPromised(index, number) {
                // Errors are ignored: the directory belongs to another worker now.
                try? self.store.remove(track.names.segment(number, incarnation: self.publication.incarnation))
            }
        }
        self.held = nil
        self.events.append(.superseded)
        return .superseded
    }

    // MARK: Objects for viewers

    private mutating func add(_ uri: String, _ byteCount: Int, of track: TrackPublication) {
        guard let path = self.store.path(of: uri) else { return }
        self.objects[uri] = PublishedObject(
            body: .file(path: path, size: track.storedSize(byteCount)), contentType: track.contentType,
            cacheControl: PublishedObject.immutable)
    }

    private mutating func add(_ map: InitializationSegment, _ bytes: [UInt8], of track: TrackPublication) {
        guard self.objects[map.uri] == nil else { return }
        self.objects[map.uri] = PublishedObject(
            body: .bytes(bytes), contentType: track.contentType, cacheControl: PublishedObject.immutable)
    }

    /// The playlists, rendered once for viewers and store: those of a day are megabytes.
    private struct Texts {
        let media: [(name: String, text: [UInt8])]
        let multivariant: [UInt8]

        init(_ publication: Publication) {
            self.media = publication.mediaPlaylists.map { ($0.name, Array($0.text.utf8)) }
            self.multivariant = Array(publication.multivariant.rendered().utf8)
        }
    }

    private mutating func showPlaylists(_ texts: Texts) {
        self.note(self.publication)
        let target = self.publication.grid.targetDuration
        for (name, text) in texts.media {
            self.objects[name] = PublishedObject(
                body: .bytes(text), contentType: PublishedObject.playlistType,
                cacheControl: "max-age=\(max(1, target / 2))")
        }
        self.objects[self.publication.settings.multivariantName] = PublishedObject(
            body: .bytes(texts.multivariant), contentType: PublishedObject.playlistType,
            cacheControl: "max-age=\(target)")
        self.show(self.objects)
    }
}
