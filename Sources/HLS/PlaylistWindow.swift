package import MediaTypes

/// The segments of one media playlist: which segments are listed, their numbers, and when the files of removed segments
/// may be deleted.
///
/// Invariants:
/// (1) Media sequence numbers are consecutive from ``mediaSequence`` to ``nextMediaSequence``, and neither of these two
///     ever decreases.
/// (2) No listed segment is longer than the target duration, rounded (rfc8216bis §4.4.3.1).
/// (3) Segments are removed only from the start, in order, and at least three target durations stay listed (§6.2.2). An
///     event playlist removes none.
/// (4) The discontinuity sequence counts the removed segments that had a discontinuity tag, so the number of every
///     remaining segment is the same before and after a removal (§6.2.2).
/// (5) A removed segment is kept until every player that may still know it has moved past it (§6.2.2), see
///     ``takeExpired(at:current:)``; for a shorter time while space is short, see ``limit(to:)`` and ``hurry(to:)``.
package struct PlaylistWindow: Sendable {
    /// Whether old segments are removed from the playlist.
    package enum Style: Sendable, Hashable {
        /// Sliding window: at least this many seconds stay listed, unless ``PlaylistWindow/limit(to:)`` has set a
        /// maximum number of segments.
        case live(windowSeconds: Int)
        /// The playlist only grows. Spec: §4.4.3.5 `EXT-X-PLAYLIST-TYPE:EVENT`.
        case event
    }

    package let style: Style
    /// Target duration in whole seconds; never changes.
    package let targetDuration: Int
    /// Time in nanoseconds for which a removed segment is kept longer than the specification requires; at least one
    /// target duration.
    package let slack: Int64
    package private(set) var segments: [Segment] = []
    /// Media sequence number of the next segment.
    package private(set) var nextMediaSequence: Int64
    package private(set) var discontinuitySequence: Int64
    /// Segments that are no longer listed but whose files must still be available.
    package private(set) var retired: [RetiredSegment]
    /// The longest total duration that the playlist has ever had, in nanoseconds.
    package private(set) var longestDuration: Int64
    package private(set) var isEnded = false
    /// Maximum number of listed segments, which overrides the seconds of the style; `nil`: no limit. See
    /// ``limit(to:)``.
    package private(set) var mostSegments: Int?
    /// Number of entries that were removed from the corresponding I-frame playlist; `nil` if there is no such playlist.
    /// See ``Segment/iFrameCount``.
    package private(set) var iFrameSequence: Int64?
    /// Duration of all listed segments in nanoseconds. The sum is stored, because it is read with every segment, a
    /// playlist may span a day, and a restarted worker adds all segments at once.
    package private(set) var duration: Int64 = 0
    /// Whether ``removeFirst(_:)`` hands segments over to the caller by ``takeRemoved()`` instead of making them
    /// ``retired``: for an owner that lists them in a longer playlist and deletes their files itself.
    package var handsOver = false
    private var removed: [Segment] = []

    /// Makes a window without segments.
    ///
    /// - Parameters:
    ///   - slackSeconds: Seconds for which a removed segment is kept longer than required; see ``slack``.
    ///   - nextMediaSequence: Media sequence number of the first segment to be added.
    ///   - retired: Segments that a previous worker removed from the list and had not deleted yet.
    package init(
        style: Style, targetDuration: Int, slackSeconds: Int = 0, nextMediaSequence: Int64 = 0,
        discontinuitySequence: Int64 = 0, retired: [RetiredSegment] = [], longestDuration: Int64 = 0,
        iFrameSequence: Int64? = nil
    ) {
        self.style = style
        self.targetDuration = max(1, targetDuration)
        self.slack = Int64(max(self.targetDuration, slackSeconds)) &* TimeMath.nanoseconds
        self.nextMediaSequence = nextMediaSequence
        self.discontinuitySequence = discontinuitySequence
        self.retired = retired
        self.longestDuration = longestDuration
        self.iFrameSequence = iFrameSequence
    }

    /// Media sequence number of the first listed segment.
    package var mediaSequence: Int64 { self.segments.first?.mediaSequence ?? self.nextMediaSequence }

    /// Sets the media sequence number of the first segment, if nothing is listed yet. A number below the next one
    /// changes nothing; see invariant (1).
    package mutating func begin(at mediaSequence: Int64) {
        if self.segments.isEmpty { self.nextMediaSequence = max(self.nextMediaSequence, mediaSequence) }
    }

    /// Adds the next segment. Amortized O(1).
    ///
    /// - Throws: ``MediaError/Code/internal`` for a number out of order, a segment without duration or longer than the
    ///   target duration, or an ended playlist. The window is unchanged then.
    package mutating func append(_ segment: Segment) throws(MediaError) {
        func refuse(_ what: String) -> MediaError {
            MediaError(.internal, what, at: "playlist[\(segment.uri)]", fix: "report this as a bug in the segmenter")
        }
        guard !self.isEnded else { throw refuse("the playlist has ended") }
        guard segment.mediaSequence == self.nextMediaSequence else {
            throw refuse("the segment has number \(segment.mediaSequence), but \(self.nextMediaSequence) is next")
        }
        guard segment.duration.ticks > 0, segment.duration.roundedSeconds <= Int64(self.targetDuration) else {
            throw refuse("its duration of \(segment.duration.nanoseconds) ns does not fit the target duration")
        }
        self.segments.append(segment)
        self.duration &+= segment.duration.nanoseconds
        self.dropPassedParts()
        self.nextMediaSequence += 1
        self.longestDuration = max(self.longestDuration, self.duration)
    }

    /// Lists the parts of a segment that a previous worker listed, if the segment is near enough to the end.
    package mutating func list(_ parts: [Part], of mediaSequence: Int64) {
        guard let index = self.segments.lastIndex(where: { $0.mediaSequence == mediaSequence && !$0.gap }) else {
            return
        }
        self.segments[index] = self.segments[index].with(parts: parts)
        self.dropPassedParts()
    }

    /// Turns the segments with these URIs, whose bytes are lost, into gaps.
    package mutating func lose(_ uris: Set<String>) {
        for index in self.segments.indices where uris.contains(self.segments[index].uri) {
            self.segments[index] = self.segments[index].lost
        }
    }

    /// Removes the parts of segments that end more than three target durations before the end of the list: players use
    /// parts only near the live edge, and they must be listed up to that distance (§6.2.2).
    private mutating func dropPassedParts() {
        let near = 3 * Int64(self.targetDuration) &* TimeMath.nanoseconds
        var distance: Int64 = 0
        for index in self.segments.indices.reversed() {
            if distance > near {
                guard !self.segments[index].parts.isEmpty else { return }
                self.segments[index] = self.segments[index].withoutParts
            }
            distance &+= self.segments[index].duration.nanoseconds
        }
    }

    /// Number of segments that can be removed from the start so that the window duration, and at least three target
    /// durations, stay listed.
    package var removableCount: Int {
        guard case .live(let seconds) = self.style, !self.isEnded else { return 0 }
        let keep = max(Int64(seconds), 3 * Int64(self.targetDuration)) &* TimeMath.nanoseconds
        let least = 3 * Int64(self.targetDuration) &* TimeMath.nanoseconds
        var rest = self.duration
        var count = 0
        for segment in self.segments {
            rest -= segment.duration.nanoseconds
            let isTooMany = self.mostSegments.map { self.segments.count - count > $0 } ?? false
            if rest < (isTooMany ? least : keep) { break }
            count += 1
        }
        return count
    }

    /// Limits the number of listed segments, as far as invariant (3) allows; `nil` removes the limit.
    ///
    /// While the limit is set, removed segments may be deleted after three target durations. Players that reload the
    /// playlist on time have moved past them by then. Players that paused have not, and may get status 404; this is
    /// accepted to free space.
    package mutating func limit(to most: Int?) {
        self.mostSegments = most
        if most != nil { self.hurry(to: self.hurriedTime) }
    }

    /// Brings the deletion of removed segments forward to a media time, in nanoseconds.
    package mutating func hurry(to mediaTime: Int64) {
        self.retired = self.retired.map { $0.leaving(at: min($0.deleteAt, mediaTime)) }
    }

    /// Media time three target durations after the last segment was published, in nanoseconds.
    private var hurriedTime: Int64 {
        (self.segments.last?.publishedAt ?? 0) &+ 3 * Int64(self.targetDuration) &* TimeMath.nanoseconds
    }

    /// Removes `count` segments from the start; they become ``retired``, or are handed over if ``handsOver`` is set.
    ///
    /// - Returns: `false` if `count` exceeds ``removableCount``; then nothing is changed.
    @discardableResult
    package mutating func removeFirst(_ count: Int) -> Bool {
        guard count >= 0, count <= self.removableCount else { return false }
        for segment in self.segments.prefix(count) {
            if segment.discontinuity { self.discontinuitySequence += 1 }
            self.duration &-= segment.duration.nanoseconds
            self.iFrameSequence = self.iFrameSequence.map { $0 &+ Int64(segment.iFrameCount) }
            guard !self.handsOver else {
                self.removed.append(segment)
                continue
            }
            var deleteAt =
                segment.publishedAt &+ segment.duration.nanoseconds &+ self.longestDuration &+ self.slack
            if self.mostSegments != nil { deleteAt = min(deleteAt, self.hurriedTime) }
            self.retired.append(
                RetiredSegment(
                    uri: segment.uri, map: segment.map, deleteAt: deleteAt, gap: segment.gap,
                    byteCount: segment.byteCount))
        }
        self.segments.removeFirst(count)
        return true
    }

    /// Removes all segments, because the rendition sleeps: it has no media until ``skip(to:discontinuities:)``. The
    /// caller makes sure that no player plays the list; invariant (3) does not hold for an empty list.
    package mutating func sleep() {
        for segment in self.segments {
            if segment.discontinuity { self.discontinuitySequence += 1 }
            self.iFrameSequence = self.iFrameSequence.map { $0 &+ Int64(segment.iFrameCount) }
            self.retired.append(
                RetiredSegment(
                    uri: segment.uri, map: segment.map,
                    deleteAt: segment.publishedAt &+ segment.duration.nanoseconds &+ self.longestDuration &+ self.slack,
                    gap: segment.gap, byteCount: segment.byteCount))
        }
        self.segments = []
        self.duration = 0
    }

    /// Passes over segments in which the rendition sleeps; does nothing if a segment is listed.
    ///
    /// - Parameters:
    ///   - mediaSequence: Media sequence number of the next segment; a number below the current one changes nothing.
    ///   - discontinuities: Number of skipped segments that have a discontinuity in the other playlists.
    package mutating func skip(to mediaSequence: Int64, discontinuities: Int) {
        guard self.segments.isEmpty else { return }
        self.begin(at: mediaSequence)
        self.discontinuitySequence += Int64(discontinuities)
    }

    /// Returns the segments that were removed since the last call, oldest first, if ``handsOver`` is set.
    package mutating func takeRemoved() -> [Segment] {
        guard !self.removed.isEmpty else { return [] }
        defer { self.removed = [] }
        return self.removed
    }

    /// Ends the playlist: no segment is added or removed any more.
    package mutating func end() { self.isEnded = true }

    /// Removes and returns the names of files that may be deleted: segments first, then initialization segments that no
    /// listed or retired segment refers to.
    ///
    /// - Parameters:
    ///   - mediaTime: Nanoseconds since the room's origin. Media time, not the machine's clock: a job that runs faster
    ///     than real time deletes the same files at the same points, and a stopped worker deletes nothing.
    ///   - current: The initialization segment of the next segments, which is never among the returned names.
    package mutating func takeExpired(at mediaTime: Int64, current: InitializationSegment? = nil) -> [String] {
        let expired = self.retired.filter { $0.deleteAt <= mediaTime }
        guard !expired.isEmpty else { return [] }
        self.retired.removeAll { $0.deleteAt <= mediaTime }
        var used = Set(self.segments.map(\.map)).union(self.retired.map(\.map))
        if let current { used.insert(current) }
        var names = expired.filter { !$0.gap }.map(\.uri)
        for retired in expired where used.insert(retired.map).inserted { names.append(retired.map.uri) }
        return names
    }
}

extension PlaylistWindow {
    /// Restores the window that a previous worker left.
    ///
    /// - Parameter segments: The listed segments in order; the number of the first one becomes the media sequence
    ///   number.
    /// - Throws: The errors of ``append(_:)``.
    package init(
        style: Style, targetDuration: Int, slackSeconds: Int, segments: [Segment], nextMediaSequence: Int64,
        discontinuitySequence: Int64, retired: [RetiredSegment], longestDuration: Int64,
        iFrameSequence: Int64? = nil
    ) throws(MediaError) {
        self.init(
            style: style, targetDuration: targetDuration, slackSeconds: slackSeconds,
            nextMediaSequence: segments.first?.mediaSequence ?? nextMediaSequence,
            discontinuitySequence: discontinuitySequence, retired: retired, longestDuration: longestDuration,
            iFrameSequence: iFrameSequence)
        for segment in segments { try self.append(segment) }
    }
}
