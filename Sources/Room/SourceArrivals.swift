import MediaTypes
import Synchronization

/// When media of the publication that runs came to our socket, in the machine's nanoseconds.
final class SourceArrivals: Sendable {
    private struct State {
        var arrivals = SourceLife.Arrivals()
        var firstKey: Int64?
        var meter = ArrivalMeter()
    }

    private let state = Mutex(State())

    /// What came together, in order.
    func note(_ items: [SourceItem]) {
        self.state.withLock { state in
            for case .packet(let packet) in items { Self.note(packet, &state) }
        }
    }

    private static func note(_ packet: CodedPacket, _ state: inout State) {
        let dts = TimeMath.rescale(packet.dts, from: Int64(packet.timescale), to: TimeMath.nanoseconds)
        state.meter.note(packet.kind, isKey: packet.isKey, bytes: packet.count, dts: dts, at: packet.arrival)
        switch packet.kind {
        case .video:
            state.arrivals.picture = packet.arrival
            if packet.isKey, state.firstKey == nil { state.firstKey = packet.arrival }
        case .audio: state.arrivals.sound = packet.arrival
        }
    }

    /// What came since `time` may wait in the socket; nil: nothing does.
    func noteRead(until time: Int64?) { self.state.withLock { $0.arrivals.readUntil = time } }

    /// A publication begins or ends.
    func reset() { self.state.withLock { $0 = State() } }

    /// What has come since this was last asked.
    func takeReading(now: Int64) -> ArrivalMeter.Reading? {
        self.state.withLock { $0.meter.take(now: $0.arrivals.known(at: now)) }
    }

    var current: SourceLife.Arrivals { self.state.withLock { $0.arrivals } }
    /// When the first key picture came; `nil` before.
    var firstKey: Int64? { self.state.withLock { $0.firstKey } }
}
