package import MediaKernels

/// The messages of supplemental enhancement information (SEI) in an H.264 or HEVC access unit, in order, read in place: most
/// frames of many publishers have some, so nothing is copied or allocated.
///
/// The number of bytes read per unit is limited, and an incomplete message ends the reading of its unit.
///
/// Spec: ITU-T H.264 §7.3.2.3, §7.3.2.3.1; ITU-T H.265 §7.3.5.
package struct SEIMessages: Sendable, Sequence, IteratorProtocol {
    /// Maximum number of bytes read per NAL unit, including its header.
    package static let unitLimit = 4096
    /// Maximum number of messages read per NAL unit.
    package static let messageLimit = 16

    package struct Message: Sendable {
        /// The message's `payloadType`.
        package let type: Int
        /// Reader for the message's payload, which is complete.
        package let payload: NALPayloadReader
    }

    private let memory: PacketMemory
    private let end: Int
    private let endsAtPicture: Bool
    private let isHEVC: Bool
    /// Offset of the next NAL unit's length.
    private var place: Int
    /// Reader for the rest of the current NAL unit; `nil` between units.
    private var unit: NALPayloadReader?
    /// Number of messages read from the current unit.
    private var count = 0

    /// Creates an iterator over the messages of an access unit.
    ///
    /// - Parameters:
    ///   - range: NAL units with four-byte lengths. Iteration ends at an empty unit, and at a unit that extends beyond
    ///     the range.
    ///   - endsAtPicture: Whether iteration ends at the first slice.
    ///   - isHEVC: Whether the units are HEVC, of which only SEI units before the slices are read; otherwise they are
    ///     H.264.
    package init(_ memory: PacketMemory, in range: Range<Int>, endsAtPicture: Bool = false, isHEVC: Bool = false) {
        self.memory = memory
        self.place = range.lowerBound
        self.end = range.upperBound
        self.endsAtPicture = endsAtPicture
        self.isHEVC = isHEVC
    }

    package mutating func next() -> Message? {
        while true {
            if let message = self.nextOfUnit() { return message }
            self.unit = nil
            guard self.openUnit() else { return nil }
        }
    }

    private mutating func nextOfUnit() -> Message? {
        guard self.count < Self.messageLimit, var unit = self.unit else { return nil }
        guard let type = Self.number(&unit), let size = Self.number(&unit) else { return nil }
        let payload = unit.prefix(size)
        guard unit.skip(size) else { return nil }
        self.unit = unit
        self.count += 1
        return Message(type: type, payload: payload)
    }

    /// Advances to the next SEI NAL unit; `false` if there is none.
    private mutating func openUnit() -> Bool {
        while self.place + 5 <= self.end {
            var length = 0
            for offset in 0..<4 { length = length << 8 | Int(self.memory.byte(at: self.place + offset) ?? 0) }
            let start = self.place + 4
            guard length > 0, length <= self.end - start else { break }
            self.place = start + length
            let header = self.memory.byte(at: start) ?? 0
            let type = self.isHEVC ? header >> 1 & 0x3F : header & 0x1F
            let headerSize = self.isHEVC ? 2 : 1
            if type == (self.isHEVC ? 39 : 6), length >= headerSize {
                self.unit = NALPayloadReader(
                    self.memory, in: start + headerSize..<start + Swift.min(length, Self.unitLimit))
                self.count = 0
                return true
            }
            if self.endsAtPicture, self.isHEVC ? type < 32 : (1...5).contains(type) { break }
        }
        self.place = self.end
        return false
    }

    /// Reads `payloadType` or `payloadSize`: bytes of 255, followed by a last byte.
    private static func number(_ unit: inout NALPayloadReader) -> Int? {
        var number = 0
        while let byte = unit.next() {
            number += Int(byte)
            if byte != 0xFF { return number }
        }
        return nil
    }
}
