package import MediaTypes

/// How far what a publisher sends is ahead of the time it has taken, and whether it is to be read on. Pure; times are nanoseconds
/// of one monotonic clock.
///
/// Nothing is asked of a publisher in real time: a clock that is a little fast is forgiven by ``forgiveness``, what comes at once
/// behind a stall of the network only makes up for it, and so does what a server has cached when we begin to play from it. But
/// whoever sends a file as fast as the network takes it is ahead by more and more. From then on it is *racing*: it is read
/// ``lead`` ahead of the time and no more, and its packets count as having come when they would have come in real time. So its
/// picture and its sound run evenly, however it is read.
///
/// States: usual → racing (until the publication ends). In both, held (it is not to be read) ⇄ read.
package struct PublisherPace: Sendable {
    /// By how much more than the time may pass in a second: ten times what the worst clocks are off by.
    static let forgiveness: Int64 = 50
    /// The same while it is racing, where it is a drift that the source's timeline follows without a seam: of its pictures one in
    /// 83 s is left out for it.
    static let racingForgiveness: Int64 = 2_500
    /// Ahead by more than this, and by more with each of the last two GOPs, it is racing.
    package static let patience: Int64 = 5_000_000_000
    /// Ahead by more than this it is, whatever its GOPs: no server caches more than ten seconds.
    package static let longestPatience: Int64 = 12_000_000_000
    /// While racing it is held when it is ahead by more than `most`, and read again below `least`. It is read in pieces of hundreds of
    /// milliseconds, and what is not read in time is missed.
    package static let lead: (least: Int64, most: Int64) = (1_750_000_000, 2_000_000_000)
    /// The same in bytes that wait, but for those of an offset: three quarters of ``PacketBacklog/limit``, so that the rest takes what
    /// is on its way.
    package static let bytes: (least: Int, most: Int) = (16 << 20, 24 << 20)
    /// Packets count as having come by no more than this later: what has been read ahead is shown to its end when the publication
    /// is over, and the next one waits for it.
    static let longestLead: Int64 = 30_000_000_000
    /// By its own track's lead, that is, and no more than this beyond the other one's: far more than tracks are interleaved by.
    static let mostApart: Int64 = 500_000_000
    /// Steps of a track's time that are longer than this are gaps or jumps, and say nothing of its rate.
    static let longestStep: Int64 = 1_000_000_000
    /// A track that has been silent for this long is not asked.
    static let silence: Int64 = 3_000_000_000

    private struct Line: Sendable {
        var track: UInt8
        var dts: Int64
        var arrival: Int64
        /// At `arrival`.
        var lead: Int64 = 0
        /// Its last step says something of its rate.
        var isRegular = true

        func lead(at now: Int64) -> Int64 { self.lead &- max(0, now &- self.arrival) }
    }

    private var video: Line?
    private var audio: Line?
    private var lastKey: Int64?
    /// GOPs in a row in which it got further ahead.
    private var growing = 0
    package private(set) var isRacing = false
    package private(set) var isHeld = false

    package init() {}

    /// Takes note of a packet.
    ///
    /// - Returns: When it would have come in real time: its arrival, or later.
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
            // What is here has been shown, as far as anybody has seen it: the time goes on from it.
            self.isRacing = true
            self.video?.lead &-= lead
            self.audio?.lead &-= lead
            return arrival
        }
        let own = (packet.kind == .video ? self.video : self.audio)?.lead(at: arrival) ?? lead
        return arrival &+ min(max(0, min(own, lead &+ Self.mostApart)), Self.longestLead)
    }

    /// The publication is over.
    package mutating func end() {
        let isHeld = self.isHeld
        self = PublisherPace()
        self.isHeld = isHeld
    }

    /// How far ahead it is now: the track that is least so. One whose timestamps run too fast is none of the network's business.
    package func lead(at now: Int64) -> Int64 {
        guard let video = self.video else { return self.audio?.lead(at: now) ?? 0 }
        guard let audio = self.audio else { return video.lead(at: now) }
        if self.isRacing {
            // It is read by media time: a track that has stayed behind the other one has a hole there, or is over.
            let ahead = (video.lead &+ video.arrival) &- (audio.lead &+ audio.arrival)
            if ahead > Self.mostApart { return video.lead(at: now) }
            if ahead < -Self.mostApart { return audio.lead(at: now) }
        }
        let apart = video.arrival &- audio.arrival
        if apart >= Self.silence || video.isRegular && !audio.isRegular { return video.lead(at: now) }
        if apart <= -Self.silence || audio.isRegular && !video.isRegular { return audio.lead(at: now) }
        return min(video.lead(at: now), audio.lead(at: now))
    }

    /// Looks whether it is to be read.
    ///
    /// - Parameter waiting: Bytes that wait for their decoding.
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

    /// - Parameter other: Of the same publication's other track while it is racing: one that begins, or goes on behind a hole,
    ///   does so in step with it.
    private static func advance(
        _ line: inout Line?, _ track: UInt8, _ dts: Int64, _ arrival: Int64, beside other: Line?, _ isRacing: Bool
    ) {
        guard var known = line, known.track == track || arrival &- known.arrival >= Self.silence else {
            // Further tracks are stamped by the clock of the first one.
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
        // A long silence is a stall, which what comes next makes up for; nothing of it is forgiven.
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
