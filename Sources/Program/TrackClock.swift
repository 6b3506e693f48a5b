/// The timestamps of one track, made to go on as the wall clock does: what jumps, is reset or stands still is put right
/// by a shift. Small steps back and gaps are the publisher's business and stay.
///
/// Spec: RTMP 1.0 §4 (timestamps are relative to an arbitrary epoch). All times in nanoseconds.
struct TrackClock: Sendable {
    /// Timestamps that go on by more than this while the wall clock went on by ``jumpGain`` less have jumped.
    static let jumpForward: Int64 = 3_000_000_000
    static let jumpGain: Int64 = 1_500_000_000
    /// A step back by more than this is a reset, not reordering.
    static let jumpBack: Int64 = 1_000_000_000
    /// Timestamps that are all equal for this long stand still. Some muxers cut negative times to 0, so that a few
    /// packets share one; those come at once.
    static let standPatience: Int64 = 300_000_000

    private(set) var last: (dts: Int64, arrival: Int64)?
    /// The first packet of this numbering: since the beginning or the last jump.
    private(set) var first: (dts: Int64, arrival: Int64)?
    /// Packets since ``first``.
    private(set) var count = 0
    /// Added to every timestamp.
    private(set) var shift: Int64 = 0
    var delays = DelayWindow()
    /// The delay of the newest packet.
    var delay: Int64 = 0
    /// Since when packets are too late without a break: arrival and delay of the first of them, and the least delay.
    var late: (since: Int64, delay: Int64, least: Int64)?

    private var stoodSince: Int64?
    /// What ``shift`` has been given because the timestamps stand still.
    private var stood: Int64 = 0

    /// Takes the next timestamp.
    ///
    /// - Returns: By how much it has run ahead of the wall clock, if that is a jump.
    mutating func advance(to dts: Int64, at arrival: Int64) -> Int64? {
        self.count += 1
        guard let last = self.last else {
            self.last = (dts, arrival)
            self.first = (dts, arrival)
            return nil
        }
        self.last = (dts, arrival)
        let step = dts &- last.dts
        if step == 0 {
            self.stand(at: arrival, since: last.arrival)
            return nil
        }
        if let since = self.stoodSince {
            defer { (self.stoodSince, self.stood) = (nil, 0) }
            // Timestamps that were frozen and now are where they would have been need no help any more.
            if self.stood > 0, (step &- (arrival &- since)).magnitude < UInt64(self.stood) / 2 {
                self.move(by: 0 &- self.stood)
                return nil
            }
        }
        let gained = step &- max(0, arrival &- last.arrival)
        guard step < -Self.jumpBack || (step > Self.jumpForward && gained > Self.jumpGain) else { return nil }
        self.first = (dts, arrival)
        self.count = 1
        return gained
    }

    private mutating func stand(at arrival: Int64, since before: Int64) {
        let since = self.stoodSince ?? before
        self.stoodSince = since
        let held = arrival &- since
        guard held >= Self.standPatience else { return }
        self.shift &+= held &- self.stood
        self.stood = held
    }

    /// Shifts the packets to come, without a word about those before.
    mutating func move(by shift: Int64) { self.shift &+= shift }

    /// Starts out with the shift of the other track: they share a clock.
    mutating func join(shift: Int64) { self.shift = shift }
}
