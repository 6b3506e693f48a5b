import DequeModule
package import MediaTypes

/// Coded frames of a hidden source that are withheld from its decoder: from the last key frame that was due up to
/// frames that are not due yet. When the source becomes visible again, they are decoded at once and the source is at
/// the current time, without waiting for the publisher's next key frame.
///
/// The first packet directly follows the last packet that the decoder received, or decoding can begin with it.
package struct HiddenSourceQueue {
    package struct QueuedPacket: Sendable {
        package var packet: CodedPacket
        /// Presentation time of the packet, in nanoseconds of program time.
        package var pts: Int64
        package var arrival: Int64?
        /// Whether decoding can begin with this packet.
        package var beginning: Beginning

        package init(packet: CodedPacket, pts: Int64, arrival: Int64?, beginning: Beginning) {
            self.packet = packet
            self.pts = pts
            self.arrival = arrival
            self.beginning = beginning
        }
    }

    package enum Beginning: Sendable {
        case no
        case yes
        /// Decoding can begin with this packet, but the decoder must be flushed before it if earlier packets are
        /// missing.
        case afterFlush
    }

    /// Maximum number of samples (pixels) to decode when the source returns: 65 frames of 720p, which take about 100
    /// ms.
    static let budget: Int64 = 60_000_000
    /// Number of packets that may be kept whatever their resolution.
    private static let least = 8
    /// Maximum number of packets to keep whatever their resolution.
    private static let most = 240
    /// Maximum number of bytes of packets to keep: 8 MiB.
    private static let byteLimit = 8 << 20

    private var waiting = Deque<QueuedPacket>()
    private var bytes = 0
    /// Whether packets before the first one in the queue were discarded, so that the decoder never receives them.
    private var hasHole = false

    package init() {}

    var isEmpty: Bool { self.waiting.isEmpty }
    var count: Int { self.waiting.count }

    /// Maximum number of frames to keep, for frames of `pixels` luma samples; 0 if their size is unknown.
    package static func limit(pixels: Int) -> Int {
        pixels <= 0 ? self.most : min(self.most, max(self.least, Int(self.budget / Int64(pixels))))
    }

    /// The latest presentation time in the queue, in nanoseconds of program time; `nil` if it is empty.
    var newest: Int64? { self.waiting.lazy.map(\.pts).max() }

    package mutating func append(_ item: QueuedPacket) {
        self.bytes += item.packet.range.count
        self.waiting.append(item)
    }

    /// Removes and returns the oldest packet if the queue is over its limits; otherwise returns `nil`.
    mutating func popExcess(pixels: Int) -> QueuedPacket? {
        guard self.waiting.count > Self.limit(pixels: pixels) || self.bytes > Self.byteLimit else { return nil }
        return self.popFirst()
    }

    /// Removes the oldest packet. If it directly follows the packet that was removed before, its ``Beginning`` asks for
    /// no flush, which would lose the frames inside the decoder.
    package mutating func popFirst() -> QueuedPacket? {
        guard var first = self.waiting.popFirst() else { return nil }
        self.bytes -= first.packet.range.count
        if !self.hasHole, first.beginning == .afterFlush { first.beginning = .yes }
        self.hasHole = false
        return first
    }

    /// Discards all packets in the queue.
    mutating func removeAll() {
        self.waiting.removeAll()
        self.bytes = 0
        self.hasHole = true
    }

    /// Discards packets that are not needed any more at `time`: those before the newest due packet at which decoding
    /// can begin. The queue then starts with that packet.
    ///
    /// - Returns: The number of discarded frames; `nil` if decoding can begin at no packet that is due.
    package mutating func advance(to time: Int64) -> Int? {
        guard let place = self.waiting.lastIndex(where: { $0.beginning != .no && $0.pts <= time }) else { return nil }
        for _ in 0..<place { _ = self.popFirst() }
        if place > 0 { self.hasHole = true }
        return place
    }

    /// Whether decoding can begin at the packet: an IDR frame, the first frame of an open GOP, or a key frame of a
    /// codec that has no other kind.
    package static func beginning(_ packet: CodedPacket, codec: CodecName?) -> Beginning {
        guard packet.isKey else { return .no }
        switch codec {
        case .vp8, .vp9, .av1: return .yes
        // A CRA picture has leading pictures that refer to frames that were not decoded; after a flush the decoder
        // leaves them out.
        case .hevc: return .afterFlush
        case .h264:
            if self.hasIDR(packet) { return .yes }
            // Same as after a CRA picture.
            return RecoveryPoint.isAtOnce(packet.memory, in: packet.range) ? .afterFlush : .no
        default: return .no
        }
    }

    /// Whether an H.264 packet has an IDR slice. The key frame mark is not enough: in files, recovery points have it
    /// too. Spec: H.264 §7.4.1.2.4, NAL unit type 5.
    private static func hasIDR(_ packet: CodedPacket) -> Bool {
        packet.withBytes { bytes -> Bool in
            var place = 0
            while place + 5 <= bytes.count {
                var length = 0
                for offset in 0..<4 { length = length << 8 | Int(bytes[place + offset]) }
                if bytes[place + 4] & 0x1F == 5 { return true }
                guard length > 0, length <= bytes.count - place - 4 else { return false }
                place += 4 + length
            }
            return false
        }
    }
}
