package import MediaTypes

/// Limits how many bytes (see ``SourceItem/cost``) of a publisher may wait to be decoded, and decides which packets are
/// dropped if there are more. Pure value.
///
/// States: accepting → overflowed (an item did not fit; packets are dropped, and the last configuration of each track
/// is kept) → accepting (at the first key frame when half of the space is free; a publication without video resumes
/// with any audio packet, a publication without key frames with any frame after ``keyPatience`` frames). The end of a
/// publication is always accepted: the next publication begins after it.
package struct PacketBacklog: Sendable {
    /// Maximum number of waiting bytes of a source without offset: 32 MiB.
    package static let limit = 32 << 20
    /// Maximum number of frames that are dropped while waiting for a key frame, when there is space. A stream with
    /// intra refresh has no key frame after its first; its decoder recovers after a while wherever it begins. Ten
    /// seconds at 30 fps.
    package static let keyPatience = 300
    /// Bytes per second that are allowed for a source that is delayed by an offset: 20 Mbit/s.
    private static let delayedRate: Int64 = 2_500_000
    /// Maximum offset that is considered, in nanoseconds: 10 s of an offset and 10 s of the program's delay, 50 MB.
    private static let longestDelay: Int64 = 20_000_000_000

    /// Bytes that may wait beyond ``limit`` because the source is delayed. It never decreases, because the bytes may be
    /// waiting already.
    package private(set) var allowance = 0
    /// Bytes that wait to be decoded.
    package private(set) var bytes = 0
    package private(set) var isOverflowed = false
    /// Whether the publication has sent video packets, not only their configuration.
    private var hasVideo = false
    /// Frames dropped while waiting for a key frame.
    private var passed = 0
    /// Configurations that are passed on before the next packet.
    private var held: [CodecParameters] = []

    package init() {}

    private var most: Int { Self.limit + self.allowance }

    /// Raises the limit for a source that is shown later by `offset` nanoseconds, up to twenty seconds. A negative offset
    /// adds nothing.
    package mutating func allow(offset: Int64) {
        let delay = max(0, min(Self.longestDelay, offset))
        self.allowance = max(
            self.allowance, Int(TimeMath.scale(delay, by: Self.delayedRate, over: TimeMath.nanoseconds)))
    }

    /// Accepts items that arrived together, as far as the limit permits.
    ///
    /// - Returns: The accepted items, in order, and the number of dropped packets.
    package mutating func admit(_ items: [SourceItem]) -> (taken: [SourceItem], dropped: Int) {
        let cost = items.reduce(0) { $0 + $1.cost }
        if !self.isOverflowed, self.bytes + cost <= self.most {
            self.bytes += cost
            for item in items { self.noteKind(of: item) }
            return (items, 0)
        }
        var taken: [SourceItem] = []
        var dropped = 0
        for item in items where !self.admit(item, into: &taken) { dropped += 1 }
        return (taken, dropped)
    }

    /// Counts a waiting item of a file, to which the limit does not apply.
    package mutating func note(_ item: SourceItem) { self.bytes += item.cost }

    /// Subtracts an accepted item that no longer waits.
    package mutating func release(_ item: SourceItem) { self.bytes = max(0, self.bytes - item.cost) }

    /// Accepts one item while the limit is reached or packets are being dropped.
    ///
    /// - Returns: `false` if the item is a packet that is dropped. A configuration that does not fit is passed on later,
    ///   before the next packet, unless a newer one of its track replaces it or the publication ends.
    private mutating func admit(_ item: SourceItem, into taken: inout [SourceItem]) -> Bool {
        self.noteKind(of: item)
        let hasRoom = self.bytes + item.cost <= self.most || self.bytes == 0
        switch item {
        case .end:
            self.held = []
            self.isOverflowed = false
            self.passed = 0
        case .configuration(let parameters):
            if self.isOverflowed || !hasRoom {
                self.isOverflowed = true
                self.hold(parameters)
                return true
            }
        case .packet(let packet):
            if self.isOverflowed {
                guard self.bytes <= self.most / 2 else { return false }
                if packet.kind == .video, !packet.isKey { self.passed += 1 }
                let mayBegin = packet.isKey || self.passed > Self.keyPatience
                guard packet.kind == .video ? mayBegin : !self.hasVideo else { return false }
                self.isOverflowed = false
                self.passed = 0
                for parameters in self.held { self.append(.configuration(parameters), to: &taken) }
                self.held = []
            } else if !hasRoom {
                self.isOverflowed = true
                return false
            }
        }
        self.append(item, to: &taken)
        return true
    }

    private mutating func append(_ item: SourceItem, to taken: inout [SourceItem]) {
        self.bytes += item.cost
        taken.append(item)
    }

    private mutating func hold(_ parameters: CodecParameters) {
        self.held.removeAll { $0.kind == parameters.kind && $0.track == parameters.track }
        self.held.append(parameters)
    }

    private mutating func noteKind(of item: SourceItem) {
        switch item {
        case .configuration: break
        case .packet(let packet): if packet.kind == .video { self.hasVideo = true }
        case .end: self.hasVideo = false
        }
    }
}
