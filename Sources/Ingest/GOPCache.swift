package import MediaTypes

/// What a new reader of a source needs to begin at once: the configurations, and the packets since the last IDR picture.
///
/// A GOP that grows beyond the bounds is dropped as a whole, since its rest cannot be decoded; the next IDR picture starts
/// a new one. A source without video has nothing to wait for, so nothing of it is cached but the configuration.
package struct GOPCache: Sendable {
    /// Bytes of payload kept.
    package static let maximumBytes = 16 << 20
    /// Nanoseconds between the first and the last packet kept.
    package static let maximumDuration: Int64 = 10 * TimeMath.nanoseconds

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

    package init() {}

    /// Takes note of an item that went out.
    package mutating func note(_ item: SourceItem) {
        switch item {
        case .configuration(let parameters):
            self.configurations[Track(kind: parameters.kind, number: parameters.track)] = parameters
            if !self.items.isEmpty { self.items.append(item) }
        case .packet(let packet):
            if packet.kind == .video && packet.isKey {
                self.clear()
                self.configurationsAtStart = self.configurations
                self.start = GOPCache.nanoseconds(packet)
            } else if self.items.isEmpty {
                return
            }
            self.items.append(item)
            self.bytes += packet.count
            let duration = GOPCache.nanoseconds(packet) &- self.start
            if self.bytes > GOPCache.maximumBytes || duration > GOPCache.maximumDuration { self.clear() }
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

    private mutating func clear() {
        self.items.removeAll(keepingCapacity: true)
        self.bytes = 0
    }

    private static func nanoseconds(_ packet: CodedPacket) -> Int64 {
        TimeMath.rescale(packet.dts, from: Int64(max(1, packet.timescale)), to: TimeMath.nanoseconds)
    }
}
