import MediaTypes

/// The cues of one subtitle rendition: it takes cues at any time and makes the segments, each of which is fixed when it is
/// needed first. A value without clock and I/O.
///
/// Invariants:
/// (1) The bytes of a segment do not change while it is one of the last ``keptSegments``: a URI that a playlist has listed
///     keeps its bytes.
/// (2) Every accepted cue is in each segment during which it is shown. A cue that comes too late for a segment is shown
///     from the next one on.
/// (3) Memory is bounded: at most ``mostCues`` cues wait, at most ``mostAtOnce`` are shown at the same time, and the last
///     ``keptSegments`` segments are kept, besides those of an earlier worker.
package struct SubtitleCues: Sendable {
    /// Why cues are refused.
    package enum Refusal: Error, Hashable {
        /// The cue's end is more than ``longestDelay`` ago.
        case past
        /// The cue's start is more than ``longestLead`` ahead.
        case future
        /// More than ``mostAtOnce`` cues would be shown at the same time.
        case crowded
        /// ``mostCues`` cues wait already.
        case full
        /// The rate limit is exceeded.
        case tooMany
    }

    /// A refused cue, by its place in the request, and why it is refused.
    package struct Refused: Error, Hashable {
        package let index: Int
        package let reason: Refusal
    }

    /// Maximum number of cues that wait for their last segment.
    package static let mostCues = 512
    /// Maximum number of cues that are shown at the same time.
    package static let mostAtOnce = 8
    /// How long after its end a cue is still accepted, in milliseconds.
    package static let longestDelay: Int64 = 30_000
    /// How far ahead a cue may start, in milliseconds.
    package static let longestLead: Int64 = 600_000
    /// Rate limit in cues per second. ``burst`` is the number of cues that may come at once.
    package static let rate: Int64 = 20
    package static let burst: Int64 = 100
    /// A late cue keeps its end if at least this time in milliseconds, or all of its duration, is left.
    private static let readable: Int64 = 1_000
    /// Number of segments whose bytes are kept for a second request: more than the live edge can be ahead of the store, for
    /// which at most 32 segments wait before they become gaps.
    private static let keptSegments = 64

    /// The cues that are not in all of their segments yet, in the order of their starts.
    private(set) var waiting: [SubtitleCue] = []
    /// Program time in milliseconds up to which all segments are fixed.
    package private(set) var fixedUntil: Int64 = 0
    private var segments: [(mediaSequence: Int64, bytes: [UInt8])] = []
    /// Segments of an earlier worker by media sequence number. More than ``keptSegments`` segments of slate may follow
    /// them before they are needed.
    private var earlier: [Int64: [UInt8]] = [:]
    /// Remaining credit of the rate limit at `lookedAt`, in nanoseconds; one cue costs 1 s / ``rate``.
    private var credit = Self.burst &* (TimeMath.nanoseconds / Self.rate)
    private var lookedAt: Int64?

    package init() {}

    /// Adds cues: all of them or, if one is refused, none.
    ///
    /// - Parameters:
    ///   - cues: Times are program times; the end of each cue is after its start.
    ///   - programTime: The program's current time in milliseconds.
    ///   - now: Nanoseconds of one monotonic clock, for the rate limit.
    /// - Returns: The cues with the times at which they are shown.
    package mutating func add(
        _ cues: [SubtitleCue], programTime: Int64, now: Int64
    ) throws(Refused) -> [SubtitleCue] {
        var next = self
        let price = TimeMath.nanoseconds / Self.rate
        let earned = min(max(0, now &- (self.lookedAt ?? now)), Self.burst &* price)
        next.credit = min(self.credit &+ earned, Self.burst &* price)
        next.lookedAt = now
        var shown: [SubtitleCue] = []
        for (index, cue) in cues.enumerated() {
            do throws(Refusal) {
                guard next.credit >= price else { throw .tooMany }
                next.credit &-= price
                shown.append(try next.add(cue, at: programTime))
            } catch {
                throw Refused(index: index, reason: error)
            }
        }
        self = next
        return shown
    }

    private mutating func add(_ cue: SubtitleCue, at programTime: Int64) throws(Refusal) -> SubtitleCue {
        guard cue.end >= programTime - Self.longestDelay else { throw .past }
        guard cue.start <= programTime + Self.longestLead else { throw .future }
        let cue = self.placed(cue)
        guard self.waiting.count < Self.mostCues else { throw .full }
        guard self.mostShown(with: cue) < Self.mostAtOnce else { throw .crowded }
        let place = self.waiting.lastIndex { $0.start <= cue.start }.map { $0 + 1 } ?? 0
        self.waiting.insert(cue, at: place)
        return cue
    }

    /// The highest number of waiting cues that are shown at one time while `cue` is shown.
    private func mostShown(with cue: SubtitleCue) -> Int {
        let others = self.waiting.filter { $0.start < cue.end && $0.end > cue.start }
        // The number is highest where a cue begins. The cues are in the order of their starts.
        var (ends, most): ([Int64], Int) = ([], 0)
        for other in others {
            let time = max(other.start, cue.start)
            ends.removeAll { $0 <= time }
            ends.append(other.end)
            most = max(most, ends.count)
        }
        return most
    }

    /// Moves a late cue to the first segment that is not fixed. If too little of it would be left to read, the whole cue
    /// is moved.
    private func placed(_ cue: SubtitleCue) -> SubtitleCue {
        guard cue.start < self.fixedUntil else { return cue }
        let duration = cue.end - cue.start
        var late = cue
        late.start = self.fixedUntil
        if cue.end - late.start < min(duration, Self.readable) { late.end = late.start + duration }
        return late
    }

    /// Returns the bytes of a segment, and fixes them.
    ///
    /// - Parameters:
    ///   - start: Program time of the segment's start in nanoseconds.
    ///   - end: Program time of its end in nanoseconds.
    package mutating func segment(_ mediaSequence: Int64, start: Int64, end: Int64) -> [UInt8] {
        if let known = self.earlier[mediaSequence] { return known }
        if let known = self.segments.last(where: { $0.mediaSequence == mediaSequence }) { return known.bytes }
        let first = TimeMath.rescale(max(0, start), from: TimeMath.nanoseconds, to: 1_000, rounding: .down)
        let last = TimeMath.rescale(max(0, end), from: TimeMath.nanoseconds, to: 1_000, rounding: .up)
        let bytes = SubtitleSegment.bytes(
            start: first, cues: self.waiting.lazy.filter { $0.start < last && $0.end > first })
        self.fixedUntil = max(self.fixedUntil, last)
        let until = self.fixedUntil
        self.waiting.removeAll { $0.end <= until }
        self.segments.append((mediaSequence, bytes))
        if self.segments.count > Self.keptSegments { self.segments.removeFirst() }
        return bytes
    }

    /// Notes that media before a program time comes from an earlier worker, so that cues cannot be added to it.
    ///
    /// - Parameter time: Milliseconds since the room's origin.
    package mutating func begin(at time: Int64) { self.fixedUntil = max(self.fixedUntil, time) }

    /// Takes over the bytes of a segment that an earlier worker has made.
    package mutating func keep(_ mediaSequence: Int64, _ bytes: [UInt8]) { self.earlier[mediaSequence] = bytes }
}
