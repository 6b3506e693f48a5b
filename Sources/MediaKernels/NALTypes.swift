/// A set of H.264 NAL unit types (0 to 31).
///
/// Spec: ISO/IEC 14496-10 (H.264) Table 7-1. One bit per type, so that collecting the types of a packet does not
/// allocate.
public struct NALTypes: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the set with one type: that in the low five bits of a NAL unit's first byte.
    @inline(__always)
    public init(header: UInt8) { self.rawValue = 1 &<< UInt32(header & 0x1F) }

    /// Coded slice of a picture that is not IDR (type 1).
    public static let slice = NALTypes(rawValue: 1 << 1)
    /// Coded slice data partition A (type 2).
    public static let partition = NALTypes(rawValue: 1 << 2)
    /// Coded slice of an IDR picture (type 5).
    public static let idr = NALTypes(rawValue: 1 << 5)
    /// Supplemental enhancement information (type 6).
    public static let sei = NALTypes(rawValue: 1 << 6)
    /// Sequence parameter set (type 7).
    public static let sps = NALTypes(rawValue: 1 << 7)
    /// Picture parameter set (type 8).
    public static let pps = NALTypes(rawValue: 1 << 8)
    /// Access unit delimiter (type 9).
    public static let aud = NALTypes(rawValue: 1 << 9)
    /// Filler data (type 12).
    public static let filler = NALTypes(rawValue: 1 << 12)
    /// Coded slices and slice data partitions (types 1 to 5): a packet with one of these contains video.
    public static let pictures = NALTypes(rawValue: 0b11_1110)
}
