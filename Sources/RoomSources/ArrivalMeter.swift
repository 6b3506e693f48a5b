package import MediaTypes

/// Measures how the packets of one publication arrive, between two calls of ``take(now:)``. Pure; times are in
/// nanoseconds. A frame is a video packet.
package struct ArrivalMeter: Sendable {
    /// The measurements since the previous call of ``take(now:)``.
    package struct Reading: Sendable, Equatable {
        /// Length of the measured time, in nanoseconds.
        package var span: Int64 = 0
        package var frames = 0
        package var audioPackets = 0
        /// Number of bytes of the video packets.
        package var pictureBytes = 0
        /// Longest time between the arrivals of two consecutive frames; ``audioGap`` is that of two audio packets. Both
        /// include the gap that has not ended yet.
        package var videoGap: Int64 = 0
        package var audioGap: Int64 = 0
        /// Longest delay of a frame relative to the frame before it: the time between their arrivals less the time
        /// between their timestamps. It is caused by the network and not by the encoder. ``audioHeld`` is that of audio
        /// packets.
        package var videoHeld: Int64 = 0
        package var audioHeld: Int64 = 0
        /// Longest media time between two frames, jumps of the timestamps excluded; or the time since the last frame arrived,
        /// if that is longer.
        package var pictureStep: Int64 = 0
        /// Sum of the media time between consecutive frames; ``pictureSpan`` is the sum of the times between their
        /// arrivals. Both leave out pauses longer than ``pause`` and jumps of the timestamps. ``pictureSteps`` is the
        /// number of intervals counted.
        package var pictureTime: Int64 = 0
        package var pictureSpan: Int64 = 0
        package var pictureSteps = 0
        /// Longest media time from one key frame to the next, including the interval that has not ended yet. Times
        /// between two consecutive frames that are longer than ``pause`` are not counted in it.
        package var keyGap: Int64 = 0
        /// Longest media time between key frames without the times in which the image did not move.
        package var movingKeyGap: Int64 = 0
        /// Least difference between the arrival and the timestamp of a frame; ``audioDelay`` is that of audio packets.
        /// Only differences between two of these values are meaningful. nil if there was no packet since the previous call
        /// or since the last jump of the timestamps.
        package var videoDelay: Int64?
        package var audioDelay: Int64?
        /// Whether the timestamps of a track jumped or restarted, so that delays before and after that cannot be
        /// compared.
        package var isRenumbered = false

        package init() {}
    }

    /// If frames are further apart than this, then the image does not move: an encoder may then send only one or two
    /// frames per second.
    static let stillness: Int64 = 300_000_000
    /// If timestamps advance by more than this between two packets, then the publisher paused.
    package static let pause: Int64 = 1_500_000_000

    /// If timestamps go back by more than this, then they have restarted.
    private static let jumpBack: Int64 = 1_000_000_000
    /// If timestamps advance by more than this, and by more than `jumpGain` beyond the time that has passed, then they
    /// have jumped.
    private static let jumpForward: Int64 = 3_000_000_000
    private static let jumpGain: Int64 = 1_500_000_000

    private var reading = Reading()
    private var since: Int64?
    private var lastFrame: Int64?
    private var lastAudio: Int64?
    /// Timestamps of the last frame and of the last audio packet, in nanoseconds.
    private var pictureTime: Int64?
    private var audioTime: Int64?
    /// Media time since the last key frame; `moving` leaves out the times in which the image did not move. nil before
    /// the first key frame.
    private var sinceKey: (all: Int64, moving: Int64)?

    package init() {}

    /// Records a packet. Its timestamp `dts` and its `arrival` are in nanoseconds.
    package mutating func note(_ kind: TrackKind, isKey: Bool, bytes: Int, dts: Int64, at arrival: Int64) {
        if self.since == nil { self.since = arrival }
        let delay = arrival &- dts
        switch kind {
        case .video:
            self.noteNumbering(from: self.pictureTime, to: dts, passed: arrival &- (self.lastFrame ?? arrival))
            if let last = self.lastFrame {
                let passed = arrival &- last
                self.reading.videoGap = max(self.reading.videoGap, passed)
                self.noteStep(from: self.pictureTime, to: dts, passed: passed)
            }
            self.pictureTime = dts
            self.lastFrame = arrival
            self.reading.frames += 1
            self.reading.pictureBytes &+= bytes
            self.reading.videoDelay = min(self.reading.videoDelay ?? delay, delay)
            self.noteKeyGap()
            if isKey { self.sinceKey = (0, 0) }
        case .audio:
            self.noteNumbering(from: self.audioTime, to: dts, passed: arrival &- (self.lastAudio ?? arrival))
            if let last = self.lastAudio {
                let passed = arrival &- last
                self.reading.audioGap = max(self.reading.audioGap, passed)
                if let step = Self.step(from: self.audioTime, to: dts) {
                    self.reading.audioHeld = max(self.reading.audioHeld, passed &- step)
                }
            }
            self.audioTime = dts
            self.lastAudio = arrival
            self.reading.audioPackets += 1
            self.reading.audioDelay = min(self.reading.audioDelay ?? delay, delay)
        }
    }

    /// Media time from one packet to the next; nil if the timestamps jump or go back.
    private static func step(from last: Int64?, to dts: Int64) -> Int64? {
        guard let last else { return nil }
        let (step, overflows) = dts.subtractingReportingOverflow(last)
        return !overflows && (0...Self.jumpForward).contains(step) ? step : nil
    }

    private mutating func noteStep(from last: Int64?, to dts: Int64, passed: Int64) {
        guard let step = Self.step(from: last, to: dts) else { return }
        self.reading.videoHeld = max(self.reading.videoHeld, passed &- step)
        self.reading.pictureStep = max(self.reading.pictureStep, step)
        // Equal timestamps do not measure time, and longer intervals are pauses.
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

    /// Detects jumps of the timestamps by the rule after which the source's timeline aligns its tracks again.
    private mutating func noteNumbering(from last: Int64?, to dts: Int64, passed: Int64) {
        guard let last else { return }
        let step = dts &- last
        let hasRun = step > Self.jumpForward && step &- max(0, passed) > Self.jumpGain
        guard hasRun || step < -Self.jumpBack else { return }
        self.reading.isRenumbered = true
        self.reading.videoDelay = nil
        self.reading.audioDelay = nil
    }

    /// Returns the measurements since the last call, and starts new ones; nil before the first packet, and if no time has
    /// passed.
    package mutating func take(now: Int64) -> Reading? {
        guard let since = self.since, now > since else { return nil }
        self.noteKeyGap()
        var reading = self.reading
        reading.span = now &- since
        if let last = self.lastFrame {
            reading.videoGap = max(reading.videoGap, now &- last)
            reading.pictureStep = max(reading.pictureStep, now &- last)
        }
        if let last = self.lastAudio { reading.audioGap = max(reading.audioGap, now &- last) }
        self.reading = Reading()
        self.since = now
        return reading
    }
}
