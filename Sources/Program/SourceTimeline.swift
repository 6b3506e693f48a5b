package import MediaTypes

/// Maps one source's timestamps to program time, in the same way for all its tracks, so that lip sync is kept.
///
/// There are two steps. ``note(kind:pts:dts:arrival:)`` maps the timestamps of an arriving packet to the *source's
/// time*, which is continuous and common to all tracks, even if timestamps jump, are reset or freeze
/// (``TimestampCorrector``). ``program(of:)`` maps source time to program time with one anchor, when the packet is due.
/// The anchor is the smallest delay of the last seconds plus the jitter buffer, so that an unusual delay of the first
/// packet has no lasting effect.
///
/// States: unanchored → settling (half a second, see ``isSettling``) → steady. While steady, the anchor glides by at
/// most ``glideLimit``. Once packets are decoded, the anchor is set anew (reanchored) in one step in these cases:
/// - Settling is over, and the source is shown later than its buffer requires.
/// - Packets are too late for longer than ``latePatience``: the network delay has increased, and the mapping follows
///   it.
/// - Packets are repeatedly too late for short times: the buffer is made deeper, up to its maximum.
/// - A source that is shown much later than its buffer requires is brought back.
/// - A source with wall-clock time is aligned with the others that have it (``WallAlignment``).
///
/// Invariant (1): every change of the mapping that viewers can see, except gliding, is counted in ``seams``.
/// Invariant (2): no track waits for another one.
///
/// All times are in nanoseconds; program time counts from the room's `origin`.
package struct SourceTimeline: Sendable {
    /// Why the source's timestamps were mapped to program time anew.
    package enum Reason: String, Sendable {
        /// Timestamps jumped or restarted.
        case jump
        /// Packets were too late for at least ``latePatience``.
        case late
        /// Packets were repeatedly too late; the buffer was made deeper.
        case jitter
        /// The source was shown later than needed.
        case excess
        /// The mapping was corrected at the end of the settling time: the first packets had had unusual delays.
        case settled
        /// The source was aligned with others by wall-clock time.
        case wall
    }

    /// A packet's times as program time.
    package struct Mapped: Sendable, Equatable {
        package var pts: Int64
        package var dts: Int64
        /// Whether the mapping was made anew since the previous packet: audio and video do not continue across it.
        package var isReanchored: Bool
    }

    /// A packet's times as source time: continuous and common to all tracks of the source.
    package struct SourceTimes: Sendable, Equatable {
        package var pts: Int64
        package var dts: Int64
    }

    /// If packets are too late for this long (0.5 s), the network delay has increased and the mapping follows it.
    package static let latePatience: Int64 = 500_000_000
    /// ``latePatience`` for packets whose delay is decreasing, as when a backlog is worked off: 3 s.
    static let catchUpPatience: Int64 = 3_000_000_000
    /// Duration of the settling state, after which the delays are known. In the first 500 ms, a correction hardly
    /// disturbs viewers.
    static let settleTime: Int64 = 500_000_000
    /// After settling, the source may be shown this much later than needed without a correction in one step: 10 ms, a
    /// third of a frame.
    static let settleExcess: Int64 = 10_000_000
    /// A source that is shown later than needed by more than this (30 ms) is brought back in one step after
    /// ``excessPatience``; smaller differences are corrected by gliding. Aligned sources are at most 50 ms apart.
    static let excessLimit: Int64 = 30_000_000
    /// Time for which the excess must last before the step: 10 s. It is ``latePatience`` instead for an aligned source,
    /// and for an excess that is larger than the buffer could still grow.
    static let excessPatience: Int64 = 10_000_000_000
    /// A buffer deeper than configured is reduced after this many seconds in which it was not needed.
    static let quietSeconds: Int64 = 15
    /// ``excessLimit`` for the source that all others wait for in wall-clock alignment: smaller differences are
    /// corrected by gliding. A step would separate it from the other sources, which would have to follow with a step of
    /// their own.
    static let heldLimit: Int64 = 150_000_000
    /// Time constant of gliding: the time in which it reduces an error to about a third (20 s).
    static let glideTime: Int64 = 20_000_000_000
    /// If two tracks, whose timestamps both start at zero, start more than this apart, the publisher zeroed each of
    /// them separately.
    static let zeroApart: Int64 = 100_000_000
    /// If two tracks jump within a second and the jumps differ by at most this, it is the same jump.
    static let sameJump: Int64 = 500_000_000

    private let jitterBuffer: Int64
    let maxJitterBuffer: Int64
    private let maxDriftPpm: Int64
    private let audioLead: Int64
    /// How much earlier than `audioLead` says audio must arrive before its program time, in nanoseconds, because a filter
    /// holds it. The offset must leave this time in addition to the minimum of the jitter buffer.
    package var filterLead: Int64 = 0
    package private(set) var offset: Int64
    /// Current size of the jitter buffer in nanoseconds; it may be more than configured if the network required it.
    package private(set) var depth: Int64
    private var anchor: Int64?
    private var video = TimestampCorrector()
    private var audio = TimestampCorrector()
    private var drift = DriftMeter()
    private var driftKind: TrackKind?
    private var jump: (kind: TrackKind, arrival: Int64, gained: Int64, shift: Int64)?
    private var spells = LateSpells()
    private var deepenedAt: Int64 = 0
    private var anchoredAt: Int64 = 0
    private var glidedAt: Int64?
    private var excessSince: Int64?
    private var isAligned = false
    private(set) var isShown = false
    var wall = WallFollower()
    private var mappedSeams = 0

    /// Whether the network delay is still being learned.
    package private(set) var isSettling = true
    /// Number of times the mapping was made anew since the beginning: new anchors and jumps of the timestamps.
    package private(set) var reanchors = 0
    /// Reason of the last new mapping in this publication; `nil` if there was none.
    package private(set) var lastReason: Reason?
    /// Number of discontinuities (seams) on program time since the beginning: new anchors, jumps of the timestamps,
    /// tracks that were shifted against each other, new offsets, new publications.
    package private(set) var seams = 0

    /// Creates a timeline without a mapping.
    ///
    /// - Parameters:
    ///   - jitterBuffer: Time from the arrival of a packet without unusual delay to its display, in nanoseconds; 0 for
    ///     files of an offline program.
    ///   - maxJitterBuffer: Maximum to which the jitter buffer grows if the network requires it.
    ///   - offset: Added to every time; positive shows the source later.
    ///   - maxDriftPpm: Maximum drift of the publisher's clock that is followed by gliding, in parts per million.
    ///   - audioLead: How long before its program time audio must be available, because it is mixed ahead; see
    ///     ``ProgramStage/audioLead(fps:sampleRate:)``. Limited to half of the jitter buffer.
    package init(
        jitterBuffer: Int64, maxJitterBuffer: Int64 = 1_500_000_000, offset: Int64 = 0, maxDriftPpm: Int64 = 500,
        audioLead: Int64 = 0
    ) {
        self.jitterBuffer = jitterBuffer
        self.maxJitterBuffer = max(jitterBuffer, maxJitterBuffer)
        self.maxDriftPpm = maxDriftPpm
        self.audioLead = max(0, audioLead)
        self.offset = offset
        self.depth = jitterBuffer
    }

    /// The fastest glide, in parts per billion: the maximum drift plus 500 ppm to correct an error.
    package var glideLimit: Int64 { (self.maxDriftPpm &+ 500) &* 1000 }

    /// Drift of the publisher's clock in parts per million; positive if it is fast. `nil` until enough of the publication
    /// was measured, at least half a minute.
    package var driftPpm: Int? { self.drift.ppm.map { Int($0) } }

    /// Time from the arrival of a packet without unusual delay until it is shown, in nanoseconds and without the
    /// offset: the current jitter buffer plus any additional delay; `nil` before the first packet, and for files.
    package var buffered: Int64? {
        guard let anchor, let floor = self.floor else { return nil }
        return anchor &- floor
    }

    /// Anchors the timeline so that `timestamp` is shown at `program` plus the offset; used for files.
    package mutating func anchor(timestamp: Int64, at program: Int64) { self.anchor = program &- timestamp }

    /// Whether source time can be mapped to program time yet.
    package var isAnchored: Bool { self.anchor != nil }

    /// Discards the mapping and the measured delays: the next packet begins a new publication. Offset and counters
    /// stay.
    package mutating func reset() {
        let (reanchors, seams, filterLead) = (self.reanchors, self.seams, self.filterLead)
        self = SourceTimeline(
            jitterBuffer: self.jitterBuffer, maxJitterBuffer: self.maxJitterBuffer, offset: self.offset,
            maxDriftPpm: self.maxDriftPpm, audioLead: self.audioLead)
        (self.reanchors, self.seams, self.filterLead) = (reanchors, seams &+ 1, filterLead)
        self.mappedSeams = self.seams
    }

    /// Shows the source later (positive) or earlier (negative), from now on.
    package mutating func setOffset(_ offset: Int64) {
        guard offset != self.offset else { return }
        self.offset = offset
        self.seams += 1
    }

    // MARK: A packet

    /// Maps a packet to program time at once, when it arrives.
    ///
    /// - Parameters:
    ///   - pts: Presentation time of the packet, and `dts` its decoding time, on the source's own clock.
    ///   - arrival: Program time of its arrival; `nil` if arrival has no meaning (files).
    package mutating func map(kind: TrackKind, pts: Int64, dts: Int64, arrival: Int64?) -> Mapped {
        let noted = self.note(kind: kind, pts: pts, dts: dts, arrival: arrival)
        let isReanchored = self.seams != self.mappedSeams
        self.mappedSeams = self.seams
        self.isShown = true
        return Mapped(pts: self.program(of: noted.pts), dts: self.program(of: noted.dts), isReanchored: isReanchored)
    }

    /// Converts source time to program time, with the offset added.
    package func program(of time: Int64) -> Int64 { time &+ (self.anchor ?? 0) &+ self.offset }

    /// Records that the first packet was decoded: from now on a change of the mapping is visible.
    package mutating func begin() { self.isShown = true }

    /// Maps an arriving packet to the source's time; may change the mapping to program time.
    package mutating func note(kind: TrackKind, pts: Int64, dts: Int64, arrival: Int64?) -> SourceTimes {
        guard let arrival else {
            if self.anchor == nil { self.anchor = 0 &- dts }
            return SourceTimes(pts: pts, dts: dts)
        }
        var track = self[kind]
        if track.last == nil { self.join(&track, kind, dts, arrival) }
        let shiftBefore = self[kind].shift
        if let gained = track.advance(to: dts, at: arrival) { self.jumped(&track, kind, dts, arrival, gained) }
        if track.shift != shiftBefore { self.wall.meter.restart() }
        track.delay = arrival &- (dts &+ track.shift)
        track.delays.insert(track.delay, at: arrival)
        self[kind] = track
        self.alignZeroBases(at: arrival)
        self.adjust(kind, arrival)
        let shift = self[kind].shift
        return SourceTimes(pts: pts &+ shift, dts: dts &+ shift)
    }

    /// Maps a packet of a further track in the same way as the main track of its kind, because the publisher stamps
    /// both with one clock.
    package func noted(kind: TrackKind, pts: Int64, dts: Int64) -> SourceTimes {
        let shift = self[kind].shift
        return SourceTimes(pts: pts &+ shift, dts: dts &+ shift)
    }

    private subscript(kind: TrackKind) -> TimestampCorrector {
        get { kind == .video ? self.video : self.audio }
        set { if kind == .video { self.video = newValue } else { self.audio = newValue } }
    }

    private static func other(_ kind: TrackKind) -> TrackKind { kind == .video ? .audio : .video }

    // MARK: Source time

    /// Sets the shift of a track at its first packet, while the other track runs: that of the other track, unless the
    /// arrival times show that the two tracks do not share a clock.
    private func join(_ track: inout TimestampCorrector, _ kind: TrackKind, _ dts: Int64, _ arrival: Int64) {
        let other = self[Self.other(kind)]
        guard let last = other.last, let floor = other.delays.floor else { return }
        track.join(shift: other.shift)
        // Only while packets of the other track arrive normally: a big first frame delays everything that is sent after
        // it.
        guard other.count >= 3, other.delay &- floor < 50_000_000, arrival &- last.arrival < 200_000_000 else { return }
        let apart = arrival &- (dts &+ track.shift) &- floor
        if (dts == 0 && apart > Self.zeroApart) || apart.magnitude > UInt64(self.maxJitterBuffer) {
            track.move(by: apart)
        }
    }

    private mutating func jumped(
        _ track: inout TimestampCorrector, _ kind: TrackKind, _ dts: Int64, _ arrival: Int64, _ gained: Int64
    ) {
        let shift: Int64
        if let jump = self.jump, jump.kind != kind, arrival &- jump.arrival <= 1_000_000_000,
            (jump.gained &- gained).magnitude <= UInt64(Self.sameJump)
        {
            // Both tracks jumped to the publisher's new clock: the same shift keeps them exactly together.
            shift = jump.shift
        } else {
            // Derive the shift from the arrival, assuming that this packet had no unusual delay.
            let usual = track.delays.floor ?? 0
            shift = arrival &- usual &- dts &- track.shift
            self.reanchors += 1
            self.seams += 1
            self.lastReason = .jump
            self.isAligned = false
            self.settle(from: arrival)
        }
        self.jump = (kind, arrival, gained, shift)
        track.move(by: shift)
        self.drift.restart()
    }

    /// Corrects publishers that start both tracks at timestamp zero, each when its own first packet is ready, and
    /// lose the offset between them. The offset is derived from the arrivals of one second.
    private mutating func alignZeroBases(at arrival: Int64) {
        guard !self.isAligned, let video = self.video.first, let audio = self.audio.first else { return }
        let later: TrackKind = video.arrival > audio.arrival ? .video : .audio
        guard arrival &- max(video.arrival, audio.arrival) >= 1_000_000_000 else { return }
        self.isAligned = true
        guard let latest = self[later].delays.floor, let earliest = self[Self.other(later)].delays.floor else { return }
        let apart = latest &- earliest
        let isZeroed =
            video.dts == 0 && audio.dts == 0
            && (video.arrival &- audio.arrival).magnitude > UInt64(Self.zeroApart)
            && (apart > Self.zeroApart || self[later].shift != self[Self.other(later)].shift)
        guard (isZeroed && apart.magnitude > 20_000_000) || apart.magnitude > UInt64(self.maxJitterBuffer) else {
            return
        }
        self[later].move(by: apart)
        self[later].delay &-= apart
        self[later].delays.shift(by: 0 &- apart)
        self[later].late = nil
        self.wall.meter.restart()
        self.seams += 1
        self.drift.restart()
    }

    // MARK: The anchor

    /// The smallest recent delay of the slower track; `nil` before the first packet.
    private var floor: Int64? {
        switch (self.video.delays.floor, self.audio.delays.floor) {
        case (let video?, let audio?): max(video, audio)
        case (let floor?, nil), (nil, let floor?): floor
        case (nil, nil): nil
        }
    }

    /// The anchor that the jitter buffer requires, without alignment to other sources.
    var natural: Int64? { self.floor.map { $0 &+ self.depth } }

    private mutating func settle(from arrival: Int64) {
        self.anchoredAt = arrival
        self.isSettling = true
        self.excessSince = nil
    }

    private mutating func adjust(_ kind: TrackKind, _ arrival: Int64) {
        guard let floor = self.floor else { return }
        guard let anchor = self.anchor, self.isShown else {
            // Nothing is shown yet, so a change of the mapping is not visible.
            if self.anchor == nil { self.settle(from: arrival) }
            self.anchor = floor &+ self.depth &+ self.wall.extra
            return
        }
        self.measureDrift(kind, arrival)
        self.followLateness(kind, arrival, anchor)
        self.shrink(at: arrival)
        self.bringBack(kind, arrival)
        self.glide(to: arrival)
    }

    mutating func reanchor(to anchor: Int64, for reason: Reason) {
        self.lastReason = reason
        self.anchor = anchor
        self.excessSince = nil
        self.video.late = nil
        self.audio.late = nil
        self.reanchors += 1
        self.seams += 1
    }

    private mutating func measureDrift(_ kind: TrackKind, _ arrival: Int64) {
        // The track with more packets gives a better measurement; audio has 43 per second.
        if self.driftKind != .audio || kind == .audio || arrival &- (self.audio.last?.arrival ?? 0) > 5_000_000_000 {
            if self.driftKind != kind {
                guard self.driftKind == nil || kind == .audio || self.driftKind == .audio else { return }
                self.driftKind = kind
                self.drift.restart()
            }
            self.drift.note(delay: self[kind].delay, at: arrival)
        }
    }

    private mutating func followLateness(_ kind: TrackKind, _ arrival: Int64, _ anchor: Int64) {
        let delay = self[kind].delay
        // The delay beyond which something is missed. A negative offset shows the packet earlier than the buffer allows
        // for, and audio is mixed ahead; a positive offset delays the mixing too.
        let lead = kind == .audio ? min(self.audioLead, self.depth / 2) &+ self.filterLead : 0
        let latest = anchor &+ min(0, self.offset &- lead)
        guard delay > latest else {
            self[kind].late = nil
            return
        }
        let isNew = self[kind].late == nil
        var late = self[kind].late ?? (arrival, delay, delay)
        late.least = min(late.least, delay)
        self[kind].late = late
        if let lateness = self.spells.noted(lateness: delay &- latest, at: arrival, isNew: isNew),
            self.depth < self.maxJitterBuffer
        {
            let deeper = min(self.maxJitterBuffer, self.depth &+ lateness &+ 20_000_000) &- self.depth
            self.depth &+= deeper
            self.deepenedAt = arrival
            self.reanchor(to: anchor &+ deeper, for: .jitter)
            return
        }
        let since = arrival &- late.since
        guard since >= Self.latePatience else { return }
        // A shrinking backlog will soon be gone.
        if late.delay &- delay > since / 4, since < Self.catchUpPatience { return }
        // Packets that came with the old delay say nothing about the new one.
        self[kind].delays.restart(at: late.least)
        self[Self.other(kind)].delays.restart(at: nil)
        self.drift.restart()
        self.reanchor(to: late.least &+ self.depth &+ self.wall.extra, for: .late)
    }

    /// Reduces a jitter buffer that had grown, once the additional depth has not been needed for ``quietSeconds``.
    ///
    /// The source is then shown later than needed, which is corrected after ``excessPatience``.
    private mutating func shrink(at arrival: Int64) {
        guard self.depth > self.jitterBuffer, arrival &- self.deepenedAt > Self.quietSeconds &* 1_000_000_000 else {
            return
        }
        // Check once per second.
        self.deepenedAt &+= 1_000_000_000
        let video = self.video.delays.spread(over: Self.quietSeconds, at: arrival)
        let audio = self.audio.delays.spread(over: Self.quietSeconds, at: arrival) &+ self.audioLead
        let needed =
            max(video &+ max(0, 0 &- self.offset), audio &+ max(0, self.filterLead &- self.offset)) &+ 40_000_000
        self.depth = max(self.jitterBuffer, min(self.depth, needed))
    }

    /// How much later the source is shown than its buffer and its alignment require, in nanoseconds; `nil` before the
    /// first packet.
    var excess: Int64? {
        guard let anchor = self.anchor, let natural = self.natural else { return nil }
        return anchor &- natural &- self.wall.extra
    }

    private mutating func bringBack(_ kind: TrackKind, _ arrival: Int64) {
        guard let excess = self.excess, let natural = self.natural else { return }
        let wanted = natural &+ self.wall.extra
        if self.isSettling {
            guard arrival &- self.anchoredAt >= Self.settleTime else { return }
            self.isSettling = false
            self.glidedAt = arrival
            if excess > Self.settleExcess { self.reanchor(to: wanted, for: .settled) }
            return
        }
        guard excess > (self.wall.isWaitedFor ? Self.heldLimit : Self.excessLimit) else {
            self.excessSince = nil
            return
        }
        let since = self.excessSince ?? arrival
        self.excessSince = since
        // An excess separates an aligned source from the others.
        let isUrgent = excess > self.maxJitterBuffer &- self.depth || self.wall.isAligned
        if arrival &- since >= (isUrgent ? Self.latePatience : Self.excessPatience) {
            self.drift.restart()
            self.reanchor(to: wanted, for: .excess)
        }
    }

    private mutating func glide(to arrival: Int64) {
        guard !self.isSettling, let anchor, let floor = self.floor else { return }
        let elapsed = min(1_000_000_000, max(0, arrival &- (self.glidedAt ?? arrival)))
        self.glidedAt = arrival
        let known = max(-self.maxDriftPpm, min(self.maxDriftPpm, Int64(self.drift.ppm ?? 0)))
        let error = floor &+ self.depth &+ self.wall.extra &- anchor
        let pull = TimeMath.scale(error, by: TimeMath.nanoseconds, over: Self.glideTime)
        // The timestamps of a fast publisher run ahead, so they are shown earlier and earlier.
        let rate = max(0 &- self.glideLimit, min(self.glideLimit, pull &- known &* 1000))
        self.anchor = anchor &+ TimeMath.scale(elapsed, by: rate, over: TimeMath.nanoseconds)
    }
}

