import DequeModule
package import MediaTypes

/// The closed captions of one source on their way to the program's frames: a pure value.
///
/// Captions are added with the source's frames, in decoding order, and taken once, in presentation order, at the rate of
/// the program. A program with fewer frames per second than the source carries more pairs in each of them: up to
/// `cc_count` of its rate in all (20 at 30 frames per second, 25 at 24), and 30 pairs of CEA-608 a second in each field.
///
/// Spec: ANSI/CTA-708 §4.3.
package struct CaptionQueue: Sendable {
    /// Maximum number of frames whose captions wait for their tick. Beyond it those of the earliest frame are dropped.
    private static let mostFrames = 2_048
    /// Maximum number of CEA-608 pairs that are due and wait for a frame with space: 4 seconds of both fields. Beyond it
    /// the oldest are dropped.
    private static let mostLine21 = 240
    /// Maximum number of CEA-708 pairs that are due and wait for a frame with space: about 4 seconds. Beyond it all of
    /// them are dropped, and further ones up to the next beginning of a packet.
    private static let mostDigital = 2_048
    /// Pairs per second: in all (`rate`), and of CEA-608 in each field (`fieldRate`).
    private static let (rate, fieldRate): (Int, Int) = (600, 30)

    private struct Frame: Sendable {
        var pts: Int64
        var pairs: [CaptionPair]
    }

    private let fps: Int
    private let isOffline: Bool
    private var frames: [Frame] = []
    private var line21 = Deque<CaptionPair>()
    private var digital = Deque<CaptionPair>()
    /// Credit of each CEA-608 field for sending pairs: each tick adds ``fieldRate``, a pair costs `fps`.
    private var credit: (Int, Int)
    /// The last pair of each field that was queued.
    private var last: (CaptionPair?, CaptionPair?) = (nil, nil)
    /// Whether CEA-708 is dropped up to the beginning of a packet, because what precedes it is missing.
    private var awaitsStart = true
    /// Number of pairs that were dropped because too many waited.
    package private(set) var dropped = 0

    /// - Parameters:
    ///   - fps: Frames per second of the program.
    ///   - isOffline: Whether the program waits for its files: then a tick has the captions of the frames up to its
    ///     time, which have all arrived, so that every run is the same. Otherwise captions belong to the tick that is
    ///     nearest to the time of their frame.
    package init(fps: Int, isOffline: Bool = false) {
        self.fps = max(1, fps)
        self.isOffline = isOffline
        // Above 30 frames per second, the fields take turns.
        self.credit = (max(0, self.fps - Self.fieldRate), max(0, self.fps - Self.fieldRate) / 2)
    }

    /// Maximum number of pairs in one frame.
    package var mostPairs: Int { min(CaptionMessage.mostPairs, (Self.rate + self.fps - 1) / self.fps) }

    /// Whether no captions wait.
    package var isEmpty: Bool { self.frames.isEmpty && self.line21.isEmpty && self.digital.isEmpty }

    /// Adds the captions of the next frame in decoding order.
    ///
    /// - Parameter pts: Program time at which the frame is due, in nanoseconds.
    package mutating func add(_ pairs: [CaptionPair], pts: Int64) {
        guard !pairs.isEmpty else { return }
        var place = self.frames.endIndex
        while place > 0, self.frames[place - 1].pts > pts { place -= 1 }
        self.frames.insert(Frame(pts: pts, pairs: pairs), at: place)
        if self.frames.count > Self.mostFrames { self.dropped += self.frames.removeFirst().pairs.count }
    }

    /// Removes and returns the pairs for the frame of `tick`, CEA-608 first.
    package mutating func take(at tick: Int64) -> [CaptionPair] {
        self.advance(to: tick)
        let most = max(self.fps, Self.fieldRate) * 2
        self.credit.0 = min(self.credit.0 + Self.fieldRate, most)
        self.credit.1 = min(self.credit.1 + Self.fieldRate, most)
        var taken: [CaptionPair] = []
        while taken.count < self.mostPairs, let pair = self.line21.first, self.pay(for: pair) {
            taken.append(pair)
            self.line21.removeFirst()
        }
        while taken.count < self.mostPairs, let pair = self.digital.popFirst() { taken.append(pair) }
        return taken
    }

    /// Puts pairs back that ``take(at:)`` has returned last, because their frame was lost.
    package mutating func putBack(_ pairs: [CaptionPair]) {
        for pair in pairs.reversed() {
            switch pair.kind {
            case .field1: self.credit.0 += self.fps
            case .field2: self.credit.1 += self.fps
            case .start, .continuation:
                self.digital.prepend(pair)
                continue
            }
            self.line21.prepend(pair)
        }
        self.limit()
    }

    /// Drops the captions of all frames up to a tick. CEA-708 then begins again with the next packet.
    package mutating func discard(through tick: Int64) {
        let count = self.dueCount(at: tick)
        guard count > 0 || !self.line21.isEmpty || !self.digital.isEmpty else { return }
        self.frames.removeFirst(count)
        self.line21.removeAll(keepingCapacity: true)
        self.digital.removeAll(keepingCapacity: true)
        self.last = (nil, nil)
        self.awaitsStart = true
    }

    /// Number of frames that are due at a tick or before it.
    private func dueCount(at tick: Int64) -> Int {
        let last =
            self.isOffline
            ? TimeMath.scale(tick, by: TimeMath.nanoseconds, over: Int64(self.fps))
            : TimeMath.scale(tick &* 2 &+ 1, by: TimeMath.nanoseconds, over: Int64(self.fps) * 2)
        return self.frames.firstIndex { $0.pts > last } ?? self.frames.count
    }

    private mutating func advance(to tick: Int64) {
        let count = self.dueCount(at: tick)
        guard count > 0 else { return }
        for frame in self.frames[..<count] {
            for pair in frame.pairs { self.queue(pair) }
        }
        self.frames.removeFirst(count)
        self.limit()
    }

    private mutating func queue(_ pair: CaptionPair) {
        switch pair.kind {
        case .field1:
            // Filler is kept only behind a control code, where it separates two equal ones.
            if pair.isFiller, self.last.0?.isControl != true { return }
            self.last.0 = pair
            self.line21.append(pair)
        case .field2:
            if pair.isFiller, self.last.1?.isControl != true { return }
            self.last.1 = pair
            self.line21.append(pair)
        case .start, .continuation:
            if pair.kind == .start { self.awaitsStart = false }
            if !self.awaitsStart { self.digital.append(pair) }
        }
    }

    private mutating func limit() {
        let excess = self.line21.count - Self.mostLine21
        if excess > 0 {
            self.line21.removeFirst(excess)
            self.dropped += excess
        }
        if self.digital.count > Self.mostDigital {
            self.dropped += self.digital.count
            self.digital.removeAll(keepingCapacity: true)
            self.awaitsStart = true
        }
    }

    /// Whether the field of a CEA-608 pair may send it now; if so, its credit is reduced.
    private mutating func pay(for pair: CaptionPair) -> Bool {
        if pair.kind == .field1 {
            guard self.credit.0 >= self.fps else { return false }
            self.credit.0 -= self.fps
        } else {
            guard self.credit.1 >= self.fps else { return false }
            self.credit.1 -= self.fps
        }
        return true
    }
}
