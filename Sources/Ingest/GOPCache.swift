package import MediaTypes

/// What a new reader of a source needs to begin at once: the configurations, and the packets since the last IDR picture.
///
/// A GOP that grows beyond the bounds is dropped as a whole, since its rest cannot be decoded; the next IDR picture starts
/// a new one. A source without video has nothing to wait for, so nothing of it is cached but the configuration.
package struct GOPCache: Sendable {
    /// Bytes kept, by ``SourceItem/cost``: many tiny packets with one time are too much as well.
    package static let maximumBytes = 16 << 20
    /// Nanoseconds between the first and the last packet kept.
    package static let maximumDuration: Int64 = 10 * TimeMath.nanoseconds
    /// Configurations kept within a GOP: each track's first one, and more changes than any encoder makes.
    package static let maximumChanges = 32
    /// Items whose places are kept for the next GOP.
    private static let keptPlaces = 2_048

    private struct Track: Hashable {
        var kind: TrackKind
        var number: UInt8
    }

    private var configurations: [Track: CodecParameters] = [:]
    /// What held when the cached GOP began.
    private var configurationsAtStart: [Track: CodecParameters] = [:]
    private var items: [SourceItem] = []
    private var start: Int64 = 0
    private var bytes = 0
    private var changes = 0

    package init() {}

    /// Takes note of an item that went out.
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

    /// Configurations and packets for a reader that begins now, in order.
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
