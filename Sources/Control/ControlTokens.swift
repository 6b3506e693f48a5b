import Synchronization

/// The bearer tokens of a listener, renewed without a restart: what comes after a renewal needs the new ones.
package final class ControlTokens: Sendable {
    struct Pair: Sendable {
        var command: [UInt8]
        /// Empty: there is none.
        var reader: [UInt8]
    }

    private let pair: Mutex<Pair>

    /// - Parameters:
    ///   - command: Of those who command. Not empty.
    ///   - reader: Of those who may only look.
    package init(command: String, reader: String? = nil) { self.pair = Mutex(Self.pair(command, reader)) }

    package func renew(command: String, reader: String?) {
        self.pair.withLock { $0 = Self.pair(command, reader) }
    }

    var current: Pair { self.pair.withLock { $0 } }

    private static func pair(_ command: String, _ reader: String?) -> Pair {
        Pair(command: Array(command.utf8), reader: Array((reader ?? "").utf8))
    }
}
