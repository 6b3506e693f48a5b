/// One RTP packet after decryption, parsed in place.
///
/// Spec: RFC 3550 §5.1, RFC 8285 (header extensions). Parsing allocates nothing; the packet keeps a reference to its
/// bytes.
package struct RTPPacket: Sendable {
    package let bytes: [UInt8]
    /// Payload type, 0…127.
    package let payloadType: UInt8
    package let marker: Bool
    package let sequence: UInt16
    package let timestamp: UInt32
    package let ssrc: UInt32
    /// Payload without padding; empty for bandwidth probes that contain only padding.
    package let payload: Range<Int>
    /// Header extension elements; empty without an extension, and for a profile other than those of RFC 8285.
    private let extensions: Range<Int>
    /// Whether elements have headers of two bytes (RFC 8285 §4.3) instead of one (§4.2).
    private let hasLongElements: Bool

    /// Nil if a length in the header, the extension or the padding exceeds the packet, or the version is not 2.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 12, bytes[0] >> 6 == 2 else { return nil }
        var start = 12 + 4 * Int(bytes[0] & 0x0F)
        var end = bytes.count
        guard start <= end else { return nil }
        var extensions = 0..<0
        var hasLongElements = false
        if bytes[0] & 0x10 != 0 {
            guard start + 4 <= end else { return nil }
            let profile = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            let length = 4 * (Int(bytes[start + 2]) << 8 | Int(bytes[start + 3]))
            start += 4
            guard start + length <= end else { return nil }
            hasLongElements = profile & 0xFFF0 == 0x1000
            if profile == 0xBEDE || hasLongElements { extensions = start..<start + length }
            start += length
        }
        if bytes[0] & 0x20 != 0 {
            let padding = Int(bytes[end - 1])
            guard padding > 0, start + padding <= end else { return nil }
            end -= padding
        }
        self.bytes = bytes
        self.payloadType = bytes[1] & 0x7F
        self.marker = bytes[1] & 0x80 != 0
        self.sequence = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        self.timestamp = NetworkOrder.read32(bytes, at: 4)
        self.ssrc = NetworkOrder.read32(bytes, at: 8)
        self.payload = start..<end
        self.extensions = extensions
        self.hasLongElements = hasLongElements
    }

    /// The bytes of a header extension element, which may be empty; nil if the packet does not have it. An element
    /// that is longer than the extension, and those after it, do not count.
    ///
    /// - Parameter id: 1…14, or 1…255 with long elements.
    package func element(_ id: UInt8) -> Range<Int>? {
        var at = self.extensions.lowerBound
        let end = self.extensions.upperBound
        while at < end {
            let first = self.bytes[at]
            if first == 0 {
                // Padding, in both forms.
                at += 1
                continue
            }
            var own = first
            var length: Int
            if self.hasLongElements {
                guard at + 2 <= end else { return nil }
                length = Int(self.bytes[at + 1])
                at += 2
            } else {
                own = first >> 4
                // RFC 8285 §4.2: id 15 ends the extension.
                guard own != 15 else { return nil }
                length = Int(first & 0x0F) + 1
                at += 1
            }
            guard at + length <= end else { return nil }
            if own == id { return at..<at + length }
            at += length
        }
        return nil
    }

    /// The first byte of an element; nil if the packet does not have it or it is empty.
    package func elementByte(_ id: UInt8?) -> UInt8? {
        guard let id, let range = self.element(id), !range.isEmpty else { return nil }
        return self.bytes[range.lowerBound]
    }

    /// An element of exactly two bytes; nil if the packet does not have it.
    package func elementNumber(_ id: UInt8?) -> UInt16? {
        guard let id, let range = self.element(id), range.count == 2 else { return nil }
        return UInt16(self.bytes[range.lowerBound]) << 8 | UInt16(self.bytes[range.lowerBound + 1])
    }

    /// Whether an element has exactly these bytes.
    package func hasElement(_ id: UInt8?, equalTo text: String.UTF8View) -> Bool {
        guard let id, let range = self.element(id), range.count == text.count else { return false }
        return self.bytes[range].elementsEqual(text)
    }
}

/// Numbers in network byte order.
enum NetworkOrder {
    /// Four bytes at an index. The caller has checked that they exist.
    @inline(__always)
    static func read32(_ bytes: [UInt8], at index: Int) -> UInt32 {
        UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16 | UInt32(bytes[index + 2]) << 8
            | UInt32(bytes[index + 3])
    }

    @inline(__always)
    static func read16(_ bytes: [UInt8], at index: Int) -> UInt16 {
        UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }

    static func append(_ value: UInt32, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 24))
        bytes.append(UInt8(truncatingIfNeeded: value >> 16))
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    static func append(_ value: UInt16, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }
}
