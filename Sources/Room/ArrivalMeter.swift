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
        /// Longest time from one key picture to the next; the one that runs included.
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

    /// Pictures further apart than this are those of a still screen.
    static let stillness: Int64 = 1_000_000_000

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
    private var lastKey: Int64?
    /// How long the picture has stood still since then.
    private var still: Int64 = 0

    package init() {}

    package mutating func note(_ kind: TrackKind, isKey: Bool, bytes: Int, dts: Int64, at arrival: Int64) {
        if self.since == nil { self.since = arrival }
        let delay = arrival &- dts
        switch kind {
        case .video:
            self.noteNumbering(from: self.pictureTime, to: dts, passed: arrival &- (self.lastPicture ?? arrival))
            self.pictureTime = dts
            if let last = self.lastPicture {
                self.reading.pictureGap = max(self.reading.pictureGap, arrival &- last)
                self.still &+= Self.stillTime(in: arrival &- last)
            }
            self.lastPicture = arrival
            self.reading.pictures += 1
            self.reading.pictureBytes &+= bytes
            self.reading.pictureDelay = min(self.reading.pictureDelay ?? delay, delay)
            guard isKey else { return }
            if let last = self.lastKey {
                self.reading.keyGap = max(self.reading.keyGap, arrival &- last)
                self.reading.movingKeyGap = max(self.reading.movingKeyGap, arrival &- last &- self.still)
            }
            self.lastKey = arrival
            self.still = 0
        case .audio:
            self.noteNumbering(from: self.soundTime, to: dts, passed: arrival &- (self.lastSound ?? arrival))
            self.soundTime = dts
            if let last = self.lastSound { self.reading.soundGap = max(self.reading.soundGap, arrival &- last) }
            self.lastSound = arrival
            self.reading.sounds += 1
            self.reading.soundDelay = min(self.reading.soundDelay ?? delay, delay)
        }
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
        var reading = self.reading
        reading.span = now &- since
        if let last = self.lastPicture { reading.pictureGap = max(reading.pictureGap, now &- last) }
        if let last = self.lastSound { reading.soundGap = max(reading.soundGap, now &- last) }
        if let last = self.lastKey {
            reading.keyGap = max(reading.keyGap, now &- last)
            let still = self.still &+ Self.stillTime(in: now &- (self.lastPicture ?? now))
            reading.movingKeyGap = max(reading.movingKeyGap, now &- last &- still)
        }
        self.reading = Reading()
        self.since = now
        return reading
    }

    private static func stillTime(in gap: Int64) -> Int64 { gap > Self.stillness ? gap : 0 }
}
