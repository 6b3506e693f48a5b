package import MediaTypes

/// Keeps what a new subscriber of a source needs to start at once: the decoder configurations and all packets since the
/// last IDR frame.
///
/// A GOP that exceeds a limit is dropped as a whole, because its remainder cannot be decoded; the next IDR frame starts
/// a new one. For a source without video only the configurations are kept, because every audio packet can be decoded
/// without earlier ones.
package struct GOPCache: Sendable {
    /// Maximum size in bytes, by ``SourceItem/cost``, which also limits many tiny packets with the same timestamp.
    package static let maximumBytes = 16 << 20
    /// Maximum time between the first and the last cached packet, in nanoseconds.
    package static let maximumDuration: Int64 = 10 * TimeMath.nanoseconds
    /// Maximum number of configurations within the cached GOP: the first one of tracks that start late, and more format
    /// changes than any encoder makes. If there are more, the GOP is dropped.
    package static let maximumChanges = 32
    /// Maximum capacity, in items, of an array whose memory is kept for the next GOP; a larger array is freed.
    private static let keptPlaces = 2_048

    private struct Track: Hashable {
        var kind: TrackKind
        var number: UInt8
    }

    private var configurations: [Track: CodecParameters] = [:]
    /// The track configurations that were in effect when the cached GOP began.
    private var configurationsAtStart: [Track: CodecParameters] = [:]
    private var items: [SourceItem] = []
    private var start: Int64 = 0
    private var bytes = 0
    private var changes = 0

    package init() {}

    /// Updates the cache with an item that the source has delivered.
    package mutating func note(_ item: SourceItem) {
        switch item {
        case .configuration(let parameters):
            self.configurations[Track(kind: parameters.kind, number: parameters.track)] = parameters
            guard !self.items.isEmpty else { return }
            self.changes += 1
            if self.changes > GOPCache.maximumChanges { self.clear() } else { self.append(item) }
        case .packet(let packet):
            if packet.kind == .video && packet.isKey {
                self.clear()
                self.configurationsAtStart = self.configurations
                self.start = GOPCache.nanoseconds(packet)
            } else if self.items.isEmpty {
                return
            }
            self.append(item)
            if GOPCache.nanoseconds(packet) &- self.start > GOPCache.maximumDuration { self.clear() }
        case .end:
            self.clear()
            self.configurations = [:]
        }
    }

    /// Whether packets are cached.
    package var hasPackets: Bool { !self.items.isEmpty }

    /// Configurations and packets for a subscriber that starts now, in order.
    package var backlog: [SourceItem] {
        let held = self.items.isEmpty ? self.configurations : self.configurationsAtStart
        // Video first, then the audio tracks by their numbers.
        let order = held.values.sorted {
            ($0.kind == .audio ? 1 : 0, $0.track) < ($1.kind == .audio ? 1 : 0, $1.track)
        }
        return order.map(SourceItem.configuration) + self.items
    }

    private mutating func append(_ item: SourceItem) {
        self.items.append(item)
        self.bytes += item.cost
        if self.bytes > GOPCache.maximumBytes { self.clear() }
    }

    private mutating func clear() {
        self.items.removeAll(keepingCapacity: self.items.capacity <= GOPCache.keptPlaces)
        self.bytes = 0
        self.changes = 0
    }

    private static func nanoseconds(_ packet: CodedPacket) -> Int64 {
        TimeMath.rescale(packet.dts, from: Int64(max(1, packet.timescale)), to: TimeMath.nanoseconds)
    }
}
