/// Which of the last packets of a sender were received.
///
/// Spec: RFC 3711 §3.3.2.
package struct ReplayWindow: Sendable {
    /// Number of indices that are remembered, up to and including the highest. Retransmissions without their own stream are old
    /// packets that were never received, and a second of video at 8 Mbit/s is about 900 packets.
    package static let size: UInt64 = 1_024

    /// The highest index that was received.
    package private(set) var highest: UInt64
    /// A ring with one bit for each index modulo ``size``.
    private var words: InlineArray<16, UInt64>

    /// A window in which only this index was received.
    package init(first: UInt64) {
        self.highest = first
        self.words = .init(repeating: 0)
        self.set(first)
    }

    /// A window that refuses every index up to this one.
    init(through highest: UInt64) {
        self.highest = highest
        self.words = .init(repeating: .max)
    }

    /// Whether a packet with this index may be accepted: it was not received before, and is not too old to know that.
    package func admits(_ index: UInt64) -> Bool {
        if index > self.highest { return true }
        guard self.highest - index < Self.size else { return false }
        return self.words[Self.word(index)] & Self.bit(index) == 0
    }

    /// Records an index that ``admits(_:)`` has allowed, once its packet is authenticated.
    package mutating func insert(_ index: UInt64) {
        if index > self.highest {
            if index - self.highest >= Self.size {
                self.words = .init(repeating: 0)
            } else {
                self.clear(from: self.highest + 1, through: index)
            }
            self.highest = index
        }
        self.set(index)
    }

    private mutating func clear(from first: UInt64, through last: UInt64) {
        var index = first
        while index <= last {
            if index & 63 == 0, last - index >= 63 {
                self.words[Self.word(index)] = 0
                index += 64
            } else {
                self.words[Self.word(index)] &= ~Self.bit(index)
                index += 1
            }
        }
    }

    private mutating func set(_ index: UInt64) { self.words[Self.word(index)] |= Self.bit(index) }

    private static func word(_ index: UInt64) -> Int { Int(index >> 6 & 15) }

    private static func bit(_ index: UInt64) -> UInt64 { 1 << (index & 63) }
}
