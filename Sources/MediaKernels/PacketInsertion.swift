/// Puts NAL units of our own into a coded picture.
public enum PacketInsertion {
    /// Bytes of each length in a packet.
    private static let lengthSize = 4

    /// The picture with `units` in front of its first coded slice: behind the delimiter, the parameter sets and the messages
    /// that have to come first.
    ///
    /// Spec: ITU-T H.264 §7.4.1.2.3. One copy of the packet.
    ///
    /// - Parameters:
    ///   - range: The payload in `memory`: NAL units with lengths of four bytes.
    ///   - units: NAL units without length; each below 2^31 bytes.
    /// - Returns: `nil` for a payload without a slice, or that cannot be read: nothing belongs into it.
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
