extension AnnexB {
    /// Returns the NAL units of a byte stream as arrays, for parameter sets and tests; the media path uses
    /// ``walk(_:_:)``.
    public static func units(of bytes: [UInt8]) -> [[UInt8]] {
        var ranges: [Range<Int>] = []
        unsafe bytes.withUnsafeBytes { unsafe self.walk($0) { ranges.append($0) } }
        return ranges.map { Array(bytes[$0]) }
    }
}
