import Synchronization

/// The bearer tokens of a listener. They can be replaced without a restart; later requests then need the new ones.
package final class ControlTokens: Sendable {
    struct Pair: Sendable {
        var command: [UInt8]
        /// Token for reading requests; empty if there is none.
        var reader: [UInt8]
    }

    private let pair: Mutex<Pair>

    /// - Parameters:
    ///   - command: Token that permits commands. Not empty.
    ///   - reader: Token that permits reading only.
    package init(command: String, reader: String? = nil) { self.pair = Mutex(Self.pair(command, reader)) }

    package func renew(command: String, reader: String?) {
        self.pair.withLock { $0 = Self.pair(command, reader) }
    }

    var current: Pair { self.pair.withLock { $0 } }

    private static func pair(_ command: String, _ reader: String?) -> Pair {
        Pair(command: Array(command.utf8), reader: Array((reader ?? "").utf8))
    }
}