/// Counts periods of late packets (spells): a single spell is an exception, three within ten seconds mean that the
/// buffer is too small.
private struct LateSpells: Sendable {
    private static let needed = 3
    private static let within: Int64 = 10_000_000_000
    /// Late packets closer together than this belong to one spell.
    private static let apart: Int64 = 300_000_000
    /// Also within ``apart``, a late packet begins a new spell if the current spell began at least this long ago and
    /// the packet before it was in time: audio that is sent in bursts has some late packets in each burst.
    private static let longest: Int64 = 1_000_000_000

    private var spells: [(began: Int64, worst: Int64)] = []
    private var last: Int64?

    /// Records a late packet.
    ///
    /// - Parameter isNew: Whether the previous packet of the track was in time.
    /// - Returns: When the third spell begins, the lateness that the buffer must absorb: that of the second worst
    ///   spell, because a single stall is not typical of the network; the count then starts again. Otherwise `nil`.
    mutating func noted(lateness: Int64, at arrival: Int64, isNew: Bool) -> Int64? {
        defer { self.last = arrival }
        self.spells.removeAll { arrival &- $0.began > Self.within }
        if let last, arrival &- last < Self.apart {
            let isOld = self.spells.last.map { arrival &- $0.began >= Self.longest } ?? true
            guard isNew, isOld else {
                if let index = self.spells.indices.last {
                    self.spells[index].worst = max(self.spells[index].worst, lateness)
                }
                return nil
            }
        }
        self.spells.append((arrival, lateness))
        guard self.spells.count >= Self.needed else { return nil }
        defer { self = LateSpells() }
        return self.spells.map(\.worst).sorted().dropLast().last
    }
}
