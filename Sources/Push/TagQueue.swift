import MediaTypes
import NIOCore

/// The tags that wait for one reader, bounded by the time they wait and by bytes.
///
/// Pure; times are nanoseconds of one monotonic clock. For a reader that is too slow whole groups of pictures go, up to the
/// newest IDR picture: what it gets can always be decoded. Nothing ever waits for a reader.
///
/// States: *awaiting a key* (packets are dropped: at the begin, and after more than one group had to go) and *open*.
package struct TagQueue: Sendable {
    /// Nanoseconds the oldest packet may have waited; the bound in media time, since tags come as they are on air.
    package static let maximumWait: Int64 = 3 * TimeMath.nanoseconds
    package static let maximumBytes = FeedCore.keptBytes + (8 << 20)

    private struct Entry: Sendable {
        var tag: LiveTag
        var since: Int64
    }

    private var entries = CircularBuffer<Entry>()
    private var bytes = 0
    private var awaitsKey = true
    /// Packets up to this time have been sent before.
    private let after: Int64
    /// Packets that could not be sent.
    package private(set) var dropped = 0
    /// Times that something had to go.
    package private(set) var overruns = 0

    /// - Parameter after: Milliseconds: the first packet is a key packet behind this time.
    package init(after: Int64 = .min) { self.after = after }

    package var isEmpty: Bool { self.entries.isEmpty }
    package var count: Int { self.entries.count }

    /// Milliseconds of media that wait.
    package var duration: Int64 {
        guard let first = self.entries.first, let last = self.entries.last else { return 0 }
        return max(0, last.tag.time &- first.tag.time)
    }

    /// Takes a tag in, and drops what there is no time for.
    package mutating func push(_ tag: LiveTag, now: Int64) {
        if tag.isPacket {
            if tag.isKey, tag.time > self.after { self.awaitsKey = false }
            guard !self.awaitsKey else {
                if tag.time > self.after { self.dropped += 1 }
                return
            }
        }
        self.entries.append(Entry(tag: tag, since: now))
        self.bytes += tag.count
        if self.isOver(now) { self.trim(now) }
    }

    package mutating func pop() -> LiveTag? {
        guard let entry = self.entries.popFirst() else { return nil }
        self.bytes -= entry.tag.count
        return entry.tag
    }

    /// The reader has gone: what waits for it goes, too, and counts as dropped.
    package mutating func clear() {
        self.dropped += self.entries.count { $0.tag.isPacket }
        self.entries.removeAll()
        self.bytes = 0
        self.awaitsKey = true
    }

    private func isOver(_ now: Int64) -> Bool {
        guard let oldest = self.entries.first(where: { $0.tag.isPacket }) else { return false }
        return self.bytes > Self.maximumBytes || now &- oldest.since > Self.maximumWait
    }

    private mutating func trim(_ now: Int64) {
        self.overruns += 1
        let newest = self.entries.lastIndex { $0.tag.isPacket && $0.tag.isKey }
        if let newest, newest != self.entries.firstIndex(where: { $0.tag.isPacket }) {
            self.dropPackets(before: newest)
            if !self.isOver(now) { return }
        }
        self.dropPackets(before: self.entries.endIndex)
        self.awaitsKey = true
    }

    /// Of the other tags, in order, the newest of each kind is enough: what follows is understood with it.
    private mutating func dropPackets(before limit: CircularBuffer<Entry>.Index) {
        var kept = CircularBuffer<Entry>()
        var heads: [Entry] = []
        for index in self.entries.indices {
            let entry = self.entries[index]
            if index >= limit {
                kept.append(entry)
            } else if entry.tag.isPacket {
                self.dropped += 1
            } else {
                heads.removeAll { $0.tag.kind == entry.tag.kind }
                heads.append(entry)
            }
        }
        for entry in heads.reversed() { kept.prepend(entry) }
        self.entries = kept
        self.bytes = kept.reduce(0) { $0 + $1.tag.count }
    }
}
