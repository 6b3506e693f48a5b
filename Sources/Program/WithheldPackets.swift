import DequeModule
package import MediaTypes

/// Coded pictures of a source nobody sees, kept back from its decoder: from the key picture that was due last, to what is
/// not due yet. When the source is to be seen again they are decoded at once and it is in the present, without waiting for
/// a key picture of the publisher.
///
/// What is inside continues exactly what the decoder had last, or begins with a picture that needs nothing before it.
package struct WithheldPackets {
    package struct Waiting: Sendable {
        package var packet: CodedPacket
        /// On the program, in nanoseconds.
        package var pts: Int64
        package var arrival: Int64?
        /// Whether decoding can begin with it.
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
        /// After the decoder has been told that something is missing.
        case afterFlush
    }

    /// Samples that are decoded at a return at most: 65 pictures of 720p, a tenth of a second.
    static let budget: Int64 = 60_000_000
    /// Packets kept at least and at most, whatever their size.
    private static let least = 8
    private static let most = 240
    /// Bytes of packets kept at most.
    private static let byteLimit = 8 << 20

    private var waiting = Deque<Waiting>()
    private var bytes = 0
    /// Something before the first one inside is missing in the decoder.
    private var hasHole = false

    package init() {}

    var isEmpty: Bool { self.waiting.isEmpty }
    var count: Int { self.waiting.count }

    /// How many pictures of so many samples are kept.
    package static func limit(pixels: Int) -> Int {
        pixels <= 0 ? self.most : min(self.most, max(self.least, Int(self.budget / Int64(pixels))))
    }

    /// Time of the newest picture inside, in nanoseconds on the program.
    var newest: Int64? { self.waiting.lazy.map(\.pts).max() }

    package mutating func append(_ item: Waiting) {
        self.bytes += item.packet.range.count
        self.waiting.append(item)
    }

    /// What has to be decoded now because more is not kept: the oldest.
    mutating func popExcess(pixels: Int) -> Waiting? {
        guard self.waiting.count > Self.limit(pixels: pixels) || self.bytes > Self.byteLimit else { return nil }
        return self.popFirst()
    }

    /// The oldest. One that continues what the decoder had last needs no flush, which would cost the pictures that are in there.
    package mutating func popFirst() -> Waiting? {
        guard var first = self.waiting.popFirst() else { return nil }
        self.bytes -= first.packet.range.count
        if !self.hasHole, first.beginning == .afterFlush { first.beginning = .yes }
        self.hasHole = false
        return first
    }

    /// Throws everything away.
    mutating func removeAll() {
        self.waiting.removeAll()
        self.bytes = 0
        self.hasHole = true
    }

    /// Lets go of what nothing needs any more at `time`: what lies before the newest beginning that is due.
    ///
    /// - Returns: How many pictures those were; `nil` when no beginning is due. The beginning is the first inside then.
    package mutating func advance(to time: Int64) -> Int? {
        guard let place = self.waiting.lastIndex(where: { $0.beginning != .no && $0.pts <= time }) else { return nil }
        for _ in 0..<place { _ = self.popFirst() }
        if place > 0 { self.hasHole = true }
        return place
    }

    /// Whether decoding can begin at the packet with nothing before it: an IDR picture, the first one of an open GOP, or a key
    /// picture of a codec that has no other kind.
    package static func beginning(_ packet: CodedPacket, codec: CodecName?) -> Beginning {
        guard packet.isKey else { return .no }
        switch codec {
        case .vp8, .vp9, .av1: return .yes
        // A CRA picture has leading pictures that refer to what was not decoded; after a flush they are left out.
        case .hevc: return .afterFlush
        case .h264:
            if self.hasIDR(packet) { return .yes }
            // As after a CRA picture.
            return RecoveryPoint.isAtOnce(packet.memory, in: packet.range) ? .afterFlush : .no
        default: return .no
        }
    }

    /// Spec: H.264 §7.4.1.2.4: NAL unit type 5. Files mark recovery points as key pictures too.
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
