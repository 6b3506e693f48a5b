package import MediaTypes

/// The segments of one media playlist: what is listed, in which numbers, and what may be deleted when.
///
/// Invariants:
/// (1) Media sequence numbers are consecutive from ``mediaSequence`` to ``nextMediaSequence``, and neither ever falls.
/// (2) No listed segment is longer than the target duration, rounded (rfc8216bis §4.4.3.1).
/// (3) Segments leave from the head only, in order, and never so that less than three target durations stay
///     (§6.2.2); an event playlist loses none.
/// (4) The discontinuity sequence counts the tagged segments that have left, so the number of every segment that stays is
///     the same before and after (§6.2.2).
/// (5) What has left is kept until every player that may still know it is past it (§6.2.2), see ``takeExpired(at:)``.
package struct PlaylistWindow: Sendable {
    /// What may leave.
    package enum Style: Sendable, Hashable {
        /// Slides: at least this many seconds stay listed.
        case live(windowSeconds: Int)
        /// Only grows. Spec: §4.4.3.5 `EXT-X-PLAYLIST-TYPE:EVENT`.
        case event
    }

    package let style: Style
    /// Whole seconds; frozen.
    package let targetDuration: Int
    /// Nanoseconds that a removed segment is kept beyond the rule; at least one target duration.
    package let slack: Int64
    package private(set) var segments: [Segment] = []
    package private(set) var nextMediaSequence: Int64
    package private(set) var discontinuitySequence: Int64
    package private(set) var retired: [RetiredSegment]
    /// The longest this playlist has ever been, in nanoseconds.
    package private(set) var longestDuration: Int64
    package private(set) var isEnded = false
    /// More segments than this do not stay listed, whatever the style's seconds say; `nil`: those alone count. See
    /// ``limit(to:)``.
    package private(set) var mostSegments: Int?
    /// Entries that have left the I-frame playlist beside this one; `nil`: there is none. See ``Segment/iFrameCount``.
    package private(set) var iFrameSequence: Int64?
    /// Listed nanoseconds. Kept, not summed: a list of a day is asked for its length with every segment, and a successor adds
    /// all of them at once.
    package private(set) var duration: Int64 = 0

    /// - Parameters:
    ///   - slackSeconds: See ``slack``.
    ///   - nextMediaSequence: Number of the first segment to come.
    ///   - retired: What a worker before this one took from the list and had not deleted yet.
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

    /// Number of the first listed segment.
    package var mediaSequence: Int64 { self.segments.first?.mediaSequence ?? self.nextMediaSequence }

    /// Where nothing is listed yet: the first segment has this number. Keeps (1): a number below the next one changes nothing.
    package mutating func begin(at mediaSequence: Int64) {
        if self.segments.isEmpty { self.nextMediaSequence = max(self.nextMediaSequence, mediaSequence) }
    }

    /// Adds the next segment. Amortized O(1).
    ///
    /// - Throws: ``MediaError/Code/internal`` for a number out of order, a segment longer than the target duration, or an
    ///   ended playlist: nothing is changed then.
    package mutating func append(_ segment: Segment) throws(MediaError) {
        func refuse(_ what: String) -> MediaError {
            MediaError(.internal, what, at: "playlist[\(segment.uri)]", fix: "report it: the segmenter broke its grid")
        }
        guard !self.isEnded else { throw refuse("the playlist has ended") }
        guard segment.mediaSequence == self.nextMediaSequence else {
            throw refuse("media sequence \(segment.mediaSequence) where \(self.nextMediaSequence) is next")
        }
        guard segment.duration.ticks > 0, segment.duration.roundedSeconds <= Int64(self.targetDuration) else {
            throw refuse("a length of \(segment.duration.nanoseconds) ns does not fit the target duration")
        }
        self.segments.append(segment)
        self.duration &+= segment.duration.nanoseconds
        self.dropPassedParts()
        self.nextMediaSequence += 1
        self.longestDuration = max(self.longestDuration, self.duration)
    }

    /// Lists the parts of a segment that a worker before this one has listed, as long as they are near the end.
    package mutating func list(_ parts: [Part], of mediaSequence: Int64) {
        guard let index = self.segments.lastIndex(where: { $0.mediaSequence == mediaSequence && !$0.gap }) else {
            return
        }
        self.segments[index] = self.segments[index].with(parts: parts)
        self.dropPassedParts()
    }

    /// Lists segments whose bytes are lost as gaps.
    package mutating func lose(_ uris: Set<String>) {
        for index in self.segments.indices where uris.contains(self.segments[index].uri) {
            self.segments[index] = self.segments[index].lost
        }
    }

    /// Takes the parts from segments that end more than three target durations before the end of the list: players use
    /// them near the live edge alone, and they must stay up to there (§6.2.2).
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

    /// How many segments may leave from the head and still leave the window (and three target durations) listed.
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

    /// Keeps so many segments listed at most, as far as (3) allows; `nil`: the window as it was.
    ///
    /// While it is limited, what has left goes three target durations later: players that load the list on time are past it
    /// by then. Those that paused are not, which is the price of the space.
    package mutating func limit(to most: Int?) {
        self.mostSegments = most
        if most != nil { self.hurry(to: self.hurriedTime) }
    }

    /// What has left the list goes at a media time, in nanoseconds, or before.
    package mutating func hurry(to mediaTime: Int64) {
        self.retired = self.retired.map { $0.leaving(at: min($0.deleteAt, mediaTime)) }
    }

    /// Nanoseconds of media time.
    private var hurriedTime: Int64 {
        (self.segments.last?.publishedAt ?? 0) &+ 3 * Int64(self.targetDuration) &* TimeMath.nanoseconds
    }

    /// Takes `count` segments from the head; they become ``retired``.
    ///
    /// - Returns: `false` where the rules (3) forbid it; nothing is changed then.
    @discardableResult
    package mutating func removeFirst(_ count: Int) -> Bool {
        guard count >= 0, count <= self.removableCount else { return false }
        for segment in self.segments.prefix(count) {
            if segment.discontinuity { self.discontinuitySequence += 1 }
            self.duration &-= segment.duration.nanoseconds
            self.iFrameSequence = self.iFrameSequence.map { $0 &+ Int64(segment.iFrameCount) }
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

    /// The last segment is in: nothing is added or removed any more.
    package mutating func end() { self.isEnded = true }

    /// Takes out the names whose time is over: segments first, then initialization segments that nothing listed or
    /// retired refers to any more.
    ///
    /// - Parameters:
    ///   - mediaTime: Nanoseconds since the room's origin. Media time, not the machine's clock: a job that runs faster
    ///     than real time deletes the same files at the same points, and a stopped worker deletes nothing.
    ///   - current: The initialization segment of what comes next; never among the names.
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
    /// A window as a worker before this one left it.
    ///
    /// - Parameter segments: In order; the first one's number becomes the media sequence.
    /// - Throws: As ``append(_:)``.
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
