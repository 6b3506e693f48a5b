package import MediaTypes

/// Measures how the packets of one publication arrive, from one call of ``take(now:)`` to the next. Pure; times are
/// nanoseconds.
package struct ArrivalMeter: Sendable {
    /// What arrived since the last call of ``take(now:)``.
    package struct Reading: Sendable, Equatable {
        /// Length of the time that the reading covers.
        package var span: Int64 = 0
        package var pictures = 0
        package var sounds = 0
        /// Bytes of the video packets.
        package var pictureBytes = 0
        /// Longest time between the arrivals of two frames, and of two audio packets; includes the gap that has not
        /// ended yet.
        package var pictureGap: Int64 = 0
        package var soundGap: Int64 = 0
        /// Longest delay of a frame, or of an audio packet, relative to the packet before it: the time between their
        /// arrivals less the time between their timestamps. The network causes it, not the encoder.
        package var pictureHeld: Int64 = 0
        package var soundHeld: Int64 = 0
        /// Media time between consecutive frames, and the time between their arrivals. Both leave out pauses longer
        /// than ``pause`` and jumps of the timestamps. ``pictureSteps`` is the number of intervals counted.
        package var pictureTime: Int64 = 0
        package var pictureSpan: Int64 = 0
        package var pictureSteps = 0
        /// Longest media time between key frames, including the interval that has not ended yet; pauses longer than
        /// ``pause`` are left out.
        package var keyGap: Int64 = 0
        /// The same without the times in which the image did not move.
        package var movingKeyGap: Int64 = 0
        /// Least difference between a packet's arrival and its timestamp; only differences between two of these values
        /// are meaningful.
        package var pictureDelay: Int64?
        package var soundDelay: Int64?
        /// Whether the timestamps of a track jumped or restarted: delays from before cannot be compared with those
        /// after.
        package var isRenumbered = false

        package init() {}
    }

    /// Frames further apart than this come from an image that does not move, for which an encoder may send one or two
    /// frames a second.
    static let stillness: Int64 = 300_000_000
    /// If timestamps advance by more than this, then the publisher paused.
    package static let pause: Int64 = 1_500_000_000

    /// Timestamps that go back by more than this have restarted.
    private static let jumpBack: Int64 = 1_000_000_000
    /// Timestamps that advance by more than this, and by more than ``jumpGain`` beyond the time that has passed, have
    /// jumped.
    private static let jumpForward: Int64 = 3_000_000_000
    private static let jumpGain: Int64 = 1_500_000_000

    private var reading = Reading()
    private var since: Int64?
    private var lastPicture: Int64?
    private var lastSound: Int64?
    /// The timestamps of the last frame and the last audio packet.
    private var pictureTime: Int64?
    private var soundTime: Int64?
    /// Media time since the last key frame, and the same without the times in which the image did not move; `nil`
    /// before the first key frame.
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

    /// Media time from one packet to the next; `nil` if the timestamps jump or go back.
    private static func step(from last: Int64?, to dts: Int64) -> Int64? {
        guard let last else { return nil }
        let (step, overflows) = dts.subtractingReportingOverflow(last)
        return !overflows && (0...Self.jumpForward).contains(step) ? step : nil
    }

    private mutating func noteStep(from last: Int64?, to dts: Int64, passed: Int64) {
        guard let step = Self.step(from: last, to: dts) else { return }
        self.reading.pictureHeld = max(self.reading.pictureHeld, passed &- step)
        // Equal timestamps do not measure time, and longer steps are pauses.
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

    /// The source's timeline uses the same rule to align the tracks anew.
    private mutating func noteNumbering(from last: Int64?, to dts: Int64, passed: Int64) {
        guard let last else { return }
        let step = dts &- last
        let hasRun = step > Self.jumpForward && step &- max(0, passed) > Self.jumpGain
        guard hasRun || step < -Self.jumpBack else { return }
        self.reading.isRenumbered = true
        self.reading.pictureDelay = nil
        self.reading.soundDelay = nil
    }

    /// Returns what has arrived since the last call, and starts a new reading; `nil` before the first packet.
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
