/// When the kernel tells of a publisher's bytes: not of each packet, but when there is something to be done.
///
/// What it costs to take a publisher in is wake-ups and system calls, not bytes. So a socket counts as readable only when
/// as many bytes are there as its publisher sends in a moment (the mark, `SO_RCVLOWAT`): a picture at once, and the sound
/// before it together with it. What is too little for that is read when it has waited for the patience. A source that is away
/// is read by the clock instead, at its own turns of the grid: several pictures at a time, and many publishers at the same time.
///
/// Pure. Invariants: (1) while the source is not away, the mark is never more than what the message that is being read still
/// lacks, so the end of a picture is never waited with; (2) after ``looked(turn:now:)`` has given 1, anything that comes is told
/// at once; (3) nothing waits for longer than the patience and one turn, and of a source that is away than the patience.
package struct ReadPacer: Sendable {
    /// The largest mark, in bytes: half of what one read takes.
    package static let mostBytes = 64 << 10
    /// Under this much a mark saves nothing.
    private static let leastBytes = 64
    /// Over which the publisher's rate is taken; the first one is longer, because the source's timeline learns from the
    /// arrivals at its beginning what the way costs.
    private static let window: Int64 = 500_000_000
    private static let firstWindow: Int64 = 2_000_000_000

    package let patience: ReadPatience
    /// Bytes that have to be there before the socket counts as readable, as it was last given out.
    package private(set) var mark = 1
    /// The source is away.
    package private(set) var isAway = false
    /// Every how many turns it is looked after while it is away, and at which of them.
    private let turns: Int
    private let turn: Int
    private var usual = 1
    private var distant = 1
    private var began: Int64
    private var bytes = 0
    private var isFirst = true
    private var lastRead: Int64

    /// - Parameters:
    ///   - number: Of the connection: not all of them have their turn at the same time.
    ///   - interval: Nanoseconds from one turn to the next.
    package init(patience: ReadPatience, number: Int, interval: Int64, now: Int64) {
        self.patience = patience
        self.turns = Int(clamping: max(1, patience.away / max(1, interval)))
        self.turn = Int(number.magnitude % UInt(self.turns))
        self.began = now
        self.lastRead = now
    }

    /// Bytes have been read.
    ///
    /// - Parameters:
    ///   - missing: Bytes that the message in progress still lacks; 0 between two messages.
    ///   - isAway: Nobody sees or hears the source.
    /// - Returns: The mark to be set; nil: it is set already.
    package mutating func received(_ count: Int, missing: Int, isAway: Bool, now: Int64) -> Int? {
        guard self.patience.usual > 0 else { return nil }
        self.isAway = isAway && self.patience.away > self.patience.usual
        self.lastRead = now
        self.bytes += count
        let elapsed = now &- self.began
        if elapsed >= (self.isFirst ? Self.firstWindow : Self.window) {
            self.usual = Self.mark(bytes: self.bytes, in: elapsed, patience: self.patience.usual)
            // Twice what is to be expected: the turn tells of it, and a publisher that grows faster is told before.
            let expected = Self.amount(bytes: self.bytes, in: elapsed, patience: self.patience.away)
            self.distant = expected < Self.leastBytes ? 1 : min(Self.mostBytes, 2 * min(expected, Self.mostBytes))
            self.isFirst = false
            self.began = now
            self.bytes = 0
        }
        if self.isAway { return self.set(self.distant) }
        return self.set(missing > 0 ? min(self.usual, missing) : self.usual)
    }

    /// Asked at every turn of the grid.
    ///
    /// - Returns: 1, to be set as the mark, when bytes have waited for long enough; nil: nothing is to be done.
    package mutating func looked(turn: Int, now: Int64) -> Int? {
        guard self.mark > 1 else { return nil }
        let isDue = self.isAway ? turn % self.turns == self.turn : now &- self.lastRead >= self.patience.usual
        return isDue ? self.set(1) : nil
    }

    private mutating func set(_ mark: Int) -> Int? {
        guard mark != self.mark else { return nil }
        self.mark = mark
        return mark
    }

    /// What comes in half of the patience: less than a picture at 50 and less a second, more than the sound in between. A power
    /// of two, so that it seldom changes.
    private static func mark(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let amount = self.amount(bytes: bytes, in: elapsed, patience: patience / 2)
        guard amount >= Self.leastBytes else { return 1 }
        return min(Self.mostBytes, 1 << (Int.bitWidth - 1 - amount.leadingZeroBitCount))
    }

    /// Bytes that come in `patience`.
    private static func amount(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let wanted = Int64(clamping: bytes).multipliedReportingOverflow(by: patience)
        return Int(clamping: wanted.overflow ? .max : wanted.partialValue / max(1, elapsed))
    }
}
