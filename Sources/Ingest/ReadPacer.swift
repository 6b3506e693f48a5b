/// When the kernel tells of a publisher's bytes: not of each packet, but when there is something to be done.
///
/// What it costs to take a publisher in is wake-ups and system calls, not bytes. So a socket counts as readable only when
/// as many bytes are there as its publisher sends in a moment (the mark, `SO_RCVLOWAT`): a picture at once, and the sound
/// before it together with it. What is too little for that is read when it has waited for the patience. A source that is away
/// is read by the clock instead, at its own turns of the grid, without being told: as seldom as its patience allows and a read is not
/// too large, for each read costs the same, whatever it brings. Its mark is out of reach then, of all but those who send much more
/// than before; and Linux makes the receive window large enough for the mark, so that nobody is kept waiting by a full one.
///
/// Pure. Invariants: (1) while the source is not away, the mark is never more than what the message that is being read still
/// lacks, so the end of a picture is never waited with; (2) after ``told()``, anything that comes is told at once; (3) nothing
/// waits for longer than the patience and one turn, and of a source that is away than the patience; (4) a source that is away and
/// had nothing when it was looked at is looked at with every turn until something comes, so its silence is known as it was.
package struct ReadPacer: Sendable {
    /// What a turn of the grid asks for.
    package enum Turn: Sendable, Hashable {
        case nothing
        /// Bytes have waited for long enough: the socket is to tell of any; see ``told()``.
        case tell
        /// What has come is to be read.
        case read
    }

    /// What one read takes, in bytes.
    package static let readBytes = 128 << 10
    /// The largest mark of what is not away, and about what a read by the clock brings at most, in bytes: half of what it takes,
    /// since a key picture is several times as large as the others.
    package static let mostBytes = readBytes / 2
    /// The mark of what is away, in bytes: four times what is read at a time, and so is the receive window that comes with it.
    /// Always the same, since to set it costs as much as a read.
    ///
    /// Spec: `tcp_set_rcvlowat` of Linux.
    package static let distantBytes = 4 * mostBytes
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
    /// Not all connections have their turn at the same time.
    private let number: UInt
    private let interval: Int64
    /// Its patience lasts for a turn.
    private let mayBeAway: Bool
    /// Every how many turns it is looked after while it is away, for its rate; at most what its patience allows.
    private var turns: UInt
    private let mostTurns: UInt
    /// While it is away: its next turn is the next one of the grid.
    private var isNext = false
    private var usual = 1
    private var began: Int64
    private var bytes = 0
    private var isFirst = true
    private var lastRead: Int64

    /// - Parameters:
    ///   - number: Of the connection: not all of them have their turn at the same time.
    ///   - interval: Nanoseconds from one turn to the next.
    package init(patience: ReadPatience, number: Int, interval: Int64, now: Int64) {
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

    /// Bytes have been read.
    ///
    /// - Parameters:
    ///   - missing: Bytes that the message in progress still lacks; 0 between two messages.
    ///   - isAway: Nobody sees or hears the source.
    /// - Returns: The mark to be set; nil: it is set already.
    package mutating func received(_ count: Int, missing: Int, isAway: Bool, now: Int64) -> Int? {
        guard self.patience.usual > 0 else { return nil }
        self.isAway = isAway && self.mayBeAway
        // A full read may have left something.
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

    /// Asked at every turn of the grid.
    package func looked(turn: Int, now: @autoclosure () -> Int64) -> Turn {
        if self.isAway {
            let isDue = UInt(bitPattern: turn) % self.turns == self.number % self.turns
            return isDue || self.isFirst || self.isNext ? .read : .nothing
        }
        return self.mark > 1 && now() &- self.lastRead >= self.patience.usual ? .tell : .nothing
    }

    /// It was read, and there was nothing.
    package mutating func foundNothing() { self.isNext = true }

    /// From now on the socket tells of whatever comes.
    ///
    /// - Returns: The mark to be set; nil: it is set already.
    package mutating func told() -> Int? { self.set(1) }

    /// The source is not away any more, whatever was said with its last bytes: as ``told()``.
    package mutating func cameBack() -> Int? {
        self.isAway = false
        return self.told()
    }

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

    /// Bytes that come in `patience`.
    private static func amount(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let wanted = Int64(clamping: bytes).multipliedReportingOverflow(by: patience)
        return Int(clamping: wanted.overflow ? .max : wanted.partialValue / max(1, elapsed))
    }
}
