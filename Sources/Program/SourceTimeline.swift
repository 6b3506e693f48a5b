package import MediaTypes

/// Maps one source's timestamps onto program time, the same way for all its tracks, so that lips stay with the sound.
///
/// Two steps. ``note(kind:pts:dts:arrival:)`` takes a packet when it comes and puts its timestamps onto the *source's time*:
/// ever increasing, one for all tracks, whatever jumps, resets or stands still (``TrackClock``). ``program(of:)`` maps
/// source time to program time by one anchor, when the packet is due. The anchor is what the least delay of the last
/// seconds asks for, plus the jitter buffer: the first packet's luck does not stay.
///
/// States: unanchored → settling (half a second, see ``isSettling``) → steady. While steady the anchor glides by at most
/// ``glideLimit``; what gliding cannot do is one re-anchoring:
/// - packets that keep coming too late for ``latePatience`` have a longer way: the mapping follows;
/// - packets that come too late now and then need a deeper buffer, up to the largest one;
/// - a source that is shown much later than its buffer asks for is brought back;
/// - a source that knows the world's time is shown with the others that do (``WallAlignment``).
///
/// Invariant (1): source time never jumps by itself, so a new anchor is the only seam a viewer can meet.
/// Invariant (2): no track waits for another one.
///
/// All times in nanoseconds; "program time" counts from the room's `origin`.
package struct SourceTimeline: Sendable {
    /// Why the mapping was made anew.
    package enum Reason: String, Sendable {
        /// Timestamps jumped or began again.
        case jump
        /// Packets keep coming too late.
        case late
        /// Packets come too late now and then: the buffer is deeper now.
        case jitter
        /// It was shown later than needed.
        case excess
        /// The first packets had had bad luck.
        case settled
        /// Wall-clock time of this source and of others says when it belongs.
        case wall
    }

    /// A packet's place on the program.
    package struct Mapped: Sendable, Equatable {
        package var pts: Int64
        package var dts: Int64
        /// The mapping was made anew for this packet: sound and picture from before do not continue into it.
        package var isReanchored: Bool
    }

    /// A packet's place on the source's time.
    package struct Noted: Sendable, Equatable {
        package var pts: Int64
        package var dts: Int64
    }

    /// Packets that come too late for this long have a new, longer way: the mapping follows.
    package static let latePatience: Int64 = 500_000_000
    /// A backlog that is being worked off may be late for this long.
    static let catchUpPatience: Int64 = 3_000_000_000
    /// After this the first packets' luck is known; at 500 ms nobody has got used to the source yet.
    static let settleTime: Int64 = 500_000_000
    /// An excess that is left over from settling and too small for a cut: 10 ms is a third of a picture.
    static let settleExcess: Int64 = 10_000_000
    /// What is shown later than needed by more than this is brought back in one step after ``excessPatience``; less is
    /// worked off by gliding. Two sources are 50 ms apart at most.
    static let excessLimit: Int64 = 30_000_000
    static let excessPatience: Int64 = 10_000_000_000
    /// A deeper buffer than configured goes back after this many seconds in which it was not needed.
    static let quietSeconds: Int64 = 15
    /// A source that others wait for, by the world's time, is brought back by gliding up to this: a cut would put it apart
    /// from them, and they would have to follow by a cut of their own.
    static let heldLimit: Int64 = 150_000_000
    /// Time in which gliding takes an error down to a third.
    static let glideTime: Int64 = 20_000_000_000
    /// Tracks that first come this far apart with both their timestamps at zero were zeroed apart.
    static let zeroApart: Int64 = 100_000_000
    /// Tracks whose jumps differ by less than this have jumped together, if within a second.
    static let sameJump: Int64 = 500_000_000

    private let jitterBuffer: Int64
    let maxJitterBuffer: Int64
    private let maxDriftPpm: Int64
    private let soundLead: Int64
    package private(set) var offset: Int64
    /// What the jitter buffer is now: the network may ask for more than was configured.
    package private(set) var depth: Int64
    private var anchor: Int64?
    private var video = TrackClock()
    private var audio = TrackClock()
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

    /// Still learning what the way costs.
    package private(set) var isSettling = true
    /// How often the mapping was made anew since the beginning.
    package private(set) var reanchors = 0
    package private(set) var lastReason: Reason?
    /// Counts every seam on program time: re-anchorings, new offsets, new lives.
    package private(set) var seams = 0

    /// - Parameters:
    ///   - jitterBuffer: How long after its arrival a packet without bad luck is shown; 0 for files.
    ///   - maxJitterBuffer: How far the network may make that grow.
    ///   - offset: Added to every time; positive shows the source later.
    ///   - maxDriftPpm: What a publisher's clock may be off by and is followed softly, in parts per million.
    ///   - soundLead: How long before it is due sound has to be there, because it is mixed ahead; see
    ///     ``ProgramStage/soundLead(fps:sampleRate:)``. At most half of the jitter buffer counts.
    package init(
        jitterBuffer: Int64, maxJitterBuffer: Int64 = 1_500_000_000, offset: Int64 = 0, maxDriftPpm: Int64 = 500,
        soundLead: Int64 = 0
    ) {
        self.jitterBuffer = jitterBuffer
        self.maxJitterBuffer = max(jitterBuffer, maxJitterBuffer)
        self.maxDriftPpm = maxDriftPpm
        self.soundLead = max(0, soundLead)
        self.offset = offset
        self.depth = jitterBuffer
    }

    /// The steepest glide, in parts per billion: the drift and half as much again to work off an error.
    package var glideLimit: Int64 { (self.maxDriftPpm &+ 500) &* 1000 }

    /// What the publisher's clock is off by, in parts per million; positive: it is fast. `nil` before half a minute.
    package var driftPpm: Int? { self.drift.ppm.map { Int($0) } }

    /// How long packets are kept before they are due: the jitter buffer as it is, plus what is being worked off.
    package var buffered: Int64? {
        guard let anchor, let floor = self.floor else { return nil }
        return anchor &- floor
    }

    /// Anchors the timeline so that `timestamp` is shown at `program`, as files do.
    package mutating func anchor(timestamp: Int64, at program: Int64) { self.anchor = program &- timestamp }

    /// Whether there is a mapping.
    package var isAnchored: Bool { self.anchor != nil }

    /// Forgets the anchor: the next packet starts a new life of the source.
    package mutating func reset() {
        let (reanchors, seams) = (self.reanchors, self.seams)
        self = SourceTimeline(
            jitterBuffer: self.jitterBuffer, maxJitterBuffer: self.maxJitterBuffer, offset: self.offset,
            maxDriftPpm: self.maxDriftPpm, soundLead: self.soundLead)
        (self.reanchors, self.seams) = (reanchors, seams &+ 1)
        self.mappedSeams = self.seams
    }

    /// Shows the source later (positive) or earlier, from now on.
    package mutating func setOffset(_ offset: Int64) {
        guard offset != self.offset else { return }
        self.offset = offset
        self.seams += 1
    }

    // MARK: A packet

    /// Notes a packet and maps it at once.
    ///
    /// - Parameters:
    ///   - pts: Presentation time of the packet, `dts` its decoding time, both on the source's own clock.
    ///   - arrival: Program time of its arrival; `nil` where arrival has no meaning (files).
    package mutating func map(kind: TrackKind, pts: Int64, dts: Int64, arrival: Int64?) -> Mapped {
        let noted = self.note(kind: kind, pts: pts, dts: dts, arrival: arrival)
        let isReanchored = self.seams != self.mappedSeams
        self.mappedSeams = self.seams
        self.isShown = true
        return Mapped(pts: self.program(of: noted.pts), dts: self.program(of: noted.dts), isReanchored: isReanchored)
    }

    /// Program time of a time of the source.
    package func program(of time: Int64) -> Int64 { time &+ (self.anchor ?? 0) &+ self.offset }

    /// The first packet is handed on: from here on the mapping moves with care.
    package mutating func begin() { self.isShown = true }

    /// Takes a packet as it comes and puts it on the source's time; may move the mapping.
    package mutating func note(kind: TrackKind, pts: Int64, dts: Int64, arrival: Int64?) -> Noted {
        guard let arrival else {
            if self.anchor == nil { self.anchor = 0 &- dts }
            return Noted(pts: pts, dts: dts)
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
        return Noted(pts: pts &+ shift, dts: dts &+ shift)
    }

    /// A packet of a further track, on the source's time as the main track of its kind stands on it: the publisher
    /// stamps both by one clock.
    package func noted(kind: TrackKind, pts: Int64, dts: Int64) -> Noted {
        let shift = self[kind].shift
        return Noted(pts: pts &+ shift, dts: dts &+ shift)
    }

    private subscript(kind: TrackKind) -> TrackClock {
        get { kind == .video ? self.video : self.audio }
        set { if kind == .video { self.video = newValue } else { self.audio = newValue } }
    }

    private static func other(_ kind: TrackKind) -> TrackKind { kind == .video ? .audio : .video }

    // MARK: Source time

    /// The first packet of a track while the other one runs: it shares that one's clock, unless it plainly has its own.
    private func join(_ track: inout TrackClock, _ kind: TrackKind, _ dts: Int64, _ arrival: Int64) {
        let other = self[Self.other(kind)]
        guard let last = other.last, let floor = other.delays.floor else { return }
        track.join(shift: other.shift)
        // Only while the other one flows: a big first picture holds everything up that is sent behind it.
        guard other.count >= 3, other.delay &- floor < 50_000_000, arrival &- last.arrival < 200_000_000 else { return }
        let apart = arrival &- (dts &+ track.shift) &- floor
        if (dts == 0 && apart > Self.zeroApart) || apart.magnitude > UInt64(self.maxJitterBuffer) {
            track.move(by: apart)
        }
    }

    private mutating func jumped(
        _ track: inout TrackClock, _ kind: TrackKind, _ dts: Int64, _ arrival: Int64, _ gained: Int64
    ) {
        let shift: Int64
        if let jump = self.jump, jump.kind != kind, arrival &- jump.arrival <= 1_000_000_000,
            (jump.gained &- gained).magnitude <= UInt64(Self.sameJump)
        {
            // Both tracks are on the publisher's new clock: the same shift keeps them together exactly.
            shift = jump.shift
        } else {
            // From its arrival: the packet is taken for one that had no bad luck on the way.
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

    /// Publishers that begin both tracks at zero, each when its own first packet is ready, lose the offset between them.
    /// It is found again from the arrivals of one second.
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

    /// The least delay of the slowest track.
    private var floor: Int64? {
        switch (self.video.delays.floor, self.audio.delays.floor) {
        case (let video?, let audio?): max(video, audio)
        case (let floor?, nil), (nil, let floor?): floor
        case (nil, nil): nil
        }
    }

    /// The anchor the jitter buffer asks for.
    var natural: Int64? { self.floor.map { $0 &+ self.depth } }

    private mutating func settle(from arrival: Int64) {
        self.anchoredAt = arrival
        self.isSettling = true
        self.excessSince = nil
    }

    private mutating func adjust(_ kind: TrackKind, _ arrival: Int64) {
        guard let floor = self.floor else { return }
        guard let anchor = self.anchor, self.isShown else {
            // Nothing is shown yet: the mapping costs nothing.
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
        // The track with more packets measures better; sound has 43 a second.
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
        // The delay beyond which something is missed: an offset may show it before its buffer asks for, and sound is mixed ahead.
        // What an offset shows later is mixed later, too.
        let lead = kind == .audio ? min(self.soundLead, self.depth / 2) : 0
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
        // A backlog that shrinks is soon gone.
        if late.delay &- delay > since / 4, since < Self.catchUpPatience { return }
        // What came by the old way says nothing about the new one.
        self[kind].delays.restart(at: late.least)
        self[Self.other(kind)].delays.restart(at: nil)
        self.drift.restart()
        self.reanchor(to: late.least &+ self.depth &+ self.wall.extra, for: .late)
    }

    /// A buffer that the network made deeper goes back when it has not been needed for ``quietSeconds``.
    ///
    /// What is shown too late by then is brought back after ``excessPatience``: 26 s after the network's last bad moment at most.
    private mutating func shrink(at arrival: Int64) {
        guard self.depth > self.jitterBuffer, arrival &- self.deepenedAt > Self.quietSeconds &* 1_000_000_000 else {
            return
        }
        // Looked at once a second.
        self.deepenedAt &+= 1_000_000_000
        let video = self.video.delays.spread(over: Self.quietSeconds, at: arrival)
        let audio = self.audio.delays.spread(over: Self.quietSeconds, at: arrival) &+ self.soundLead
        let needed = max(video, audio) &+ 40_000_000 &+ max(0, 0 &- self.offset)
        self.depth = max(self.jitterBuffer, min(self.depth, needed))
    }

    /// How much later it is shown than its buffer and its alignment ask for.
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
        // Whoever is aligned is apart from the others by it.
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
        // A fast publisher's timestamps run ahead: they are shown earlier and earlier.
        let rate = max(0 &- self.glideLimit, min(self.glideLimit, pull &- known &* 1000))
        self.anchor = anchor &+ TimeMath.scale(elapsed, by: rate, over: TimeMath.nanoseconds)
    }
}

/// Spells of packets that came too late: one is bad luck, three within ten seconds are the network's way.
private struct LateSpells: Sendable {
    private static let needed = 3
    private static let within: Int64 = 10_000_000_000
    /// Late packets closer together than this are one spell.
    private static let apart: Int64 = 300_000_000
    /// But for those that come so long after its first, with others in time between them: sound that is sent in pieces has
    /// some late ones in each.
    private static let longest: Int64 = 1_000_000_000

    private var spells: [(began: Int64, worst: Int64)] = []
    private var last: Int64?

    /// - Parameter isNew: The packet of its track before was in time.
    /// - Returns: The lateness to make room for, when there have been enough spells: the worst but one, since one stall among them is
    ///   worked off and is not the network's way.
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
