package import MediaTypes
import NIOCore

/// Packets that wait to be sent to one remote server, bounded by time and by bytes.
///
/// Pure; times are nanoseconds of one monotonic clock. If the remote server is too slow, whole GOPs are dropped, up to
/// the newest key frame; if that is not enough, all packets are. The publisher never waits for the remote server.
///
/// States: *open* (packets are queued) and *awaiting a key frame* (packets are dropped: after each video configuration,
/// and after all packets had to be dropped; for at most ``keyPatience`` video frames if no key frame follows).
package struct RelayQueue: Sendable {
    /// Maximum time the oldest packet may wait, in nanoseconds, checked whenever a packet is queued. Longer than the
    /// usual GOP of two seconds, so that a short stall of the remote server loses nothing; short enough that hosts of two
    /// rooms who talk to each other do not take the delay for a lost connection.
    package static let maximumWait: Int64 = 3 * TimeMath.nanoseconds
    /// Maximum size in bytes, by ``SourceItem/cost``: a full ``GOPCache`` and 4 MiB.
    package static let maximumBytes = GOPCache.maximumBytes + (4 << 20)
    /// Maximum number of queued configurations and ends of publications. No server can follow more format changes than
    /// this in three seconds.
    package static let maximumMarks = 64
    /// Maximum number of video frames dropped while waiting for a key frame; ten seconds at 30 fps. A stream with intra
    /// refresh has only one key frame, at its start; a decoder of that stream recovers after a while wherever it
    /// starts.
    package static let keyPatience = 300

    private struct Entry: Sendable {
        var item: SourceItem
        var since: Int64
        var cost: Int
        var isKey: Bool

        var isPacket: Bool { if case .packet = self.item { true } else { false } }
    }

    private struct Track: Hashable {
        var kind: TrackKind
        var number: UInt8
    }

    private var entries = CircularBuffer<Entry>()
    private var bytes = 0
    /// Number of configurations and ends of publications in the queue.
    private var marks = 0
    /// True if the publication has video; then packets before a key frame cannot be decoded.
    private var hasVideo = false
    private var awaitsKey = false
    /// Video frames dropped since ``awaitsKey`` was set.
    private var passed = 0
    /// Number of packets dropped since the queue was created.
    package private(set) var dropped = 0

    package init() {}

    package var isEmpty: Bool { self.entries.isEmpty }
    package var count: Int { self.entries.count }
    /// The track configurations in the queue.
    package var configured: [CodecParameters] {
        self.entries.compactMap { if case .configuration(let parameters) = $0.item { parameters } else { nil } }
    }

    /// Queues an item, and drops packets if the queue is over its limits.
    package mutating func push(_ item: SourceItem, now: Int64) {
        switch item {
        case .configuration(let parameters):
            if parameters.kind == .video {
                self.hasVideo = true
                self.awaitsKey = true
            }
            self.append(item, now)
            if self.isOverfull { self.trim(now) }
        case .packet(let packet):
            let isKey = packet.kind == .video && packet.isKey
            if packet.kind == .video, self.awaitsKey { self.passed += 1 }
            if isKey || self.passed > Self.keyPatience {
                self.awaitsKey = false
                self.passed = 0
            }
            guard !self.awaitsKey else {
                self.dropped += 1
                return
            }
            self.append(item, now, isKey: isKey)
            if self.isOverfull || self.isLate(now) { self.trim(now) }
        case .end:
            // The next publication begins with its configurations, which say whether it has video.
            self.hasVideo = false
            self.awaitsKey = false
            self.passed = 0
            self.append(item, now)
            if self.isOverfull { self.trim(now) }
        }
    }

    /// Removes and returns the next item to send; nil if the queue is empty.
    package mutating func pop() -> SourceItem? {
        guard let entry = self.entries.popFirst() else { return nil }
        self.forget(entry)
        return entry.item
    }

    private mutating func append(_ item: SourceItem, _ now: Int64, isKey: Bool = false) {
        let entry = Entry(item: item, since: now, cost: item.cost, isKey: isKey)
        self.entries.append(entry)
        self.bytes += entry.cost
        if !entry.isPacket { self.marks += 1 }
    }

    private mutating func forget(_ entry: Entry) {
        self.bytes -= entry.cost
        if !entry.isPacket { self.marks -= 1 }
    }

    private var isOverfull: Bool { self.bytes > RelayQueue.maximumBytes || self.marks > RelayQueue.maximumMarks }

    /// Whether the oldest packet has waited for longer than the limit. Configurations and ends of publications do not
    /// count; they may wait for any time.
    private func isLate(_ now: Int64) -> Bool {
        guard let oldest = self.entries.first(where: \.isPacket) else { return false }
        return now &- oldest.since > RelayQueue.maximumWait
    }

    private mutating func trim(_ now: Int64) {
        let newestKey = self.entries.lastIndex { $0.isKey }
        if let newestKey, newestKey != self.entries.firstIndex(where: \.isPacket) {
            self.dropPackets(before: newestKey)
            if !self.isOverfull, !self.isLate(now) { return }
        }
        // One GOP alone is too much, or there is no video: sending starts again with the next key frame, or the next
        // audio packet.
        self.dropPackets(before: self.entries.endIndex)
        self.awaitsKey = self.hasVideo
    }

    /// Drops the packets before `limit`. Of the configurations and ends before it, keeps those that later packets
    /// depend on, in order: the last end, and after it the last configuration of each track.
    private mutating func dropPackets(before limit: CircularBuffer<Entry>.Index) {
        var kept: [Entry] = []
        var known: Set<Track> = []
        var hasEnd = false
        for entry in self.entries[..<limit].reversed() {
            let holds: Bool
            switch entry.item {
            case .packet:
                self.dropped += 1
                holds = false
            case .configuration(let parameters):
                let track = Track(kind: parameters.kind, number: parameters.track)
                holds = !hasEnd && known.insert(track).inserted
            case .end:
                holds = !hasEnd
                hasEnd = true
            }
            if holds { kept.append(entry) } else { self.forget(entry) }
        }
        var rest = CircularBuffer<Entry>()
        rest.append(contentsOf: kept.reversed())
        rest.append(contentsOf: self.entries[limit...])
        self.entries = rest
    }
}
