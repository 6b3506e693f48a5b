package import MediaTypes

/// Measures how far a publisher sends ahead of real time, and decides when to stop reading from it. Pure; times are
/// nanoseconds of one monotonic clock.
///
/// A publisher in real time is never held. ``forgiveness`` absorbs a clock that is a little fast. A burst after a
/// network stall only catches up, and so does the cache that a server sends when a client begins to play. A publisher
/// that sends a file as fast as the network allows, however, gets further and further ahead. Then it is *racing*: it is
/// read up to ``lead`` ahead of real time, and each of its packets counts as arriving when it would have arrived in
/// real time. Its video and audio therefore play evenly.
///
/// States: normal → racing (until the publication ends). In both states, reading ⇄ held (the publisher is not read).
package struct PublisherPace: Sendable {
    /// Tolerated clock error: 1/50 of the time that has passed, ten times the error of the worst clocks.
    static let forgiveness: Int64 = 50
    /// The same while racing: 1/2500. The source's timeline follows a drift of this size without a visible step; it
    /// leaves out one frame in 83 s.
    static let racingForgiveness: Int64 = 2_500
    /// A publisher that is ahead by more than this, and whose lead has grown in each of its last two GOPs, is racing.
    package static let patience: Int64 = 5_000_000_000
    /// A publisher that is ahead by more than this is racing, whatever its GOPs: no server caches more than ten
    /// seconds.
    package static let longestPatience: Int64 = 12_000_000_000
    /// While racing, the publisher is held when it is ahead by more than `most`, and read again below `least`. The gap
    /// absorbs reads that come in pieces of hundreds of milliseconds.
    package static let lead: (least: Int64, most: Int64) = (1_750_000_000, 2_000_000_000)
    /// The same in bytes waiting to be decoded, without those that an offset delays. `most` is three quarters of
    /// ``PacketBacklog/limit``, so that the rest can take packets already on their way.
    package static let bytes: (least: Int, most: Int) = (16 << 20, 24 << 20)
    /// Most time by which a packet's arrival is moved later. Media that was read ahead is played to its end after the
    /// publication ends, and the next publication waits for it.
    static let longestLead: Int64 = 30_000_000_000
    /// Most by which that shift may exceed the lead of the whole publication: far more than the distance at which
    /// tracks are interleaved.
    static let mostApart: Int64 = 500_000_000
    /// Timestamp steps longer than this are gaps or jumps, and do not measure the track's rate.
    static let longestStep: Int64 = 1_000_000_000
    /// A track that has sent nothing for this long does not count.
    static let silence: Int64 = 3_000_000_000

    private struct Line: Sendable {
        var track: UInt8
        var dts: Int64
        var arrival: Int64
        /// How far the track was ahead of real time at `arrival`.
        var lead: Int64 = 0
        /// Whether its last timestamp step measures its rate.
        var isRegular = true

        func lead(at now: Int64) -> Int64 { self.lead &- max(0, now &- self.arrival) }
    }

    private var video: Line?
    private var audio: Line?
    private var lastKey: Int64?
    /// Consecutive GOPs in which the lead has grown.
    private var growing = 0
    package private(set) var isRacing = false
    package private(set) var isHeld = false

    package init() {}

    /// Records a packet.
    ///
    /// - Returns: When the packet would have arrived in real time: its arrival, or later.
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
            // What has arrived so far counts as real time: the lead is measured from here.
            self.isRacing = true
            self.video?.lead &-= lead
            self.audio?.lead &-= lead
            return arrival
        }
        let own = (packet.kind == .video ? self.video : self.audio)?.lead(at: arrival) ?? lead
        return arrival &+ min(max(0, min(own, lead &+ Self.mostApart)), Self.longestLead)
    }

    /// Resets for the next publication, but keeps ``isHeld``.
    package mutating func end() {
        let isHeld = self.isHeld
        self = PublisherPace()
        self.isHeld = isHeld
    }

    /// How far the publisher is ahead now: the lead of the track that is least ahead. The other track may only have
    /// timestamps that run too fast.
    package func lead(at now: Int64) -> Int64 {
        guard let video = self.video else { return self.audio?.lead(at: now) ?? 0 }
        guard let audio = self.audio else { return video.lead(at: now) }
        if self.isRacing {
            // While racing, the tracks are read by media time: a track that is far behind the other has a hole there,
            // or has ended.
            let ahead = (video.lead &+ video.arrival) &- (audio.lead &+ audio.arrival)
            if ahead > Self.mostApart { return video.lead(at: now) }
            if ahead < -Self.mostApart { return audio.lead(at: now) }
        }
        let apart = video.arrival &- audio.arrival
        if apart >= Self.silence || video.isRegular && !audio.isRegular { return video.lead(at: now) }
        if apart <= -Self.silence || audio.isRegular && !video.isRegular { return audio.lead(at: now) }
        return min(video.lead(at: now), audio.lead(at: now))
    }

    /// Decides whether the publisher is to be read.
    ///
    /// - Parameter waiting: Bytes waiting to be decoded.
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

    /// - Parameter other: The other track of the publication while it is racing: a track that begins, or continues
    ///   after a hole, does so in step with it.
    private static func advance(
        _ line: inout Line?, _ track: UInt8, _ dts: Int64, _ arrival: Int64, beside other: Line?, _ isRacing: Bool
    ) {
        guard var known = line, known.track == track || arrival &- known.arrival >= Self.silence else {
            // Further tracks have timestamps of the same clock as the first.
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
        // Forgiveness counts for one second of a silence at most: after a stall, the packets that follow only catch up.
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
