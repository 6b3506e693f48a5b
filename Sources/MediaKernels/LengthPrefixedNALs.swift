/// H.264 as used in MP4 and FLV: every NAL unit preceded by its length ("AVCC").
///
/// Spec: ISO/IEC 14496-15 §5.3.4.2, `NALUnitLength` of `lengthSizeMinusOne + 1` bytes.
@safe
public enum LengthPrefixedNALs {
    /// Calls `body` with the range of each NAL unit, without its length, in order; empty units included.
    ///
    /// - Parameter lengthSize: Bytes per length, 1 to 4.
    /// - Returns: `true` if the last unit ends exactly at the last byte; `false` if a unit extends beyond the bytes, or
    ///   for an invalid length size. Units before the error have been visited.
    @inline(__always)
    public static func walk(
        _ bytes: UnsafeRawBufferPointer, lengthSize: Int, _ body: (Range<Int>) -> Void
    ) -> Bool {
        guard (1...4).contains(lengthSize) else { return false }
        var offset = 0
        while offset < bytes.count {
            guard bytes.count &- offset >= lengthSize else { return false }
            var length = 0
            for index in 0..<lengthSize {
                // Checked: `offset + lengthSize <= bytes.count`.
                length = unsafe length &<< 8 | Int(bytes[offset &+ index])
            }
            offset &+= lengthSize
            guard length <= bytes.count &- offset else { return false }
            body(offset..<(offset &+ length))
            offset &+= length
        }
        return true
    }

    /// Properties of a payload, found in one walk over its NAL units.
    public struct Summary: Sendable, Hashable {
        /// Whether the last unit ends exactly at the last byte, as in a valid payload.
        public var lands = false
        /// Types of the non-empty units that do not begin with a start code.
        public var types: NALTypes = []
        /// Number of non-empty units.
        public var units = 0
        /// Number of units of length zero, for which FFmpeg 5.1 rejects the whole packet.
        public var emptyUnits = 0
        /// Number of units that begin with a start code: Annex B data with a length in front.
        public var startCodeUnits = 0
    }

    /// Walks `bytes` once and summarizes the units, up to the first error if there is one.
    public static func summary(_ bytes: UnsafeRawBufferPointer, lengthSize: Int) -> Summary {
        var summary = Summary()
        summary.lands = unsafe self.walk(bytes, lengthSize: lengthSize) { range in
            if range.isEmpty {
                summary.emptyUnits &+= 1
                return
            }
            summary.units &+= 1
            if unsafe AnnexB.startCodeLength(at: 0, in: UnsafeRawBufferPointer(rebasing: bytes[range])) > 0 {
                summary.startCodeUnits &+= 1
            } else {
                // Checked: the range is not empty and lies inside `bytes`.
                unsafe summary.types.formUnion(NALTypes(header: bytes[range.lowerBound]))
            }
        }
        return summary
    }
}
