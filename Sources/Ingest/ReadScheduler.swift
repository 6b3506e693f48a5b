import MediaTypes

/// Decides when a publisher's socket is read: not for every packet, but when there is enough to do.
///
/// The cost of ingest is wake-ups and system calls, not bytes. So the kernel reports a socket as readable only when it
/// holds as many bytes as the publisher sends in a short time (the mark, `SO_RCVLOWAT`). A video frame is then read at
/// once, together with the audio before it. Fewer bytes are read when they have waited as long as ``patience`` allows.
///
/// A source is *away* if no viewer sees or hears it. It is read on ``ReadTimer`` instead, at every *n*th tick, as
/// seldom as its patience and the size of a read allow, because each read costs the same however many bytes it returns.
/// Its mark is so high that only a publisher that sends much more than before reaches it. Linux makes the receive
/// window large enough for the mark, so no publisher is blocked by a full window.
///
/// Pure. Invariants: (1) while the source is not away, the mark is never more than what the message in progress still
/// lacks, so the end of a frame never waits; (2) after ``told()``, the socket reports anything that arrives at once;
/// (3) nothing waits for longer than the patience plus one tick, or the patience alone if the source is away; (4) if a
/// read of a source that is away finds no data, the source is read at every tick until data arrives, so that its
/// silence is measured exactly.
package struct ReadScheduler: Sendable {
    /// What to do with one publisher's socket at a tick of ``ReadTimer``.
    package enum Turn: Sendable, Hashable {
        case nothing
        /// Bytes may have waited for as long as they may: read them. If there are none, call ``ReadScheduler/told()``, so that
        /// the socket reports any data.
        case tell
        /// Read the data that has arrived on the socket.
        case read
    }

    /// Maximum number of bytes of one read.
    package static let readBytes = 128 << 10
    /// The highest low-water mark (`SO_RCVLOWAT`) of a source that a viewer sees or hears, and about the size of a read
    /// on the timer, in bytes. It is half of ``readBytes``, because a key frame is several times as large as the other
    /// frames.
    package static let mostBytes = readBytes / 2
    /// The low-water mark (`SO_RCVLOWAT`) of a source that no viewer sees or hears, in bytes: four times ``mostBytes``,
    /// which also makes the receive window that large. The mark is constant, because to set it costs as much as a
    /// read.
    ///
    /// Spec: `tcp_set_rcvlowat` of Linux.
    package static let distantBytes = 4 * mostBytes
    /// The lowest low-water mark, in bytes, that saves anything; below it the mark is 1.
    private static let leastBytes = 64
    /// Time over which the publisher's bit rate is measured, in nanoseconds. The first window is longer, because the
    /// source's timeline learns the network delay from the first arrivals. For a source that no viewer sees or hears,
    /// half of that is enough, because its socket is read at every tick meanwhile.
    private static let window: Int64 = 500_000_000
    private static let firstWindow: Int64 = 2_000_000_000
    private static let firstWindowAway: Int64 = 1_000_000_000

    package let patience: ReadDelayLimits
    /// The low-water mark last returned: number of bytes that must be in the socket before the kernel reports it as
    /// readable.
    package private(set) var mark = 1
    /// True if no viewer sees or hears the source; then its socket is read on the timer.
    package private(set) var isAway = false
    /// Number of the connection; it spreads the reads of many connections over the ticks of the timer.
    private let number: UInt
    private let interval: Int64
    /// True if the patience allows a source that no viewer sees or hears to be read on the timer: it is at least one
    /// tick, and longer than the usual wait.
    private let mayBeAway: Bool
    /// Number of ticks between two reads of a source that no viewer sees or hears. It depends on the source's bit rate
    /// and is at most ``mostTurns``.
    private var turns: UInt
    private let mostTurns: UInt
    /// True if the socket must be read at the next tick although its turn has not come; used only for a source that no
    /// viewer sees or hears.
    private var isNext = false
    private var usual = 1
    private var began: Int64
    private var bytes = 0
    private var isFirst = true
    private var lastRead: Int64

    /// Creates the scheduler of one publisher's socket.
    ///
    /// - Parameters:
    ///   - number: Number of the connection; it spreads the reads of many connections over the ticks.
    ///   - interval: Nanoseconds between two ticks of the timer.
    package init(patience: ReadDelayLimits, number: Int, interval: Int64, now: Int64) {
        let interval = max(1, interval)
        let most = UInt(clamping: max(1, patience.away / interval))
        self.patience = patience
        self.number = number.magnitude
        self.interval = interval
        self.mayBeAway = patience.away > patience.usual && patience.away >= interval
        self.mostTurns = most
        self.turns = most
        self.began = now
        self.lastRead = now
    }

    /// Records a read.
    ///
    /// - Parameters:
    ///   - missing: Bytes that the message in progress still lacks; 0 between two messages.
    ///   - isAway: No viewer sees or hears the source.
    /// - Returns: The mark to set; nil if it is set already, or if nothing may wait.
    package mutating func received(_ count: Int, missing: Int, isAway: Bool, now: Int64) -> Int? {
        guard self.patience.usual > 0 else { return nil }
        self.isAway = isAway && self.mayBeAway
        // A full read may have left data in the socket.
        self.isNext = count >= Self.readBytes
        self.lastRead = now
        self.bytes += count
        let elapsed = now &- self.began
        if elapsed >= self.span {
            self.usual = Self.mark(bytes: self.bytes, in: elapsed, patience: self.patience.usual)
            let inTurn = Self.amount(bytes: self.bytes, in: elapsed, patience: self.interval)
            self.turns = min(self.mostTurns, UInt(max(1, Self.mostBytes / max(1, inTurn))))
            self.isFirst = false
            self.began = now
            self.bytes = 0
        }
        if self.isAway { return self.set(Self.distantBytes) }
        return self.set(missing > 0 ? min(self.usual, missing) : self.usual)
    }

    /// Returns what to do at tick number `turn` of the timer.
    package func looked(turn: Int, now: @autoclosure () -> Int64) -> Turn {
        if self.isAway {
            let isDue = UInt(bitPattern: turn) % self.turns == self.number % self.turns
            return isDue || self.isFirst || self.isNext ? .read : .nothing
        }
        return self.mark > 1 && now() &- self.lastRead >= self.patience.usual ? .tell : .nothing
    }

    /// Number of ticks of the timer, at least 1, until ``looked(turn:now:)`` must be called again.
    ///
    /// A read in the meantime may leave bytes in the socket. They must not wait for longer than the patience plus one tick, so
    /// the result is at most that.
    package func ticksToWait(now: @autoclosure () -> Int64) -> Int {
        if self.isAway { return 1 }
        let most = self.patience.usual / self.interval &+ 1
        guard self.mark > 1 else { return Int(clamping: most) }
        let due = self.lastRead &+ self.patience.usual &- now()
        return Int(clamping: min(most, max(1, TimeMath.scale(due, by: 1, over: self.interval, rounding: .up))))
    }

    /// Records that a read on the timer found no data.
    package mutating func foundNothing() { self.isNext = true }

    /// Lowers the low-water mark to one byte, so that the socket reports any data from now on.
    ///
    /// - Returns: The mark to set; nil if it is set already.
    package mutating func told() -> Int? { self.set(1) }

    /// Records that a viewer sees or hears the source again; then does the same as ``told()``.
    package mutating func cameBack() -> Int? {
        self.isAway = false
        return self.told()
    }

    /// Time over which the rate is measured at present, in nanoseconds.
    private var span: Int64 {
        if !self.isFirst { return Self.window }
        return self.isAway ? Self.firstWindowAway : Self.firstWindow
    }

    private mutating func set(_ mark: Int) -> Int? {
        guard mark != self.mark else { return nil }
        self.mark = mark
        return mark
    }

    /// Returns a low-water mark: the bytes that arrive in half of the patience, rounded down to a power of two, so that the mark
    /// seldom changes; 1 for fewer than ``leastBytes``.
    private static func mark(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let amount = self.amount(bytes: bytes, in: elapsed, patience: patience / 2)
        guard amount >= Self.leastBytes else { return 1 }
        return min(Self.mostBytes, 1 << (Int.bitWidth - 1 - amount.leadingZeroBitCount))
    }

    /// Returns the number of bytes that arrive in `patience` nanoseconds at the measured rate.
    private static func amount(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let wanted = Int64(clamping: bytes).multipliedReportingOverflow(by: patience)
        return Int(clamping: wanted.overflow ? .max : wanted.partialValue / max(1, elapsed))
    }
}
