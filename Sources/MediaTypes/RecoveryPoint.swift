package import MediaKernels

/// Pictures of H.264 that are no IDR pictures, and with which decoding may begin all the same: those an open GOP begins with. Senders
/// of transport streams often have one IDR picture at their beginning, or none.
///
/// Streams that refresh the picture bit by bit have recovery points as well, behind which it is right only after many pictures
/// (recovery_frame_cnt): nothing begins there.
///
/// Spec: ITU-T H.264 §7.3.2.3, §D.1.8, §D.2.8.
package enum RecoveryPoint {
    /// Bytes of one NAL unit that are looked at, and messages in it.
    private static let unitLimit = 4096
    private static let messageLimit = 16

    /// Whether all that is shown from an access unit on is right if decoding begins with it.
    ///
    /// - Parameter range: NAL units with four-byte lengths that land exactly.
    package static func isAtOnce(_ memory: PacketMemory, in range: Range<Int>) -> Bool {
        var place = range.lowerBound
        while place + 5 <= range.upperBound {
            var length = 0
            for offset in 0..<4 { length = length << 8 | Int(memory.byte(at: place + offset) ?? 0) }
            let start = place + 4
            guard length > 0, length <= range.upperBound - start else { return false }
            switch (memory.byte(at: start) ?? 0) & 0x1F {
            case 6:
                let unit = memory.bytes(in: start + 1..<start + min(length, self.unitLimit))
                if let isAtOnce = self.read(unit) { return isAtOnce }
            // What is said of a picture stands before it.
            case 1...5: return false
            default: break
            }
            place = start + length
        }
        return false
    }

    /// - Parameter unit: SEI behind the first byte.
    /// - Returns: nil: it holds no recovery point.
    private static func read(_ unit: [UInt8]) -> Bool? {
        let bytes = SequenceParameterSet.removingEmulationPrevention(unit[...])
        var offset = 0
        for _ in 0..<self.messageLimit {
            guard let type = self.number(bytes, &offset), let size = self.number(bytes, &offset),
                size <= bytes.count - offset
            else { return nil }
            // recovery_frame_cnt, the first field, is 0 when its first bit is 1.
            if type == 6, size > 0 { return bytes[offset] & 0x80 != 0 }
            offset += size
        }
        return nil
    }

    /// `payloadType` or `payloadSize`: bytes of 255 and the rest.
    private static func number(_ bytes: [UInt8], _ offset: inout Int) -> Int? {
        var number = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            number += Int(byte)
            if byte != 0xFF { return number }
        }
        return nil
    }
}
