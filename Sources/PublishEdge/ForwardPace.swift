/// Decides at which turns of a timer a publisher's socket is read: often enough for the read delay, and seldom enough
/// that each read is worth its system calls.
///
/// The cost of forwarding is system calls, TCP segments and wake-ups of the room, and only then bytes. So a publisher is read
/// every few turns: as many as it takes to fill ``usefulBytes``, but not more than the read delay allows. Pure.
package struct ForwardPace: Sendable {
    /// Time between two turns, in nanoseconds.
    package static let turn: Int64 = 20_000_000
    /// Size of a read beyond which a larger one saves little, in bytes.
    package static let usefulBytes = 128 << 10

    /// Number of the connection; it spreads the connections over the turns.
    private let number: UInt
    private let mostTurns: UInt
    /// Number of turns from one read of the socket to the next.
    package private(set) var turns: UInt

    /// - Parameter delay: Maximum time that bytes may wait in the socket, in nanoseconds; at least one turn.
    package init(number: Int, delay: Int64) {
        self.number = number.magnitude
        self.mostTurns = UInt(clamping: max(1, delay / Self.turn))
        self.turns = self.mostTurns
    }

    /// Whether the socket is read at this turn.
    ///
    /// - Parameter turn: The number of the turn, which increases by 1.
    package func isDue(at turn: Int) -> Bool { UInt(bitPattern: turn) % self.turns == self.number % self.turns }

    /// Records what a read at a due turn brought.
    package mutating func received(_ bytes: Int) {
        let perTurn = max(1, UInt(clamping: bytes) / self.turns)
        self.turns = min(self.mostTurns, max(1, UInt(Self.usefulBytes) / perTurn))
    }
}
