import MediaKernels
import MediaTypes

/// The NAL units of a coded video packet.
enum AccessUnit {
    /// Types that players do not need: SEI, access unit delimiters, and filler data.
    private static let unneeded: Set<UInt8> = [6, 9, 12]

    /// The NAL units to send, each with its header byte first.
    ///
    /// - Parameters:
    ///   - parameterSets: Put before a key frame that has none of its own.
    /// - Returns: Empty for a packet without slices.
    static func units(of packet: CodedPacket, parameterSets: [[UInt8]]) -> [[UInt8]] {
        let bytes = packet.withBytes { Array($0) }
        let all = Self.split(bytes) ?? AnnexB.units(of: bytes)
        let kept = all.filter { unit in unit.first.map { !Self.unneeded.contains($0 & 0x1F) } ?? false }
        guard kept.contains(where: { (1...5).contains($0[0] & 0x1F) }) else { return [] }
        let hasOwn = kept.contains { $0[0] & 0x1F == 7 }
        return packet.isKey && !hasOwn ? parameterSets + kept : kept
    }

    /// Splits units that have lengths of four bytes before them; nil if the lengths do not fit.
    private static func split(_ bytes: [UInt8]) -> [[UInt8]]? {
        var units: [[UInt8]] = []
        var at = 0
        while at < bytes.count {
            guard at + 4 <= bytes.count else { return nil }
            let length = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            at += 4
            guard length <= bytes.count - at else { return nil }
            if length > 0 { units.append(Array(bytes[at..<at + length])) }
            at += length
        }
        return units
    }

    /// The parameter sets in a configuration: an `AVCDecoderConfigurationRecord`, or Annex B.
    static func parameterSets(of configuration: [UInt8]) -> [[UInt8]] {
        let record = AVCRecord(record: configuration) ?? AVCRecord(annexB: configuration)
        return record.map { $0.sequenceParameterSets + $0.pictureParameterSets } ?? []
    }
}
