import HLS
import MediaTypes
package import Packager

/// Decides what an uploader sends to a remote store, and when. A pure value: it takes listings, responses and the time,
/// and returns requests.
///
/// Invariants:
/// (1) A playlist is sent only when the store has accepted every segment that it lists, with the initialization
///     segment; segments that the store does not have are listed as gaps. The playlist does not wait for the
///     initialization segments that only gaps have: they are uploaded when no segment of the track waits.
/// (2) Segments of a track are sent one at a time, in order. A playlist has at most one request in flight. Its text is
///     made when it is sent: always the newest, never an older one after it. Playlists of audio are sent before those
///     of video, and the multivariant playlist once all others have been accepted once.
/// (3) A segment that was not accepted within ``UploadRules/patience`` after it was listed is given up. It becomes
///     slate or a gap in this store's playlists, with the same number, and nothing waits for it any longer. Playlists
///     and slate are retried until they are accepted. Segments that still wait when the end is listed are retried too,
///     since there is no live edge any more.
/// (4) An index of thumbnail sheets is sent only when the store has accepted every sheet that the index refers to, in
///     that version or a later one. Sheets without a file are skipped.
/// (5) At most ``UploadRules/mostSegments`` media sequence numbers wait: beyond that the segments of the oldest become
///     gaps in every track whose segment the store does not have. Media is in memory only for requests in flight, at
///     most one per track.
package struct UploadQueue: Sendable {
    /// The upload state of one track.
    struct Track: Sendable {
        let name: String
        let kind: TrackKind
        let playlistName: String
        let contentType: String
        /// The track's playlist as it is sent to this store.
        var window: PlaylistWindow
        /// Names of the initialization segments that the store has accepted from this queue.
        var maps: Set<String> = []
        /// Names of the initialization segments of listed gaps that are not in ``maps``, in the order of the gaps.
        var gapMaps: [String] = []
        /// The media request in flight and the delay after failures.
        var media = RetrySchedule()
        var playlist = PlaylistUpload()
        /// Name of the track's I-frame playlist; `nil` without one.
        var iFramesName: String?
        var iFrames = PlaylistUpload()
    }

    /// A track's segment that is not listed yet, and its upload state.
    struct Entry: Sendable {
        enum State: Sendable, Hashable { case waiting, slate, taken, gap }
        var segment: Segment
        var state: State
        var isSettled: Bool { self.state == .taken || self.state == .gap }
    }

    /// The segments of all tracks with one media sequence number, which are listed together.
    struct QueuedSegment: Sendable {
        let mediaSequence: Int64
        /// Time at which segments that are not uploaded are given up; `Int64.max`: never.
        var deadline: Int64
        var entries: [Entry]
        /// Indices of the tracks whose segment was given up and not reported yet.
        var lost: Set<Int> = []
    }

    /// The object that a request in flight uploads or deletes.
    enum Aim: Sendable, Hashable {
        case map(track: Int, name: String)
        case segment(track: Int, mediaSequence: Int64, isSlate: Bool)
        case playlist(track: Int, version: Int)
        case iFrames(track: Int, version: Int)
        case multivariant(version: Int)
        case extra(name: String, version: Int)
        case single(name: String)
        case sheet(index: String, name: String)
        case sprites(index: String, version: Int)
        case deletion(name: String)
    }

    package let rules: UploadRules
    private(set) var origin: Int64?
    var tracks: [Track] = []
    var segments: [QueuedSegment] = []
    var dateRanges = DateRangeList()
    var multivariantName = ""
    var multivariant = ""
    var multivariantDocument = PlaylistUpload()
    /// Uploaded objects that are not media, by name.
    var extras: [String: UploadExtra] = [:]
    /// Objects that are sent once, the oldest first, with the request in flight for the first one.
    var singles: [UploadSingle] = []
    var singleLane = RetrySchedule()
    /// Thumbnail sheets, by the name of their index file.
    var sprites: [String: UploadSprites] = [:]
    /// Names of the objects to delete, in order.
    var deletions: [String] = []
    var deletionLane = RetrySchedule()
    /// Names of objects that the previous worker did not delete. They are deleted once the store has playlists of this
    /// worker, which do not list them.
    var inherited: [String] = []
    private var isEnded = false
    /// Media sequence number after the newest segment that the store's playlists list.
    private(set) var nextMediaSequence: Int64 = 0
    /// Media time at which the listed media ends: nanoseconds since the room's origin.
    private var mediaTime: Int64 = 0
    /// Segments that this store lists as slate or a gap.
    private(set) var restamped = UploadRecord.Restamped()
    var aims: [UInt64: Aim] = [:]
    /// The newest request id at the time when the store last accepted an object.
    private var lastKnown: UInt64 = 0
    private var lastID: UInt64 = 0
    private var notices: [UploadNotice] = []
    private var failures = 0
    /// Why the last upload failed; nil if the store has accepted one since.
    private(set) var failure: String?
    private var failingSince: Int64 = 0
    /// Number of uploads that the store has accepted, including playlists.
    package private(set) var taken: Int64 = 0
    /// Number of failed uploads; each attempt counts, deletions do not.
    package private(set) var failed: Int64 = 0
    /// Number of segments that were given up; each track's segment counts.
    package private(set) var lost: Int64 = 0

    package init(rules: UploadRules) { self.rules = rules }

    // MARK: Listing

    /// Takes over a listing of the output and queues its new segments. A listing with another origin or another number
    /// of tracks than the first one is ignored.
    ///
    /// - Parameters:
    ///   - record: The record that the previous worker has left; `nil` if there is none.
    ///   - now: Monotonic time in nanoseconds, as in all methods here.
    package mutating func list(_ listing: OutputListing, record: UploadRecord? = nil, at now: Int64) {
        if self.origin == nil { self.begin(listing, record) }
        guard listing.origin == self.origin, listing.tracks.count == self.tracks.count else { return }
        self.dateRanges = listing.dateRanges
        self.multivariantName = listing.multivariantName
        if self.multivariant != listing.multivariant {
            self.multivariant = listing.multivariant
            self.multivariantDocument.change()
        }
        let first = self.segments.last.map { $0.mediaSequence + 1 } ?? self.nextMediaSequence
        for number in first..<max(first, listing.nextMediaSequence) { self.add(number, listing, at: now) }
        if listing.isEnded, !self.isEnded {
            self.isEnded = true
            for index in self.segments.indices { self.segments[index].deadline = .max }
        }
        while self.segments.count > self.rules.mostSegments {
            self.giveUp(0) { _ in true }
            self.settle()
        }
        self.settle()
    }

    private mutating func add(_ number: Int64, _ listing: OutputListing, at now: Int64) {
        var entries: [Entry] = []
        for track in listing.tracks {
            guard let last = track.segments.last?.mediaSequence else { return }
            let place = track.segments.count - 1 - Int(clamping: last - number)
            guard track.segments.indices.contains(place) else { return }
            let segment = track.segments[place]
            entries.append(Entry(segment: segment, state: segment.gap ? .gap : .waiting))
        }
        // A shorter segment gets as much time as a full one: the store may take as long for it.
        let whole = listing.tracks.map { Int64($0.targetDuration) &* TimeMath.nanoseconds }.max() ?? 0
        let length = max(whole, entries.map { $0.segment.duration.nanoseconds }.max() ?? 0)
        self.segments.append(
            QueuedSegment(mediaSequence: number, deadline: now &+ (self.rules.patience ?? length), entries: entries))
    }

    /// Restores the state from the previous worker's record. Without a record that fits the listing, the store counts as
    /// empty, and only the newest segments are queued.
    private mutating func begin(_ listing: OutputListing, _ record: UploadRecord?) {
        self.origin = listing.origin
        let firsts = listing.tracks.map { $0.segments.first?.mediaSequence ?? listing.nextMediaSequence }
        let first = firsts.max() ?? listing.nextMediaSequence
        let known = record.flatMap { $0.origin == listing.origin && $0.next >= first ? $0 : nil }
        self.nextMediaSequence =
            known.map { min($0.next, listing.nextMediaSequence) }
            ?? max(first, listing.nextMediaSequence - Int64(max(1, self.rules.mostSegments / 2)))
        self.restamped = known?.restamped ?? UploadRecord.Restamped()
        for track in listing.tracks {
            let before = track.segments.filter { $0.mediaSequence < self.nextMediaSequence }
            var window = PlaylistWindow(
                style: track.style, targetDuration: track.targetDuration,
                slackSeconds: Int(track.slack / TimeMath.nanoseconds), nextMediaSequence: self.nextMediaSequence,
                discontinuitySequence: track.discontinuitySequence + Int64(before.filter(\.discontinuity).count),
                retired: track.retired, longestDuration: track.longestDuration,
                iFrameSequence: track.iFrames.map {
                    before.reduce($0.sequence) { $0 &+ Int64($1.iFrameCount) }
                })
            // Only numbers that every track lists are kept: the playlist of a newer track started later, so the others
            // drop earlier numbers.
            let kept = before.filter { $0.mediaSequence >= first }.map {
                self.restamped.applied(to: $0, track: track.name)
            }
            if known != nil,
                let restored = try? PlaylistWindow(
                    style: track.style, targetDuration: track.targetDuration,
                    slackSeconds: Int(track.slack / TimeMath.nanoseconds), segments: kept,
                    nextMediaSequence: self.nextMediaSequence,
                    discontinuitySequence: track.discontinuitySequence
                        + Int64(before.prefix { $0.mediaSequence < first }.filter(\.discontinuity).count),
                    retired: track.retired, longestDuration: track.longestDuration,
                    iFrameSequence: track.iFrames.map {
                        before.prefix { $0.mediaSequence < first }.reduce($0.sequence) { $0 &+ Int64($1.iFrameCount) }
                    })
            {
                window = restored
            }
            self.tracks.append(
                Track(
                    name: track.name, kind: track.kind, playlistName: track.playlistName,
                    contentType: track.contentType, window: window, iFramesName: track.iFrames?.name))
            // The previous worker may not have uploaded these.
            for gap in window.segments where gap.gap { self.needMap(gap.map.uri, self.tracks.count - 1) }
        }
        if known != nil, self.tracks.contains(where: { !$0.window.segments.isEmpty }) { self.changeLists() }
        self.inherit(from: record, listing)
    }

    private mutating func inherit(from record: UploadRecord?, _ listing: OutputListing) {
        guard self.rules.deletes, let record, record.origin == listing.origin else { return }
        // Objects that the output still needs are deleted when they expire.
        var needed: Set<String> = []
        for track in listing.tracks {
            for segment in track.segments { needed.formUnion([segment.uri, segment.map.uri]) }
            for retired in track.retired { needed.formUnion([retired.uri, retired.map.uri]) }
        }
        self.inherited = record.leftovers.filter { !needed.contains($0) }
    }

    // MARK: Requests

    /// Returns the requests to start now. Each must be answered once with ``answered(_:_:at:jitter:)``.
    package mutating func next(at now: Int64) -> [UploadRequest] {
        for index in self.segments.indices where self.segments[index].deadline <= now {
            self.giveUp(index) { $0.state == .waiting }
        }
        self.settle()
        var requests: [UploadRequest] = []
        for index in self.tracks.indices { if let request = self.nextMedia(index, now) { requests.append(request) } }
        requests += self.nextDocuments(now)
        requests += self.nextExtras(now)
        if let request = self.nextSingle(now) { requests.append(request) }
        requests += self.nextSprites(now)
        if !self.inherited.isEmpty, self.tracks.allSatisfy({ $0.playlist.taken > 0 }) {
            self.deletions += self.inherited
            self.inherited = []
        }
        if let request = self.nextDeletion(now) { requests.append(request) }
        return requests
    }

    private mutating func nextMedia(_ index: Int, _ now: Int64) -> UploadRequest? {
        guard self.tracks[index].media.isFree(at: now) else { return nil }
        let track = self.tracks[index]
        guard let segment = self.segments.first(where: { !$0.entries[index].isSettled }) else {
            return track.gapMaps.first.flatMap { self.mapRequest(index, $0, UploadRules.segmentAttempt) }
        }
        let entry = segment.entries[index]
        let longest = max(UploadRules.segmentAttempt, 2 * entry.segment.duration.nanoseconds)
        let timeout =
            entry.state == .slate
            ? UploadRules.attempt : max(UploadRules.shortestAttempt, min(longest, segment.deadline &- now))
        let map = entry.segment.map.uri
        guard track.maps.contains(map) else { return self.mapRequest(index, map, timeout) }
        let isSlate = entry.state == .slate
        let request = self.request(
            .segment(track: index, mediaSequence: segment.mediaSequence, isSlate: isSlate),
            isSlate ? entry.segment.slateName : entry.segment.uri,
            .put(isSlate ? .slate(entry.segment, track: track.name) : .file), track.contentType,
            Self.immutable, timeout)
        self.tracks[index].media.request = request.id
        return request
    }

    private mutating func mapRequest(_ index: Int, _ map: String, _ timeout: Int64) -> UploadRequest? {
        guard self.withholdDeletion(of: map) else { return nil }
        let request = self.request(
            .map(track: index, name: map), map, .put(.file), self.tracks[index].contentType, Self.immutable, timeout)
        self.tracks[index].media.request = request.id
        return request
    }

    mutating func request(
        _ aim: Aim, _ name: String, _ action: UploadRequest.Action, _ contentType: String, _ cacheControl: String,
        _ timeout: Int64 = UploadRules.attempt
    ) -> UploadRequest {
        self.lastID &+= 1
        self.aims[self.lastID] = aim
        return UploadRequest(
            id: self.lastID, name: name, action: action, contentType: contentType, cacheControl: cacheControl,
            timeout: timeout)
    }

    /// `Cache-Control` of segments: the bytes of a segment's name never change.
    private static let immutable = "public, max-age=31536000, immutable"

    // MARK: Responses

    /// Takes the result of a request.
    ///
    /// - Parameters:
    ///   - id: ``UploadRequest/id``.
    ///   - jitter: 0…999, random for each call; it spreads retries.
    package mutating func answered(_ id: UInt64, _ outcome: UploadOutcome, at now: Int64, jitter: Int64) {
        guard let aim = self.aims.removeValue(forKey: id) else { return }
        self.count(outcome, aim, id, now)
        switch aim {
        case .map(let track, let name):
            self.tracks[track].media.answered(outcome, now, jitter)
            switch outcome {
            case .done: self.tracks[track].maps.insert(name)
            case .failed: break
            case .absent: self.drop(track) { $0.segment.map.uri == name }
            }
            if outcome.isFinal { self.tracks[track].gapMaps.removeAll { $0 == name } }
        case .segment(let track, let number, let isSlate):
            self.tracks[track].media.answered(outcome, now, jitter)
            guard outcome.isFinal, let index = self.segments.firstIndex(where: { $0.mediaSequence == number }) else {
                break
            }
            let entry = self.segments[index].entries[track]
            guard !entry.isSettled else { break }
            if outcome == .absent {
                // If the slate cannot be made either, the segment becomes a gap.
                let isGap = isSlate || self.rules.restamp == .gap
                self.segments[index].entries[track].state = isGap ? .gap : .slate
                self.segments[index].lost.insert(track)
            } else {
                if isSlate {
                    let segment = entry.segment.renamed(entry.segment.slateName)
                    self.segments[index].entries[track].segment = segment
                    self.restamped.note(track: self.tracks[track].name, number, uri: segment.uri)
                } else if entry.state == .slate {
                    // The segment was late, but the store has accepted it after all.
                    self.segments[index].lost.remove(track)
                }
                self.segments[index].entries[track].state = .taken
            }
        case .playlist(let track, let version):
            self.tracks[track].playlist.answered(outcome, version, now, jitter)
        case .iFrames(let track, let version): self.tracks[track].iFrames.answered(outcome, version, now, jitter)
        case .multivariant(let version): self.multivariantDocument.answered(outcome, version, now, jitter)
        case .extra(let name, let version): self.extras[name]?.document.answered(outcome, version, now, jitter)
        case .single(let name): self.answeredSingle(name, outcome, now, jitter)
        case .sheet(let index, let name): self.sprites[index]?.answered(sheet: name, outcome, now, jitter)
        case .sprites(let index, let version): self.sprites[index]?.document.answered(outcome, version, now, jitter)
        case .deletion(let name): self.answeredDeletion(of: name, outcome, now, jitter)
        }
        self.settle()
    }

    private mutating func count(_ outcome: UploadOutcome, _ aim: Aim, _ id: UInt64, _ now: Int64) {
        if case .deletion = aim { return }
        switch outcome {
        case .absent: break
        case .done:
            self.taken += 1
            if self.failures > 0 {
                self.notices.append(.restored(failures: self.failures, after: now &- self.failingSince))
            }
            (self.failures, self.failure) = (0, nil)
            self.lastKnown = self.lastID
        case .failed(let reason):
            self.failed += 1
            // A failed request counts only if it was made after the last acceptance: an older one may have started
            // while the store was unreachable.
            guard id > self.lastKnown else { break }
            if self.failures == 0 {
                self.failingSince = now
                self.notices.append(.unreachable(reason))
            }
            self.failures += 1
            self.failure = reason
        }
    }

    // MARK: Settling

    private mutating func giveUp(_ index: Int, where isGivenUp: (Entry) -> Bool) {
        let isOver = self.segments.count > self.rules.mostSegments
        for track in self.segments[index].entries.indices {
            let entry = self.segments[index].entries[track]
            guard !entry.isSettled, isGivenUp(entry) else { continue }
            self.segments[index].entries[track].state = self.rules.restamp == .gap || isOver ? .gap : .slate
            self.segments[index].lost.insert(track)
        }
    }

    private mutating func drop(_ track: Int, where isDropped: (Entry) -> Bool) {
        for index in self.segments.indices {
            let entry = self.segments[index].entries[track]
            guard !entry.isSettled, isDropped(entry) else { continue }
            self.segments[index].entries[track].state = .gap
            self.segments[index].lost.insert(track)
        }
    }

    /// Lists, in order, the segments that have been accepted or given up in all tracks.
    private mutating func settle() {
        var isChanged = false
        while let segment = self.segments.first, segment.entries.allSatisfy(\.isSettled) {
            self.segments.removeFirst()
            self.list(segment)
            isChanged = true
        }
        if self.segments.isEmpty, self.isEnded, self.tracks.contains(where: { !$0.window.isEnded }) {
            for index in self.tracks.indices { self.tracks[index].window.end() }
            isChanged = true
        }
        if isChanged { self.changeLists() }
    }

    private mutating func list(_ segment: QueuedSegment) {
        for (index, entry) in segment.entries.enumerated() {
            let name = self.tracks[index].name
            var segment = entry.segment
            if entry.state == .gap, !segment.gap {
                segment = segment.asGap
                self.restamped.note(track: name, segment.mediaSequence, uri: nil)
            }
            // This call cannot fail: the segment is the next one and has the duration that the output lists.
            try? self.tracks[index].window.append(segment)
            if segment.gap { self.needMap(segment.map.uri, index) }
            let time = segment.start &+ segment.duration.ticks
            self.mediaTime = max(
                self.mediaTime,
                TimeMath.rescale(time, from: Int64(segment.duration.timescale), to: TimeMath.nanoseconds))
        }
        self.nextMediaSequence = segment.mediaSequence + 1
        self.trim()
        guard !segment.lost.isEmpty else { return }
        self.lost += Int64(segment.lost.count)
        let isSlate = segment.lost.allSatisfy { segment.entries[$0].state == .taken }
        self.notices.append(
            .lost(
                mediaSequence: segment.mediaSequence,
                tracks: segment.lost.sorted().map { self.tracks[$0].name },
                slate: isSlate))
    }

    /// Queues the initialization segment of a listed gap, unless the store has it: the track's playlist lists it too.
    private mutating func needMap(_ name: String, _ track: Int) {
        guard !self.tracks[track].maps.contains(name), !self.tracks[track].gapMaps.contains(name) else { return }
        self.tracks[track].gapMaps.append(name)
    }

    private mutating func trim() {
        let head = self.tracks.map { $0.window.mediaSequence + Int64($0.window.removableCount) }.min() ?? 0
        for index in self.tracks.indices {
            let count = head - self.tracks[index].window.mediaSequence
            if count > 0 { self.tracks[index].window.removeFirst(Int(count)) }
            let current = self.tracks[index].window.segments.last?.map
            // A room can return to an earlier output size and use its initialization segment again.
            let awaited = Set(self.segments.map { $0.entries[index].segment.map.uri })
            let expired = self.tracks[index].window.takeExpired(at: self.mediaTime, current: current).filter {
                !awaited.contains($0)
            }
            self.tracks[index].maps.subtract(expired)
            self.tracks[index].gapMaps.removeAll { expired.contains($0) }
            if self.rules.deletes { self.deletions += expired }
        }
        self.restamped.forget(before: head)
        if self.deletions.count > UploadRules.mostDeletions {
            self.deletions.removeFirst(self.deletions.count - UploadRules.mostDeletions)
        }
    }

    // MARK: Status

    /// Returns the notices since the last call.
    package mutating func takeNotices() -> [UploadNotice] {
        defer { self.notices = [] }
        return self.notices
    }

    /// The record for the next worker; `nil` if nothing was listed.
    package var record: UploadRecord? {
        self.origin.map {
            UploadRecord(
                origin: $0, next: self.nextMediaSequence, restamped: self.restamped, leftovers: self.leftovers)
        }
    }

    private var leftovers: [String] {
        guard self.rules.deletes else { return [] }
        var names = Array((self.deletions + self.inherited).prefix(UploadRecord.mostLeftovers))
        for track in self.tracks {
            // After hours there may be many thousands of names, and this runs with every response of the store.
            for retired in track.window.retired where !retired.gap {
                guard names.count < UploadRecord.mostLeftovers else { return names }
                names.append(retired.uri)
            }
        }
        return names
    }

    /// Number of media sequence numbers that the output lists and the store's playlists do not list yet.
    package var waitingSegments: Int { self.segments.count }

    /// Whether an upload has failed since the store last accepted one.
    package var isFailing: Bool { self.failures > 0 }

    /// Whether every listed segment was accepted or given up, the store has the initialization segments of all gaps,
    /// and the playlists and thumbnail sheets in the store are up to date.
    package var isSettled: Bool {
        self.segments.isEmpty
            && self.tracks.allSatisfy { !$0.playlist.isDue && !$0.iFrames.isDue && $0.gapMaps.isEmpty }
            && !self.multivariantIsDue && self.sprites.values.allSatisfy(\.isSettled)
    }

    /// Whether the store has everything: the end was listed and everything is ``isSettled``, or nothing was ever
    /// listed. Deletions may still be pending.
    package var isWhole: Bool { (self.origin == nil || self.isEnded) && self.isSettled }

    /// Whether deletions are pending and the store seems to accept them.
    package var isDeleting: Bool {
        !self.deletions.isEmpty && self.deletionLane.failures == 0 && !self.isFailing
    }

    /// Returns the time at which to call ``next(at:)`` again if no response arrives before; `nil` if that is not
    /// necessary.
    package func wake(after now: Int64) -> Int64? {
        var times = self.segments.filter { segment in segment.entries.contains { $0.state == .waiting } }.map(
            \.deadline)
        for (index, track) in self.tracks.enumerated() {
            let hasMedia = self.segments.contains { !$0.entries[index].isSettled } || !track.gapMaps.isEmpty
            if track.media.request == nil, hasMedia {
                times.append(track.media.due)
            }
            for list in [track.playlist, track.iFrames] where list.isDue && list.lane.request == nil {
                times.append(list.lane.due)
            }
        }
        if self.multivariantIsDue, self.multivariantDocument.lane.request == nil {
            times.append(self.multivariantDocument.lane.due)
        }
        times += self.sprites.values.compactMap(\.due)
        for extra in self.extras.values where extra.document.isDue && extra.document.lane.request == nil {
            times.append(extra.document.lane.due)
        }
        if !self.singles.isEmpty, self.singleLane.request == nil { times.append(self.singleLane.due) }
        if !self.deletions.isEmpty, self.deletionLane.request == nil { times.append(self.deletionLane.due) }
        // A request that is due but waits for another request is started when the response to that request arrives.
        return times.filter { $0 > now && $0 < .max }.min()
    }
}

extension UploadOutcome {
    fileprivate var isFinal: Bool {
        switch self {
        case .done, .absent: true
        case .failed: false
        }
    }
}

extension RetrySchedule {
    mutating func answered(_ outcome: UploadOutcome, _ now: Int64, _ jitter: Int64) {
        self.request = nil
        if case .failed = outcome { self.failed(at: now, jitter: jitter) } else { self.succeeded() }
    }
}
