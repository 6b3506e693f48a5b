package import MediaTypes

/// What of a publisher may wait for its decoding, in bytes by ``SourceItem/cost``, and what is left out when it is too much. Pure.
///
/// States: taking → overflowed (an item had no room: packets are left out, of the configurations the last of each track is kept)
/// → taking (half of the room is free, and a key picture comes; of a publication without pictures any sound, and of one without
/// key pictures any after ``keyPatience`` pictures). An end is always taken: the next publication begins behind it.
package struct PacketBudget: Sendable {
    /// One and a half seconds of the fastest publisher, and half a minute of a usual one.
    package static let limit = 32 << 20
    /// Pictures that are left out for want of a key picture at most, while there is room. A stream that is refreshed bit by bit has
    /// none behind its first: its decoder is right after a while, wherever it begins. Ten seconds at 30 fps.
    package static let keyPatience = 300
    /// Bytes a second of a source that is shown later by an offset: 20 Mbit/s.
    private static let delayedRate: Int64 = 2_500_000
    /// The longest an offset may be, in nanoseconds: 25 MB.
    private static let longestDelay: Int64 = 10_000_000_000

    /// Bytes that may wait beyond ``limit``, because the source is shown later; it never gets less, since they are there already.
    package private(set) var allowance = 0
    /// Bytes that wait.
    package private(set) var bytes = 0
    package private(set) var isOverflowed = false
    /// The publication has pictures, not only their format.
    private var hasVideo = false
    /// Pictures that were left out for want of a key picture.
    private var passed = 0
    /// What is told before the next packet.
    private var held: [CodecParameters] = []

    package init() {}

    private var most: Int { Self.limit + self.allowance }

    /// The source is shown so much later, in nanoseconds, up to ten seconds; earlier where that is negative.
    package mutating func allow(offset: Int64) {
        let delay = max(0, min(Self.longestDelay, offset))
        self.allowance = max(
            self.allowance, Int(TimeMath.scale(delay, by: Self.delayedRate, over: TimeMath.nanoseconds)))
    }

    /// - Returns: What is taken of `items`, in order, and how many packets are not.
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

    /// Takes an item that is not bounded here.
    package mutating func note(_ item: SourceItem) { self.bytes += item.cost }

    /// An item that was taken waits no more.
    package mutating func release(_ item: SourceItem) { self.bytes = max(0, self.bytes - item.cost) }

    /// - Returns: Whether the packet is taken; a configuration that waits is not lost.
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
