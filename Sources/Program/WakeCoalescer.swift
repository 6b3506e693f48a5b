package import MediaTypes

/// Decides when the decode thread of a source is woken for new packets.
///
/// The thread of a visible source is woken at once. The work of a hidden source can wait a little: its video packets are
/// only stored, and its audio is due only after the jitter buffer. Waking a thread costs more than storing a packet,
/// and a room has many more sources than it shows.
package struct WakeCoalescer: Sendable {
    /// The longest time after a wake-up in which new packets of a hidden source do not wake the thread, in nanoseconds, if
    /// its own check (``longestSleep``) is not early enough.
    package static let longest: Int64 = 50_000_000

    /// The longest sleep of the thread, in nanoseconds: it checks for packets at least this often without being woken.
    package static let longestSleep: Int64 = 100_000_000

    /// The part of the jitter buffer that must stay available, in nanoseconds.
    private static let reserve: Int64 = 100_000_000

    private let patience: Int64
    /// Whether the thread needs no wake-up for a source that is neither visible nor audible, because its own periodic
    /// check is early enough.
    private let findsByItself: Bool
    private var last: Int64?

    /// Creates the coalescer of one source.
    ///
    /// - Parameters:
    ///   - jitterBuffer: Jitter buffer of the source in nanoseconds. Packets may already have waited a fifth of it in
    ///     the socket.
    ///   - offset: Offset of the source in nanoseconds; a negative one shows the source earlier, which leaves less
    ///     time.
    package init(jitterBuffer: Int64, offset: Int64 = 0) {
        let shown = max(0, jitterBuffer &+ min(0, offset))
        self.patience = min(Self.longest, max(0, shown / 5 * 4 &- Self.reserve))
        self.findsByItself = jitterBuffer / 2 >= Self.longestSleep
    }

    /// Decides whether to wake the decode thread for new items.
    ///
    /// - Parameters:
    ///   - isHidden: Whether the source is not visible.
    ///   - isAway: Whether the source is neither visible nor audible.
    /// - Returns: Whether to wake the thread for `items`.
    package mutating func wakes(for items: [SourceItem], isHidden: Bool, isAway: Bool) -> Bool {
        guard case .packet(let packet) = items.first, packet.arrival > 0 else { return true }
        // A change of format or the end always wakes the thread.
        let isNews = items.contains { if case .packet = $0 { false } else { true } }
        if isAway, !isNews, self.findsByItself { return false }
        if isHidden, !isNews, let last, packet.arrival &- last < self.patience, packet.arrival >= last { return false }
        self.last = packet.arrival
        return true
    }
}
