package import MediaTypes

/// How the packets of one publication arrive, counted from one look to the next. Pure; times are nanoseconds.
package struct ArrivalMeter: Sendable {
    /// Since the last look.
    package struct Reading: Sendable, Equatable {
        /// Time it covers.
        package var span: Int64 = 0
        package var pictures = 0
        package var sounds = 0
        /// Bytes of pictures.
        package var pictureBytes = 0
        /// Longest time from one picture to the next, and from one packet of sound to the next; the one that runs included.
        package var pictureGap: Int64 = 0
        package var soundGap: Int64 = 0
        /// Longest time by which a picture, or a packet of sound, came later behind the one before than its timestamp says: what the
        /// network, and not the encoder, has held up.
        package var pictureHeld: Int64 = 0
        package var soundHeld: Int64 = 0
        /// Media time between pictures that came, and the time between their arrivals; pauses of more than ``pause`` and jumps of
        /// the timestamps are left out of both. ``pictureSteps`` is the number of these times.
        package var pictureTime: Int64 = 0
        package var pictureSpan: Int64 = 0
        package var pictureSteps = 0
        /// Longest media time from one key picture to the next, the one that runs included, without pauses of more than
        /// ``pause``.
        package var keyGap: Int64 = 0
        /// The same without the times in which the picture stood still.
        package var movingKeyGap: Int64 = 0
        /// Least time from a packet's own time to its arrival; only differences of these mean something.
        package var pictureDelay: Int64?
        package var soundDelay: Int64?
        /// A track's timestamps jumped or began again: delays from before say nothing about those behind.
        package var isRenumbered = false

        package init() {}
    }

    /// Pictures further apart than this are those of a still screen, which sends one or two a second.
    static let stillness: Int64 = 300_000_000
    /// A publisher whose timestamps go on by more than this has sent nothing meanwhile.
    package static let pause: Int64 = 1_500_000_000

    /// Timestamps that go back by more than this begin again.
    private static let jumpBack: Int64 = 1_000_000_000
    /// Those that go on by more than this, and by more than ``jumpGain`` beyond the clock, have jumped.
    private static let jumpForward: Int64 = 3_000_000_000
    private static let jumpGain: Int64 = 1_500_000_000

    private var reading = Reading()
    private var since: Int64?
    private var lastPicture: Int64?
    private var lastSound: Int64?
    /// Their own times.
    private var pictureTime: Int64?
    private var soundTime: Int64?
    /// Media time since the last key picture, and that without the times in which the picture stood still; `nil` before the first.
    private var sinceKey: (all: Int64, moving: Int64)?

    package init() {}

    package mutating func note(_ kind: TrackKind, isKey: Bool, bytes: Int, dts: Int64, at arrival: Int64) {
        if self.since == nil { self.since = arrival }
        let delay = arrival &- dts
        switch kind {
        case .video:
            self.noteNumbering(from: self.pictureTime, to: dts, passed: arrival &- (self.lastPicture ?? arrival))
            if let last = self.lastPicture {
                let passed = arrival &- last
                self.reading.pictureGap = max(self.reading.pictureGap, passed)
                self.noteStep(from: self.pictureTime, to: dts, passed: passed)
            }
            self.pictureTime = dts
            self.lastPicture = arrival
            self.reading.pictures += 1
            self.reading.pictureBytes &+= bytes
            self.reading.pictureDelay = min(self.reading.pictureDelay ?? delay, delay)
            self.noteKeyGap()
            if isKey { self.sinceKey = (0, 0) }
        case .audio:
            self.noteNumbering(from: self.soundTime, to: dts, passed: arrival &- (self.lastSound ?? arrival))
            if let last = self.lastSound {
                let passed = arrival &- last
                self.reading.soundGap = max(self.reading.soundGap, passed)
                if let step = Self.step(from: self.soundTime, to: dts) {
                    self.reading.soundHeld = max(self.reading.soundHeld, passed &- step)
                }
            }
            self.soundTime = dts
            self.lastSound = arrival
            self.reading.sounds += 1
            self.reading.soundDelay = min(self.reading.soundDelay ?? delay, delay)
        }
    }

    /// Media time from one packet to the next; `nil` where the timestamps jump or go back.
    private static func step(from last: Int64?, to dts: Int64) -> Int64? {
        guard let last else { return nil }
        let (step, overflows) = dts.subtractingReportingOverflow(last)
        return !overflows && (0...Self.jumpForward).contains(step) ? step : nil
    }

    private mutating func noteStep(from last: Int64?, to dts: Int64, passed: Int64) {
        guard let step = Self.step(from: last, to: dts) else { return }
        self.reading.pictureHeld = max(self.reading.pictureHeld, passed &- step)
        // Timestamps that stand still say nothing of the time.
        guard (1...Self.pause).contains(step) else { return }
        self.reading.pictureTime &+= step
        self.reading.pictureSpan &+= passed
        self.reading.pictureSteps += 1
        guard let since = self.sinceKey else { return }
        self.sinceKey = (since.all &+ step, since.moving &+ (step > Self.stillness ? 0 : step))
    }

    private mutating func noteKeyGap() {
        guard let since = self.sinceKey else { return }
        self.reading.keyGap = max(self.reading.keyGap, since.all)
        self.reading.movingKeyGap = max(self.reading.movingKeyGap, since.moving)
    }

    /// As the source's timeline does, which lays the tracks beside one another anew then.
    private mutating func noteNumbering(from last: Int64?, to dts: Int64, passed: Int64) {
        guard let last else { return }
        let step = dts &- last
        let hasRun = step > Self.jumpForward && step &- max(0, passed) > Self.jumpGain
        guard hasRun || step < -Self.jumpBack else { return }
        self.reading.isRenumbered = true
        self.reading.pictureDelay = nil
        self.reading.soundDelay = nil
    }

    /// What has come since the last look; `nil` before the first packet.
    package mutating func take(now: Int64) -> Reading? {
        guard let since = self.since, now > since else { return nil }
        self.noteKeyGap()
        var reading = self.reading
        reading.span = now &- since
        if let last = self.lastPicture { reading.pictureGap = max(reading.pictureGap, now &- last) }
        if let last = self.lastSound { reading.soundGap = max(reading.soundGap, now &- last) }
        self.reading = Reading()
        self.since = now
        return reading
    }
}
