import DequeModule

/// One RTP packet of a rendition, before it gets the header of a viewer.
package struct HistoryPacket: Sendable, Equatable {
    package let payload: [UInt8]
    package let marker: Bool
    /// In ticks of the track's RTP clock since the start of the program.
    package let time: Int64
    /// Number of the frame or audio packet, counted from the start of the rendition.
    package let frame: Int64
    /// When the frame arrived, in nanoseconds.
    package let arrival: Int64

    package init(payload: [UInt8], marker: Bool, time: Int64, frame: Int64, arrival: Int64) {
        self.payload = payload
        self.marker = marker
        self.time = time
        self.frame = frame
        self.arrival = arrival
    }
}

/// The latest packets of a track, by an index that never repeats.
///
/// All viewers read from it: those that begin, those that are behind, and those that ask for a packet again.
package struct PacketHistory: Sendable {
    /// Limits of what is kept.
    package struct Limits: Sendable, Equatable {
        /// Packets for retransmission are kept for this time in nanoseconds, and at most ``packets`` of them.
        package var repair: Int64 = 1_000_000_000
        package var packets = 2_000
        /// Packets since the latest key frame are kept longer, up to this many bytes and this ``age`` in nanoseconds.
        package var bytes = 16 << 20
        package var age: Int64 = 10_000_000_000

        package init() {}
    }

    private let limits: Limits
    private var packets: Deque<HistoryPacket> = []
    private var bytes = 0
    /// Index of the oldest packet.
    package private(set) var start: Int64 = 0
    /// Index of the first packet of the latest key frame; nil if there is none, or it is not kept any more.
    package private(set) var keyStart: Int64?

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Index that the next packet will get.
    package var end: Int64 { self.start + Int64(self.packets.count) }

    package subscript(_ index: Int64) -> HistoryPacket? {
        guard index >= self.start, index < self.end else { return nil }
        return self.packets[Int(index - self.start)]
    }

    package var last: HistoryPacket? { self.packets.last }

    /// Appends the packets of one frame.
    ///
    /// - Parameter isKey: Whether decoding can begin with the frame.
    package mutating func append(_ frame: [HistoryPacket], isKey: Bool) {
        guard let newest = frame.last else { return }
        if isKey { self.keyStart = self.end }
        for packet in frame {
            self.packets.append(packet)
            self.bytes += packet.payload.count
        }
        self.trim(now: newest.arrival)
    }

    /// Forgets all packets. Indices continue.
    package mutating func removeAll() {
        self.start = self.end
        self.packets.removeAll()
        self.bytes = 0
        self.keyStart = nil
    }

    private mutating func trim(now: Int64) {
        while let oldest = self.packets.first {
            let age = now &- oldest.arrival
            let isOver = self.bytes > self.limits.bytes || age > self.limits.age
            let isForRepair = age <= self.limits.repair && self.packets.count <= self.limits.packets
            let isSinceKey = self.keyStart.map { self.start >= $0 } ?? false
            guard isOver || !isForRepair && !isSinceKey else { break }
            self.bytes -= oldest.payload.count
            self.packets.removeFirst()
            self.start += 1
        }
        if let keyStart, keyStart < self.start { self.keyStart = nil }
    }
}
