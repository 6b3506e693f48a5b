package import MediaTypes
import NIOCore

/// What waits to be sent to one far side, bounded by time and by bytes.
///
/// Pure; times are nanoseconds of one monotonic clock. When the far side is too slow, whole groups of pictures go, up to the
/// newest key picture: what is sent can always be decoded, and is late by no more than ``maximumWait`` and one GOP. Nothing
/// ever waits for the far side.
///
/// States: *open* (packets are taken) and *awaiting a key picture* (packets are dropped: at the begin of a publication, and
/// after more than one GOP had to go; of a publication without key pictures for ``keyPatience`` pictures).
package struct RelayQueue: Sendable {
    /// Nanoseconds the oldest packet may have waited. Longer than the usual GOP of two seconds, so that a far side that
    /// hiccups loses nothing; shorter than what two people in a PK would take for a broken line.
    package static let maximumWait: Int64 = 3 * TimeMath.nanoseconds
    /// Bytes, by ``SourceItem/cost``: a full ``GOPCache`` and two seconds of the fastest publisher.
    package static let maximumBytes = GOPCache.maximumBytes + (4 << 20)
    /// Configurations and ends that wait. More changes of format than this in three seconds are nothing a far side can follow.
    package static let maximumMarks = 64
    /// Pictures that are dropped for want of a key picture at most. A stream that is refreshed bit by bit has none behind its first:
    /// its decoder is right after a while, wherever it begins. Ten seconds at 30 fps.
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
    /// Entries that are no packets.
    private var marks = 0
    /// A video configuration has come: packets before a key picture are of no use.
    private var hasVideo = false
    private var awaitsKey = false
    /// Pictures that were dropped since then for want of it.
    private var passed = 0
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

    /// The next item to send.
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

    /// The oldest packet has waited for too long. What is no packet waits for nothing.
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
        // One GOP alone is too much, or there are no pictures: the next key picture, or the next sound, begins anew.
        self.dropPackets(before: self.entries.endIndex)
        self.awaitsKey = self.hasVideo
    }

    /// Of the configurations and ends what still holds stays, in order, because what follows is understood with it only: the
    /// last end, and behind it the last configuration of each track.
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
