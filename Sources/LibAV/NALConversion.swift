package import MediaKernels
package import MediaTypes

/// Converts the H.264 or HEVC packets of a file to the form of publishers' packets: NAL units with four-byte lengths, and
/// the parameter sets in a configuration record.
///
/// Files of MPEG-TS, AVI and raw streams have start codes (Annex B) and parameter sets in their packets; some MP4 files
/// have lengths of one or two bytes. A pure value.
package struct NALConversion: Sendable {
    /// The configuration record of the converted packets; empty if the parameter sets are not known yet. Packets with
    /// start codes can change it; see ``convert(_:isKey:)``.
    package private(set) var configuration: [UInt8]
    private let codec: CodecName
    /// Bytes per length in the file; `nil`: the NAL units have start codes.
    private let lengthSize: Int?

    /// Reads the configuration of a track as libavformat returns it.
    ///
    /// - Returns: `nil` if the packets need no conversion: lengths of four bytes, another codec, or a configuration that
    ///   cannot be read.
    package init?(codec: CodecName, configuration: [UInt8]) {
        guard codec == .h264 || codec == .hevc else { return nil }
        self.codec = codec
        if configuration.isEmpty || configuration.starts(with: [0, 0, 1]) || configuration.starts(with: [0, 0, 0, 1]) {
            self.lengthSize = nil
            self.configuration = Self.record(codec, from: configuration) ?? []
            return
        }
        let known =
            codec == .h264
            ? AVCRecord(record: configuration).map { ($0.record, $0.lengthSize) }
            : HEVCConfiguration(record: configuration).map { ($0.record, $0.lengthSize) }
        guard let (record, lengthSize) = known, lengthSize != 4 else { return nil }
        (self.configuration, self.lengthSize) = (record, lengthSize)
    }

    /// Converts a packet. If it has start codes, parameter sets that ``configuration`` does not contain are added to a
    /// new configuration, at key frames only unless there is none yet.
    ///
    /// - Returns: `nil` if nothing can be decoded: the packet has no NAL unit, or the parameter sets are not known yet. A
    ///   packet with an invalid length is returned as it is, for the decoder to report.
    package mutating func convert(_ memory: PacketMemory, isKey: Bool) -> PacketMemory? {
        if let lengthSize = self.lengthSize {
            switch NALSanitizer.sanitize(memory, in: 0..<memory.count, lengthSize: lengthSize) {
            case .rewritten(let payload): return payload.memory
            case .empty: return nil
            case .unchanged, .malformed: return memory
            }
        }
        let payload = unsafe memory.withBytes { unsafe AnnexB.lengthPrefixed($0) }
        guard payload.memory.count > 0 else { return nil }
        let hasSets = self.codec == .hevc || payload.types.isSuperset(of: [.sps, .pps])
        if hasSets, isKey || self.configuration.isEmpty { self.learn(from: memory) }
        return self.configuration.isEmpty ? nil : payload.memory
    }

    private mutating func learn(from memory: PacketMemory) {
        guard let record = Self.record(self.codec, from: memory.bytes),
            record.count <= CodecParameters.largestConfiguration
        else { return }
        let known = Self.parameterSets(self.codec, self.configuration)
        if Self.parameterSets(self.codec, record).allSatisfy({ known.contains($0) }) { return }
        self.configuration = record
    }

    /// Makes a configuration record from the parameter sets among NAL units with start codes; `nil` if a required one is
    /// missing.
    private static func record(_ codec: CodecName, from bytes: [UInt8]) -> [UInt8]? {
        guard codec == .hevc else { return AVCRecord(annexB: bytes)?.record }
        let units = unsafe bytes.withUnsafeBytes { unsafe AnnexB.lengthPrefixed($0).memory }
        return HEVCConfiguration(HEVCUnits(units, in: 0..<units.count))?.record
    }

    private static func parameterSets(_ codec: CodecName, _ record: [UInt8]) -> [[UInt8]] {
        codec == .hevc
            ? HEVCConfiguration(record: record)?.arrays.flatMap(\.units) ?? []
            : AVCRecord(record: record).map { $0.sequenceParameterSets + $0.pictureParameterSets } ?? []
    }
}
