/// Reads ISO base media boxes from untrusted data: every access is checked, and boxes are opened one level at a time,
/// so that deep nesting costs no stack. Spec: ISO/IEC 14496-12 §4.2.
package struct BoxReader: Sendable {
    package struct Box: Sendable {
        package let type: String
        /// Range of the whole box, with size and type.
        package let range: Range<Int>
        /// Range of the content after size and type.
        package let body: Range<Int>
    }

    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the boxes in a range, without those inside them; `nil` if a box extends beyond the range or its header
    /// is invalid.
    package func boxes(in range: Range<Int>) -> [Box]? {
        var boxes: [Box] = []
        var position = range.lowerBound
        while position < range.upperBound {
            guard let size32 = self.u32(position), position + 8 <= range.upperBound else { return nil }
            var header = 8
            var size = Int(size32)
            if size32 == 1 {
                guard let wide = self.u64(position + 8), let exact = Int(exactly: wide) else { return nil }
                size = exact
                header = 16
            } else if size32 == 0 {
                size = range.upperBound - position
            }
            guard size >= header, size <= range.upperBound - position else { return nil }
            let type = String(decoding: self.bytes[(position + 4)..<(position + 8)], as: UTF8.self)
            boxes.append(
                Box(type: type, range: position..<(position + size), body: (position + header)..<(position + size)))
            position += size
        }
        return boxes
    }

    /// Returns the first box at a path of types, for example `["mdia", "mdhd"]`, in `range`; `nil` if there is none, or
    /// if the boxes beside it are invalid.
    package func first(_ path: [String], in range: Range<Int>) -> Box? {
        var range = range
        var found: Box?
        for type in path {
            guard let box = self.boxes(in: range)?.first(where: { $0.type == type }) else { return nil }
            found = box
            range = box.body
        }
        return found
    }

    package func u8(_ offset: Int) -> UInt8? { self.bytes.indices.contains(offset) ? self.bytes[offset] : nil }
    package func u16(_ offset: Int) -> UInt16? { self.number(offset, 2).map { UInt16(truncatingIfNeeded: $0) } }
    package func u32(_ offset: Int) -> UInt32? { self.number(offset, 4).map { UInt32(truncatingIfNeeded: $0) } }
    package func u64(_ offset: Int) -> UInt64? { self.number(offset, 8) }

    /// Reads a big-endian number of 1…8 bytes; `nil` if it lies outside the bytes.
    package func number(_ offset: Int, _ count: Int) -> UInt64? {
        guard offset >= 0, count >= 0, offset <= self.bytes.count - count else { return nil }
        var value: UInt64 = 0
        for index in offset..<(offset + count) { value = value << 8 | UInt64(self.bytes[index]) }
        return value
    }
}
