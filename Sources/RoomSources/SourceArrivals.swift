import MediaTypes
import RoomSources

/// When media of the current publication came to our socket, in the machine's nanoseconds.
struct SourceArrivals: Sendable {
    private(set) var current = SourceLife.Arrivals()
    /// When the first key frame came; `nil` before.
    private(set) var firstKey: Int64?
    private var meter = ArrivalMeter()

    /// Notes items that came together, in order.
    mutating func note(_ items: [SourceItem]) {
        for case .packet(let packet) in items { self.note(packet) }
    }

    private mutating func note(_ packet: CodedPacket) {
        let dts = TimeMath.rescale(packet.dts, from: Int64(packet.timescale), to: TimeMath.nanoseconds)
        self.meter.note(packet.kind, isKey: packet.isKey, bytes: packet.count, dts: dts, at: packet.arrival)
        switch packet.kind {
        case .video:
            self.current.picture = packet.arrival
            if packet.isKey, self.firstKey == nil { self.firstKey = packet.arrival }
        case .audio: self.current.sound = packet.arrival
        }
    }

    /// Media that came after `time` may still wait in the socket; nil: none does.
    mutating func noteRead(until time: Int64?) { self.current.readUntil = time }

    /// What has come since the last call.
    mutating func takeReading(now: Int64) -> ArrivalMeter.Reading? {
        self.meter.take(now: self.current.known(at: now))
    }
}
