package import MediaTypes
import NIOCore

/// What waits to be sent to one far side, bounded by time and by bytes.
///
/// Pure; times are nanoseconds of one monotonic clock. When the far side is too slow, whole groups of pictures go, up to the
/// newest key picture: what is sent can always be decoded, and is late by no more than ``maximumWait`` and one GOP. Nothing
/// ever waits for the far side.
///
/// States: *open* (packets are taken) and *awaiting a key picture* (packets are dropped: at the begin of a publication, and
/// after more than one GOP had to go).
package struct RelayQueue: Sendable {
    /// Nanoseconds the oldest packet may have waited. Longer than the usual GOP of two seconds, so that a far side that
    /// hiccups loses nothing; shorter than what two people in a PK would take for a broken line.
    package static let maximumWait: Int64 = 3 * TimeMath.nanoseconds
    /// Bytes of payload: a full ``GOPCache`` and two seconds of the fastest publisher.
    package static let maximumBytes = GOPCache.maximumBytes + (4 << 20)

    private struct Entry: Sendable {
        var item: SourceItem
        var since: Int64
        var bytes: Int
        var isKey: Bool
    }

    private var entries = CircularBuffer<Entry>()
    private var bytes = 0
    /// A video configuration has come: packets before a key picture are of no use.
    private var hasVideo = false
    private var awaitsKey = false
    /// Packets dropped so far.
    package private(set) var dropped = 0

    package init() {}

    package var isEmpty: Bool { self.entries.isEmpty }
    package var count: Int { self.entries.count }
    /// The configurations that wait.
    package var configured: [CodecParameters] {
        self.entries.compactMap { if case .configuration(let parameters) = $0.item { parameters } else { nil } }
    }

    /// Takes an item in, and drops what the far side has no time for.
    package mutating func push(_ item: SourceItem, now: Int64) {
        switch item {
        case .configuration(let parameters):
            if parameters.kind == .video {
                self.hasVideo = true
                self.awaitsKey = true
            }
            self.append(item, now)
        case .packet(let packet):
            let isKey = packet.kind == .video && packet.isKey
            if isKey { self.awaitsKey = false }
            guard !self.awaitsKey else {
                self.dropped += 1
                return
            }
            self.append(item, now, bytes: packet.count, isKey: isKey)
            self.trim(now)
        case .end:
            // The next publication begins with its configurations, which say whether it has video.
            self.hasVideo = false
            self.awaitsKey = false
            self.append(item, now)
        }
    }

    /// The next item to send.
    package mutating func pop() -> SourceItem? {
        guard let entry = self.entries.popFirst() else { return nil }
        self.bytes -= entry.bytes
        return entry.item
    }

    private mutating func append(_ item: SourceItem, _ now: Int64, bytes: Int = 0, isKey: Bool = false) {
        self.entries.append(Entry(item: item, since: now, bytes: bytes, isKey: isKey))
        self.bytes += bytes
    }

    private func isOver(_ now: Int64) -> Bool {
        guard let oldest = self.entries.first(where: { $0.bytes > 0 }) else { return false }
        return self.bytes > RelayQueue.maximumBytes || now &- oldest.since > RelayQueue.maximumWait
    }

    private mutating func trim(_ now: Int64) {
        guard self.isOver(now) else { return }
        let newestKey = self.entries.lastIndex { $0.isKey }
        if let newestKey, newestKey != self.entries.firstIndex(where: { $0.bytes > 0 }) {
            self.dropPackets(before: newestKey)
            if !self.isOver(now) { return }
        }
        // One GOP alone is too much, or there are no pictures: the next key picture, or the next sound, begins anew.
        self.dropPackets(before: self.entries.endIndex)
        self.awaitsKey = self.hasVideo
    }

    /// Configurations and ends stay, in order: what follows is understood with them only.
    private mutating func dropPackets(before limit: CircularBuffer<Entry>.Index) {
        var kept = CircularBuffer<Entry>()
        for index in self.entries.indices {
            let entry = self.entries[index]
            guard index < limit, case .packet = entry.item else {
                kept.append(entry)
                continue
            }
            self.bytes -= entry.bytes
            self.dropped += 1
        }
        self.entries = kept
    }
}
