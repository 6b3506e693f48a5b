import Synchronization

/// Counts the viewers that are connected over HTTP-FLV or WebSocket-FLV.
package final class StreamViewers: Sendable {
    private let number = Atomic<Int64>(0)

    package init() {}

    /// The current number of viewers.
    package var count: Int64 { self.number.load(ordering: .relaxed) }

    func change(by difference: Int64) { self.number.wrappingAdd(difference, ordering: .relaxed) }
}
