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

    private let patience: Int64
    /// What is neither seen nor heard needs not be told of: the thread finds it early enough.
    private let findsByItself: Bool
    private var last: Int64?

    /// - Parameter jitterBuffer: In nanoseconds; a quarter of it may be spent here, half of it of a source that is away.
    package init(jitterBuffer: Int64) {
        self.patience = min(Self.longest, max(0, jitterBuffer) / 4)
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
