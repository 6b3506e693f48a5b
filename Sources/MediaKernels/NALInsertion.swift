/// Inserts NAL units into a coded frame.
public enum NALInsertion {
    /// Size in bytes of the length before each NAL unit of a packet.
    private static let lengthSize = 4

    /// Returns the frame with `units` in front of its first coded slice: after the access unit delimiter, the parameter
    /// sets and the SEI messages of the frame.
    ///
    /// Spec: ITU-T H.264 §7.4.1.2.3.
    ///
    /// - Parameters:
    ///   - range: The payload in `memory`: NAL units with lengths of four bytes.
    ///   - units: NAL units without length; each below 2^31 bytes.
    /// - Returns: `nil` if the payload has no slice or cannot be parsed.
    public static func inserting(_ units: [[UInt8]], into memory: PacketMemory, _ range: Range<Int>) -> PacketMemory? {
        let place = unsafe memory.withBytes(in: range) { bytes -> Int? in
            var first: Int?
            let lands = unsafe LengthPrefixedNALs.walk(bytes, lengthSize: Self.lengthSize) { unit in
                guard first == nil, !unit.isEmpty else { return }
                // Checked: the unit is not empty and lies inside `bytes`.
                let type = unsafe NALTypes(header: bytes[unit.lowerBound])
                if !type.isDisjoint(with: .pictures) { first = unit.lowerBound - Self.lengthSize }
            }
            return lands ? first : nil
        }
        guard let place else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(range.count + units.reduce(0) { $0 + $1.count + Self.lengthSize })
        return unsafe memory.withBytes(in: range) { bytes in
            unsafe result.append(contentsOf: bytes[..<place])
            for unit in units {
                for shift in [24, 16, 8, 0] { result.append(UInt8(truncatingIfNeeded: unit.count >> shift)) }
                result += unit
            }
            unsafe result.append(contentsOf: bytes[place...])
            return PacketMemory(result)
        }
    }
}
