package import MediaTypes

/// Measures how far a publisher sends ahead of real time, and decides when to stop reading from its connection. Pure;
/// times are monotonic, in nanoseconds.
///
/// ``forgiveness`` tolerates a clock that is slightly fast. A burst after a network stall only catches up, as does the
/// cache that a server sends when a client starts to play. A publisher that sends a file as fast as the network allows gets
/// further and further ahead: it is *racing*. A racing publisher is read up to ``lead`` ahead of real time, and each of its
/// packets gets the arrival time that it would have had in real time. Therefore its video and audio play evenly.
///
/// States: normal → racing, until the publication ends. In both states: reading ⇄ held (the connection is not read).
package struct PublisherPace: Sendable {
    /// Divisor of the time that has passed, which gives the tolerated clock error: 1/50.
    static let forgiveness: Int64 = 50
    /// Divisor for the tolerated clock error while racing: 1/2500. The source's timeline follows a drift of this size
    /// without a visible jump.
    static let racingForgiveness: Int64 = 2_500
    /// A publisher that is further ahead than this, in nanoseconds, is racing if its lead has grown in its last two GOPs, or
    /// if it sends no video.
    package static let patience: Int64 = 5_000_000_000
    /// A publisher that is further ahead than this, in nanoseconds, is racing whatever its GOPs: no server caches more
    /// than ten seconds.
    package static let longestPatience: Int64 = 12_000_000_000
    /// A racing publisher is not read when it is further ahead than `most` nanoseconds, and is read again below
    /// `least`. The difference absorbs reads that return hundreds of milliseconds of media at once.
    package static let lead: (least: Int64, most: Int64) = (1_750_000_000, 2_000_000_000)
    /// The connection is not read when more than `most` bytes wait to be decoded, and is read again below `least`.
    /// Bytes that an offset delays do not count. `most` is three quarters of ``PacketBacklog/limit``; the rest is for
    /// packets that are already on their way.
    package static let bytes: (least: Int, most: Int) = (16 << 20, 24 << 20)
    /// Limit by which a packet's arrival time is moved later, in nanoseconds. Media that was read ahead is played to
    /// its end after the publication ends, and the next publication waits for that.
    static let longestLead: Int64 = 30_000_000_000
    /// Limit by which this shift may exceed the lead of the whole publication, in nanoseconds: far more than the
    /// distance at which tracks are interleaved.
    static let mostApart: Int64 = 500_000_000
    /// Timestamp steps longer than this, in nanoseconds, are gaps or jumps, and do not measure the rate of a track.
    static let longestStep: Int64 = 1_000_000_000
    /// A track that has sent nothing for this time, in nanoseconds, is ignored.
    static let silence: Int64 = 3_000_000_000

    /// The last packet of a track, and how far the track was ahead.
    private struct Line: Sendable {
        var track: UInt8
        var dts: Int64
        var arrival: Int64
        /// How far the track was ahead of real time at `arrival`, in nanoseconds.
        var lead: Int64 = 0
        /// Whether the last timestamp step measures the rate of the track.
        var isRegular = true

        func lead(at now: Int64) -> Int64 { self.lead &- max(0, now &- self.arrival) }
    }

    private var video: Line?
    private var audio: Line?
    private var lastKey: Int64?
    /// Number of consecutive GOPs in each of which the lead has grown by more than 100 ms.
    private var growing = 0
    package private(set) var isRacing = false
    package private(set) var isHeld = false

    package init() {}

    /// Records a packet, and returns the arrival time to use for it.
    ///
    /// - Returns: When the packet would have arrived in real time: its arrival time, or later.
    package mutating func note(_ packet: CodedPacket) -> Int64 {
        let dts = TimeMath.rescale(packet.dts, from: Int64(max(1, packet.timescale)), to: TimeMath.nanoseconds)
        let arrival = packet.arrival
        switch packet.kind {
        case .video:
            Self.advance(
                &self.video, packet.track, dts, arrival, beside: self.isRacing ? self.audio : nil, self.isRacing)
            if packet.isKey { self.noteKey(at: arrival) }
        case .audio:
            Self.advance(
                &self.audio, packet.track, dts, arrival, beside: self.isRacing ? self.video : nil, self.isRacing)
        }
        let lead = self.lead(at: arrival)
        if !self.isRacing {
            let isSteady = self.video == nil || self.growing >= 2
            guard lead > (isSteady ? Self.patience : Self.longestPatience) else { return arrival }
            // Media that has arrived so far counts as real time. The lead is measured from here on.
            self.isRacing = true
            self.video?.lead &-= lead
            self.audio?.lead &-= lead
            return arrival
        }
        let own = (packet.kind == .video ? self.video : self.audio)?.lead(at: arrival) ?? lead
        return arrival &+ min(max(0, min(own, lead &+ Self.mostApart)), Self.longestLead)
    }

    /// Resets the measurement for the next publication, but keeps ``isHeld``.
    package mutating func end() {
        let isHeld = self.isHeld
        self = PublisherPace()
        self.isHeld = isHeld
    }

    /// How far the publisher is ahead at `now`, in nanoseconds: normally the lead of the track that is least ahead, because
    /// the timestamps of the other track may only run too fast. A track that is silent or has irregular timestamps is ignored.
    package func lead(at now: Int64) -> Int64 {
        guard let video = self.video else { return self.audio?.lead(at: now) ?? 0 }
        guard let audio = self.audio else { return video.lead(at: now) }
        if self.isRacing {
            // While racing, the tracks are compared by media time: a track that is far behind the other has a gap
            // there, or has ended.
            let ahead = (video.lead &+ video.arrival) &- (audio.lead &+ audio.arrival)
            if ahead > Self.mostApart { return video.lead(at: now) }
            if ahead < -Self.mostApart { return audio.lead(at: now) }
        }
        let apart = video.arrival &- audio.arrival
        if apart >= Self.silence || video.isRegular && !audio.isRegular { return video.lead(at: now) }
        if apart <= -Self.silence || audio.isRegular && !video.isRegular { return audio.lead(at: now) }
        return min(video.lead(at: now), audio.lead(at: now))
    }

    /// Decides whether the connection is read.
    ///
    /// - Parameter waiting: Number of bytes that wait to be decoded.
    /// - Returns: Whether ``isHeld`` has changed.
    package mutating func look(at now: @autoclosure () -> Int64, waiting: Int) -> Bool {
        let before = self.isHeld
        let lead = self.isRacing ? self.lead(at: now()) : 0
        self.isHeld =
            before
            ? lead >= Self.lead.least || waiting >= Self.bytes.least
            : lead > Self.lead.most || waiting > Self.bytes.most
        return self.isHeld != before
    }

    /// Updates a track with a packet.
    ///
    /// - Parameter other: The other track of the publication if it is racing. A track that starts, or continues after a
    ///   gap, is aligned with it.
    private static func advance(
        _ line: inout Line?, _ track: UInt8, _ dts: Int64, _ arrival: Int64, beside other: Line?, _ isRacing: Bool
    ) {
        guard var known = line, known.track == track || arrival &- known.arrival >= Self.silence else {
            // Timestamps of further tracks have the same clock as the first track.
            guard line == nil else { return }
            var first = Line(track: track, dts: dts, arrival: arrival)
            if let other { first.lead = other.lead(at: arrival) &+ Self.near(dts &- other.dts) }
            line = first
            return
        }
        let passed = min(max(0, arrival &- known.arrival), 86_400 * TimeMath.nanoseconds)
        let step = dts &- known.dts
        known.isRegular = known.track == track && step >= 0 && step <= Self.longestStep
        let rejoins = step > Self.longestStep && other.map { Self.near(dts &- $0.dts) == dts &- $0.dts } == true
        let gained = known.isRegular || rejoins ? step : min(max(0, step), passed)
        let lead = known.lead &+ gained &- passed
        // At most one second of a silence is forgiven: after a stall, the packets that follow only catch up.
        let forgiven = min(passed, Self.longestStep) / (isRacing ? Self.racingForgiveness : Self.forgiveness)
        known.lead = lead > 0 ? max(0, lead &- forgiven) : min(0, lead &+ forgiven)
        (known.track, known.dts, known.arrival) = (track, dts, arrival)
        line = known
    }

    private static func near(_ difference: Int64) -> Int64 {
        max(-Self.mostApart, min(Self.mostApart, difference))
    }

    private mutating func noteKey(at arrival: Int64) {
        let lead = self.lead(at: arrival)
        if let last = self.lastKey { self.growing = lead &- last > 100_000_000 ? self.growing + 1 : 0 }
        self.lastKey = lead
    }
}
