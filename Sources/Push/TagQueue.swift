import MediaTypes
import NIOCore

/// The tags queued for one reader, limited by waiting time and by bytes.
///
/// Pure; times are nanoseconds of one monotonic clock. If a reader is too slow, whole GOPs are dropped, up to the
/// newest IDR frame, so that the reader can decode everything it gets. The feed never waits for a reader.
///
/// States: *awaiting a key frame* (packets are dropped: at the start, after ``clear()``, and after all queued packets
/// had to be dropped) and *open*.
package struct TagQueue: Sendable {
    /// Maximum time the oldest packet may wait, in nanoseconds. It limits the queued media time as well, because tags
    /// arrive in real time.
    package static let maximumWait: Int64 = 3 * TimeMath.nanoseconds
    package static let maximumBytes = FeedCore.keptBytes + (8 << 20)

    private struct Entry: Sendable {
        var tag: LiveTag
        var since: Int64
    }

    private var entries = CircularBuffer<Entry>()
    private var bytes = 0
    private var awaitsKey = true
    /// Time in milliseconds up to which packets were sent over an earlier connection; the queue skips them.
    private let after: Int64
    /// Number of packets dropped since the queue was created, without those that an earlier connection has sent.
    package private(set) var dropped = 0
    /// Number of times that the queue exceeded its limits.
    package private(set) var overruns = 0

    /// Creates an empty queue that waits for a key frame.
    ///
    /// - Parameter after: Time in milliseconds; the queue starts with the first key frame after it.
    package init(after: Int64 = .min) { self.after = after }

    package var isEmpty: Bool { self.entries.isEmpty }
    package var count: Int { self.entries.count }

    /// Duration of the queued media, in milliseconds.
    package var duration: Int64 {
        guard let first = self.entries.first, let last = self.entries.last else { return 0 }
        return max(0, last.tag.time &- first.tag.time)
    }

    /// Queues a tag, and drops packets if the queue is over its limits.
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

    /// Removes all tags, for example because the connection has failed; packets count as dropped.
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

    /// Drops the packets before `limit`. Of the metadata and sequence headers before `limit`, the newest of each kind
    /// is kept, in order, because later packets depend on them.
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
