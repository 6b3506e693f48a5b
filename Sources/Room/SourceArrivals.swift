import MediaTypes
import Synchronization

/// When media of the publication that runs came to our socket, in the machine's nanoseconds.
final class SourceArrivals: Sendable {
    private struct State {
        var arrivals = SourceLife.Arrivals()
        var firstKey: Int64?
    }

    private let state = Mutex(State())

    func note(_ packet: CodedPacket) {
        self.state.withLock { state in
            switch packet.kind {
            case .video:
                state.arrivals.picture = packet.arrival
                if packet.isKey, state.firstKey == nil { state.firstKey = packet.arrival }
            case .audio: state.arrivals.sound = packet.arrival
            }
        }
    }

    /// A publication begins or ends.
    func reset() { self.state.withLock { $0 = State() } }

    var current: SourceLife.Arrivals { self.state.withLock { $0.arrivals } }
    /// When the first key picture came; `nil` before.
    var firstKey: Int64? { self.state.withLock { $0.firstKey } }
}
