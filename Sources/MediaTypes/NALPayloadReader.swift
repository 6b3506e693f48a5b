package import MediaKernels

/// Reads the bytes of a NAL unit after its header in place, without the emulation prevention bytes. A copy of the
/// reader continues at the same position. Does not allocate.
///
/// Spec: ITU-T H.264 §7.3.1, §7.4.1.1 (`emulation_prevention_three_byte`).
package struct NALPayloadReader: Sendable {
    private let memory: PacketMemory
    /// Offset of the next byte in ``memory``.
    private var offset: Int
    /// Offset of the first byte after the unit.
    private let end: Int
    /// Number of zero bytes directly before ``offset``.
    private var zeros = 0
    /// Maximum number of remaining bytes; the unit may end earlier.
    package private(set) var left: Int
    /// The current byte; ``bits(_:)`` has not returned its lowest `bitsLeft` bits yet.
    private var byte: UInt8 = 0
    private var bitsLeft = 0

    /// Creates a reader at the first byte of a range.
    ///
    /// - Parameter range: Range of one NAL unit, or of its beginning; limited to the payload.
    package init(_ memory: PacketMemory, in range: Range<Int>) {
        self.memory = memory
        self.offset = range.lowerBound
        self.end = range.upperBound
        self.left = range.count
    }

    /// Reads the next byte; `nil` at the end.
    package mutating func next() -> UInt8? {
        guard self.left > 0, var byte = self.raw() else { return nil }
        if byte == 3, self.zeros >= 2 {
            self.zeros = 0
            guard let kept = self.raw() else { return nil }
            byte = kept
        }
        self.zeros = byte == 0 ? self.zeros + 1 : 0
        self.left -= 1
        return byte
    }

    private mutating func raw() -> UInt8? {
        guard self.offset < self.end, let byte = self.memory.byte(at: self.offset) else { return nil }
        self.offset += 1
        return byte
    }

    /// Skips `count` bytes, without counting emulation prevention bytes.
    ///
    /// - Returns: Whether all of them were available; if not, no more bytes can be read.
    package mutating func skip(_ count: Int) -> Bool {
        let count = max(0, count)
        var (offset, zeros) = (self.offset, self.zeros)
        guard count <= self.left, self.memory.skipEscaped(count, from: &offset, to: self.end, zeros: &zeros) else {
            self.left = 0
            return false
        }
        (self.offset, self.zeros) = (offset, zeros)
        self.left -= count
        return true
    }

    /// Returns a separate reader for the next `count` bytes, or for fewer if the unit ends earlier.
    package func prefix(_ count: Int) -> NALPayloadReader {
        var bytes = self
        bytes.left = min(self.left, max(0, count))
        return bytes
    }

    /// Reads the next bits, most significant first; `nil` if not all are available. Do not call ``next()`` before all
    /// bits of a byte are read.
    ///
    /// - Parameter count: 0…32.
    package mutating func bits(_ count: Int) -> UInt32? {
        guard (0...32).contains(count) else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            if self.bitsLeft == 0 {
                guard let byte = self.next() else { return nil }
                self.byte = byte
                self.bitsLeft = 8
            }
            self.bitsLeft -= 1
            value = value << 1 | UInt32(self.byte >> UInt8(self.bitsLeft) & 1)
        }
        return value
    }

    /// Reads the next bit; `nil` at the end.
    package mutating func flag() -> Bool? { self.bits(1).map { $0 == 1 } }
}
