package import MediaTypes

/// When the decode thread of a source is woken for packets.
///
/// What is on air is woken for at once. A source nobody sees has nothing to do that cannot wait a little: its pictures are
/// kept as they came, and its sound is due when the jitter buffer says so. To wake a thread costs more than to take a packet
/// in, and a room has many more sources than it shows.
package struct WakeThrift: Sendable {
    /// The longest that packets of a hidden source wait for the thread's notice, in nanoseconds.
    package static let longest: Int64 = 50_000_000

    /// The longest sleep of the thread, in nanoseconds: it looks for packets by itself at least so often.
    package static let longestSleep: Int64 = 100_000_000

    /// What of the jitter buffer is left to the program's mixing ahead, a turn of the read grid and the next packets, which are
    /// what a wake-up comes with, in nanoseconds: 39, 19 and 40 ms.
    private static let reserve: Int64 = 100_000_000

    private let patience: Int64
    /// What is neither seen nor heard needs not be told of: the thread finds it early enough.
    private let findsByItself: Bool
    private var last: Int64?

    /// - Parameters:
    ///   - jitterBuffer: In nanoseconds. A fifth of it is spent in the socket; half of it may be spent here of a source that is
    ///     away.
    ///   - offset: Shows the source earlier where it is negative: so much less is left for a source that is heard.
    package init(jitterBuffer: Int64, offset: Int64 = 0) {
        let shown = max(0, jitterBuffer &+ min(0, offset))
        self.patience = min(Self.longest, max(0, shown / 5 * 4 &- Self.reserve))
        self.findsByItself = jitterBuffer / 2 >= Self.longestSleep
    }

    /// - Parameters:
    ///   - isHidden: Nobody sees the source.
    ///   - isAway: Nobody hears it either.
    /// - Returns: Whether the thread is to be woken for `items`.
    package mutating func wakes(for items: [SourceItem], isHidden: Bool, isAway: Bool) -> Bool {
        guard case .packet(let packet) = items.first, packet.arrival > 0 else { return true }
        // A change of format or the end is news, wherever it stands.
        let isNews = items.contains { if case .packet = $0 { false } else { true } }
        if isAway, !isNews, self.findsByItself { return false }
        if isHidden, !isNews, let last, packet.arrival &- last < self.patience, packet.arrival >= last { return false }
        self.last = packet.arrival
        return true
    }
}
