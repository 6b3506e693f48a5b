/// Decides whether a publisher's socket is read again at the same turn after a small read through a ``SplicePipe``.
///
/// A small read may have left bytes in the socket: each segment takes one of the pipe's places, whatever its size. But most
/// publishers send large segments, for which the second read is a system call that finds nothing. So there is a second read at
/// every fifth turn, and at every turn while second reads find something. A value without I/O.
package struct SecondRead: Sendable {
    /// Number of turns without a second read after one that found nothing.
    private static let pause = 4

    private var pausedTurns = 0

    package init() {}

    /// Records a read of fewer bytes than could have been read.
    ///
    /// - Parameter number: Number of the read in its turn, from 0.
    /// - Returns: Whether to read again.
    package mutating func isNeeded(after bytes: Int, number: Int) -> Bool {
        if bytes == 0 {
            if number == 1 { self.pausedTurns = Self.pause }
            return false
        }
        guard number == 0, self.pausedTurns > 0 else { return true }
        self.pausedTurns -= 1
        return false
    }
}
