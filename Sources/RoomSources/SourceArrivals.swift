import MediaTypes

/// Records when media of the current publication arrived at the worker's socket, in nanoseconds of the monotonic clock. For
/// media that was sent ahead of time, it is when the media would have arrived in real time; see ``PublisherPace``.
struct SourceArrivals: Sendable {
    private(set) var current = SourceStateMachine.Arrivals()
    /// When the first key frame arrived; nil before that.
    private(set) var firstKey: Int64?
    private var meter = ArrivalMeter()

    /// Records packets that arrived together, in order.
    mutating func note(_ items: [SourceItem]) {
        for case .packet(let packet) in items { self.note(packet) }
    }

    private mutating func note(_ packet: CodedPacket) {
        let dts = TimeMath.rescale(packet.dts, from: Int64(packet.timescale), to: TimeMath.nanoseconds)
        self.meter.note(packet.kind, isKey: packet.isKey, bytes: packet.count, dts: dts, at: packet.arrival)
        switch packet.kind {
        case .video:
            self.current.video = packet.arrival
            if packet.isKey, self.firstKey == nil { self.firstKey = packet.arrival }
        case .audio: self.current.audio = packet.arrival
        }
    }

    /// Records that media which arrived after `time` may still be unread in the socket; nil if everything was read.
    mutating func noteRead(until time: Int64?) { self.current.readUntil = time }

    /// The measurements of the arrivals since the last call; nil before the first packet, and if no time has passed.
    mutating func takeReading(now: Int64) -> ArrivalMeter.Reading? {
        self.meter.take(now: self.current.known(at: now))
    }
}
