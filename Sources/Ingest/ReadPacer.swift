/// When the kernel tells of a publisher's bytes: not of each packet, but when there is something to be done.
///
/// What it costs to take a publisher in is wake-ups and system calls, not bytes. So a socket counts as readable only when
/// as many bytes are there as its publisher sends in a moment (the mark, `SO_RCVLOWAT`): a picture at once, and the sound
/// before it together with it. What is too little for that is read when it has waited for ``patience``.
///
/// Pure. Invariants: (1) the mark is never more than what the message that is being read still lacks, so the end of a
/// picture is never waited with; (2) after ``waited(now:)`` has given 1, anything that comes is told at once.
package struct ReadPacer: Sendable {
    /// The largest mark, in bytes: half of what one read takes.
    package static let mostBytes = 32 << 10
    /// Under this much a mark saves nothing.
    private static let leastBytes = 64
    /// Over which the publisher's rate is taken; the first one is longer, because the source's timeline learns from the
    /// arrivals at its beginning what the way costs.
    private static let window: Int64 = 500_000_000
    private static let firstWindow: Int64 = 2_000_000_000

    /// Nanoseconds for which bytes may wait at most, but for the interval in which ``waited(now:)`` is asked; 0: for none.
    package let patience: Int64
    /// Bytes that have to be there before the socket counts as readable, as it was last given out.
    package private(set) var mark = 1
    private var usual = 1
    private var began: Int64
    private var bytes = 0
    private var isFirst = true
    private var lastRead: Int64

    package init(patience: Int64, now: Int64) {
        self.patience = max(0, patience)
        self.began = now
        self.lastRead = now
    }

    /// Bytes have been read.
    ///
    /// - Parameter missing: Bytes that the message in progress still lacks; 0 between two messages.
    /// - Returns: The mark to be set; nil: it is set already.
    package mutating func received(_ count: Int, missing: Int, now: Int64) -> Int? {
        guard self.patience > 0 else { return nil }
        self.lastRead = now
        self.bytes += count
        let elapsed = now &- self.began
        if elapsed >= (self.isFirst ? Self.firstWindow : Self.window) {
            self.usual = Self.mark(bytes: self.bytes, in: elapsed, patience: self.patience)
            self.isFirst = false
            self.began = now
            self.bytes = 0
        }
        return self.set(missing > 0 ? min(self.usual, missing) : self.usual)
    }

    /// Asked now and then.
    ///
    /// - Returns: 1, to be set as the mark, when bytes may have waited for ``patience``; nil: nothing is to be done.
    package mutating func waited(now: Int64) -> Int? {
        self.mark > 1 && now &- self.lastRead >= self.patience ? self.set(1) : nil
    }

    private mutating func set(_ mark: Int) -> Int? {
        guard mark != self.mark else { return nil }
        self.mark = mark
        return mark
    }

    /// What comes in half of the patience: less than a picture at 50 and less a second, more than the sound in between. A power
    /// of two, so that it seldom changes.
    private static func mark(bytes: Int, in elapsed: Int64, patience: Int64) -> Int {
        let wanted = Int64(clamping: bytes).multipliedReportingOverflow(by: patience / 2)
        let amount = wanted.overflow ? .max : wanted.partialValue / max(1, elapsed)
        guard amount >= Int64(Self.leastBytes) else { return 1 }
        return min(Self.mostBytes, 1 << (63 - amount.leadingZeroBitCount))
    }
}
