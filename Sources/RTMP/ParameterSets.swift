import MediaKernels

/// The H.264 parameter sets in an access unit.
struct ParameterSets {
    private(set) var sequence: [[UInt8]] = []
    private(set) var picture: [[UInt8]] = []

    /// Collects the parameter sets of an access unit.
    ///
    /// - Parameter range: NAL units with four-byte lengths that end exactly at the end of the range.
    init(_ memory: PacketMemory, in range: Range<Int>) {
        var offset = range.lowerBound
        while offset < range.upperBound, let length = memory.unsigned32(at: offset) {
            let start = offset + 4
            let end = start + Int(length)
            guard end <= range.upperBound, let header = memory.byte(at: start) else { return }
            switch NALTypes(header: header) {
            case .sps: self.sequence.append(memory.bytes(in: start..<end))
            case .pps: self.picture.append(memory.bytes(in: start..<end))
            default: break
            }
            offset = end
        }
    }
}
