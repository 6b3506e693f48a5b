/// Number of a VP8 or VP9 frame, with 7 or 15 bits.
///
/// Spec: RFC 7741 §4.2, RFC 9628 §4.2.
struct PictureID: Sendable, Hashable {
    let value: UInt16
    private let mask: UInt16

    /// - Returns: nil if the bytes end before the number does.
    init?(_ reader: inout ByteReader) {
        guard let first = reader.next() else { return nil }
        guard first & 0x80 != 0 else {
            (self.value, self.mask) = (UInt16(first), 0x7F)
            return
        }
        guard let second = reader.next() else { return nil }
        (self.value, self.mask) = (UInt16(first & 0x7F) << 8 | UInt16(second), 0x7FFF)
    }

    /// Whether this is the number directly after `other`.
    func follows(_ other: PictureID) -> Bool {
        self.mask == other.mask && self.value == (other.value + 1) & self.mask
    }
}

/// Reads bytes from the front.
struct ByteReader: Sendable {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var left: Int { self.bytes.count }

    /// The next byte; nil at the end.
    mutating func next() -> UInt8? { self.bytes.popFirst() }

    /// Skips `count` bytes.
    ///
    /// - Returns: False if fewer bytes were left; then none is skipped.
    mutating func skip(_ count: Int) -> Bool {
        guard count <= self.bytes.count else { return false }
        self.bytes = self.bytes.dropFirst(count)
        return true
    }
}
