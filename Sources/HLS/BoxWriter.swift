/// Writes ISO base media file format boxes. Fields are big-endian; a box's size is filled in when its content is
/// complete.
///
/// Spec: ISO/IEC 14496-12 §4.2.
package struct BoxWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func u8(_ value: UInt8) { self.bytes.append(value) }

    package mutating func u16(_ value: UInt16) {
        self.u8(UInt8(truncatingIfNeeded: value >> 8))
        self.u8(UInt8(truncatingIfNeeded: value))
    }

    package mutating func u24(_ value: UInt32) {
        self.u8(UInt8(truncatingIfNeeded: value >> 16))
        self.u16(UInt16(truncatingIfNeeded: value))
    }

    package mutating func u32(_ value: UInt32) {
        self.u16(UInt16(truncatingIfNeeded: value >> 16))
        self.u16(UInt16(truncatingIfNeeded: value))
    }

    package mutating func u64(_ value: UInt64) {
        self.u32(UInt32(truncatingIfNeeded: value >> 32))
        self.u32(UInt32(truncatingIfNeeded: value))
    }

    package mutating func zeros(_ count: Int) { self.bytes.append(contentsOf: repeatElement(0, count: count)) }

    package mutating func raw(_ more: [UInt8]) { self.bytes.append(contentsOf: more) }

    /// Writes a four-character code or any other ASCII text, without a length.
    package mutating func text(_ ascii: String) { self.bytes.append(contentsOf: ascii.utf8) }

    /// Writes a box around the content that `body` writes.
    package mutating func box(_ type: String, _ body: (inout BoxWriter) -> Void) {
        let start = self.bytes.count
        self.u32(0)
        self.text(type)
        body(&self)
        self.patch(UInt32(truncatingIfNeeded: self.bytes.count - start), at: start)
    }

    /// Writes a box that starts with a version and flags. Spec: §4.2 `FullBox`.
    package mutating func fullBox(
        _ type: String, version: UInt8 = 0, flags: UInt32 = 0, _ body: (inout BoxWriter) -> Void
    ) {
        self.box(type) { box in
            box.u8(version)
            box.u24(flags)
            body(&box)
        }
    }

    /// Overwrites four bytes that are already written.
    package mutating func patch(_ value: UInt32, at offset: Int) {
        guard offset >= 0, offset + 4 <= self.bytes.count else { return }
        for index in 0..<4 { self.bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(index))) }
    }
}
