/// When the kernel tells of a publisher's bytes: not of each packet, but when there is something to be done.
///
/// What it costs to take a publisher in is wake-ups and system calls, not bytes. So a socket counts as readable only when
/// as many bytes are there as its publisher sends in a moment (the mark, `SO_RCVLOWAT`): a picture at once, and the sound
/// before it together with it. What is too little for that is read when it has waited for the patience. A source that is away
/// is read by the clock instead, at its own turns of the grid, without being told: several pictures at a time, and many publishers
/// at the same time. Its mark is out of reach then, of all but those who send much more than before.
///
/// Pure. Invariants: (1) while the source is not away, the mark is never more than what the message that is being read still
/// lacks, so the end of a picture is never waited with; (2) after ``told()``, anything that comes is told at once; (3) nothing
/// waits for longer than the patience and one turn, and of a source that is away than the patience.
package struct ReadPacer: Sendable {
    /// What a turn of the grid asks for.
    package enum Turn: Sendable, Hashable {
        case nothing
        /// Bytes have waited for long enough: the socket is to tell of any; see ``told()``.
        case tell
        /// What has come is to be read.
        case read
    }

    /// The largest mark, in bytes: half of what one read takes.
    package static let mostBytes = 64 << 10
    /// Under this much a mark saves nothing.
    private static let leastBytes = 64
    /// Over which the publisher's rate is taken; the first one is longer, because the source's timeline learns from the
    /// arrivals at its beginning what the way costs. Half as long is enough where it does not show: all turns are read meanwhile.
    private static let window: Int64 = 500_000_000
    private static let firstWindow: Int64 = 2_000_000_000
    private static let firstWindowAway: Int64 = 1_000_000_000

    package let patience: ReadPatience
    /// Bytes that have to be there before the socket counts as readable, as it was last given out.
    package private(set) var mark = 1
    /// The source is away.
    package private(set) var isAway = false
    /// Every how many turns it is looked after while it is away, and at which of them.
    private let turns: Int
    private let turn: Int
    /// Its patience lasts for a turn.
    private let mayBeAway: Bool
    private var usual = 1
    private var distant = Self.mostBytes
    private var began: Int64
    private var bytes = 0
    private var isFirst = true
    private var lastRead: Int64

    /// - Parameters:
    ///   - number: Of the connection: not all of them have their turn at the same time.
    ///   - interval: Nanoseconds from one turn to the next.
    package init(patience: ReadPatience, number: Int, interval: Int64, now: Int64) {
        self.patience = patience
        self.mayBeAway = patience.away > patience.usual && patience.away >= interval
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
        self.isAway = isAway && self.mayBeAway
        self.lastRead = now
        self.bytes += count
        let elapsed = now &- self.began
        if elapsed >= self.span {
            self.usual = Self.mark(bytes: self.bytes, in: elapsed, patience: self.patience.usual)
            self.distant = Self.distant(bytes: self.bytes, in: elapsed, patience: self.patience.away)
            self.isFirst = false
            self.began = now
            self.bytes = 0
        }
        if self.isAway { return self.set(self.distant) }
        return self.set(missing > 0 ? min(self.usual, missing) : self.usual)
    }

    /// Asked at every turn of the grid.
    package func looked(turn: Int, now: @autoclosure () -> Int64) -> Turn {
        if self.isAway { return self.isFirst || turn % self.turns == self.turn ? .read : .nothing }
        return self.mark > 1 && now() &- self.lastRead >= self.patience.usual ? .tell : .nothing
    }

    /// From now on the socket tells of whatever comes.
    ///
    /// - Returns: The mark to be set; nil: it is set already.
    package mutating func told() -> Int? { self.set(1) }

    /// Nanoseconds over which the rate is taken now.
    private var span: Int64 {
        if !self.isFirst { return Self.window }
        return self.isAway ? Self.firstWindowAway : Self.firstWindow
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

    /// At least twice what comes in the patience: the clock reads that, and a publisher that grows faster is told of before. A
    /// power of two as well.
    private static func distant(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let amount = self.amount(bytes: bytes, in: elapsed, patience: patience)
        let twice = 2 * min(Self.mostBytes / 2, max(Self.leastBytes, amount))
        return 1 << (Int.bitWidth - (twice - 1).leadingZeroBitCount)
    }

    /// Bytes that come in `patience`.
    private static func amount(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let wanted = Int64(clamping: bytes).multipliedReportingOverflow(by: patience)
        return Int(clamping: wanted.overflow ? .max : wanted.partialValue / max(1, elapsed))
    }
}
