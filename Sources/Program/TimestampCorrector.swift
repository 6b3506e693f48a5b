/// Detects jumps, resets and frozen timestamps of one track and holds the shift that corrects them, so that the track's
/// timestamps advance like the arrivals. Small steps back and gaps are kept as the publisher sent them. The caller sets
/// the shift after a jump (``move(by:)``).
///
/// Spec: RTMP 1.0 §4 (timestamps are relative to an arbitrary epoch). All times in nanoseconds.
struct TimestampCorrector: Sendable {
    /// Timestamps have jumped if they advance by more than this from one packet to the next, and by more than
    /// ``jumpGain`` more than the arrivals.
    static let jumpForward: Int64 = 3_000_000_000
    /// How much more than the arrivals timestamps must advance from one packet to the next to count as a jump, in
    /// nanoseconds; see ``jumpForward``.
    static let jumpGain: Int64 = 1_500_000_000
    /// A step back by more than this is a reset; smaller ones are reordering.
    static let jumpBack: Int64 = 1_000_000_000
    /// Timestamps that stay equal for this long, in nanoseconds, are frozen. Some muxers clip negative times to 0, so
    /// that a few packets share one timestamp; but those packets arrive at once.
    static let standPatience: Int64 = 300_000_000

    private(set) var last: (dts: Int64, arrival: Int64)?
    /// The first packet since the beginning or the last jump.
    private(set) var first: (dts: Int64, arrival: Int64)?
    /// Number of packets since ``first``, including it.
    private(set) var count = 0
    /// Value that is added to every timestamp of the track.
    private(set) var shift: Int64 = 0
    var delays = DelayWindow()
    /// Delay of the newest packet: its arrival minus its corrected timestamp.
    var delay: Int64 = 0
    /// Current run of late packets: arrival and delay of its first packet, and the smallest delay of the run. `nil` if
    /// the last packet was in time.
    var late: (since: Int64, delay: Int64, least: Int64)?

    private var stoodSince: Int64?
    /// The part of ``shift`` that was added because the timestamps are frozen.
    private var stood: Int64 = 0

    /// Processes the next timestamp.
    ///
    /// - Returns: If the timestamp jumped: by how much it advanced more than the arrivals, negative for a reset;
    ///   otherwise `nil`.
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
            // If timestamps were frozen and have returned to where they would have been, undo the correction.
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

    /// Adds to the shift of all following timestamps.
    mutating func move(by shift: Int64) { self.shift &+= shift }

    /// Sets the shift to that of the other track of the source, which shares its clock.
    mutating func join(shift: Int64) { self.shift = shift }
}
