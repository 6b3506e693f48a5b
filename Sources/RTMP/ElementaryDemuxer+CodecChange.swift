import MediaKernels
import MediaTypes

/// Detects from the payload that the codec of a stream (PID) has changed.
extension ElementaryDemuxer {
    /// Returns the codec in which `unit` is evidently coded if it differs from the announced `codec`; otherwise nil.
    static func change(of unit: MPEGTSUnit, from codec: CodecName) -> CodecName? {
        let range = 0..<unit.payload.count
        switch codec {
        case .h264:
            // The sequence parameter sets of H.265 look like data partitions in H.264, which no live encoder makes.
            guard unit.types.contains(.partition) else { return nil }
            let sets = HEVCUnits(unit.payload, in: range).sequence
            // Only sets of the base layer count, as in decoders.
            return sets.contains { $0[1] == 1 && HEVCSequenceParameterSet(nalUnit: $0) != nil } ? .hevc : nil
        case .hevc:
            // In H.265 the header of an H.264 sequence parameter set would mean an unspecified type, in a layer from the
            // 32nd on.
            guard unit.types.contains(.sps), unit.types.contains(.pps) else { return nil }
            let sets = ParameterSets(unit.payload, in: range)
            let configuration = AVCRecord(
                sequenceParameterSets: sets.sequence, pictureParameterSets: sets.picture)
            return configuration == nil ? nil : .h264
        case .aac:
            if self.beginsWithOpus(unit.payload) { return .opus }
            return self.beginsWithMP3(unit.payload) ? .mp3 : nil
        case .opus, .mp3, .ac3, .eac3:
            // An Opus packet that begins like this would last a second; the other codecs begin differently.
            return self.beginsWithADTS(unit.payload) ? .aac : nil
        default: return nil
        }
    }

    /// Detects the control header of Opus in transport streams, followed by its packet and then the end or another such
    /// header. The first bytes alone are not enough: the remainder of an AAC frame whose beginning was lost can begin
    /// with any bytes.
    private static func beginsWithOpus(_ payload: PacketMemory) -> Bool {
        func flags(at offset: Int) -> UInt8? {
            guard payload.byte(at: offset) == 0x7F, let flags = payload.byte(at: offset + 1) else { return nil }
            return flags & 0xE0 == 0xE0 ? flags : nil
        }
        guard let said = flags(at: 0) else { return false }
        // The size of the packet, coded in as many bytes as needed.
        var (offset, size) = (2, 0)
        while let byte = payload.byte(at: offset) {
            offset += 1
            size += Int(byte)
            if byte < 0xFF { break }
        }
        // Trim values for the start and the end.
        if said & 0x10 != 0 { offset += 2 }
        if said & 0x08 != 0 { offset += 2 }
        if said & 0x04 != 0 { offset += 1 + Int(payload.byte(at: offset) ?? 0) }
        let end = offset + size
        return size > 0 && (end == payload.count || flags(at: end) != nil)
    }

    /// Returns whether the payload begins with an ADTS frame that fills it or is followed by another one.
    private static func beginsWithADTS(_ payload: PacketMemory) -> Bool {
        func begins(at offset: Int) -> Bool {
            payload.byte(at: offset) == 0xFF && (payload.byte(at: offset + 1) ?? 0) & 0xF6 == 0xF0
        }
        guard begins(at: 0), let fields = payload.unsigned32(at: 3) else { return false }
        let length = Int(fields >> 13 & 0x1FFF)
        return length > 7 && (length == payload.count || length < payload.count && begins(at: length))
    }

    /// Returns whether the payload begins with an MPEG audio layer III frame that fills it or is followed by another
    /// one.
    ///
    /// Spec: ISO/IEC 11172-3 §2.4.1.3, ISO/IEC 13818-3 §2.4.1.3. The quarter sample rates (MPEG-2.5) are not
    /// standardized but widely used.
    private static func beginsWithMP3(_ payload: PacketMemory) -> Bool {
        // Sync word, version and layer. In ADTS the layer bits are 0.
        guard let header = payload.unsigned32(at: 0), header >> 21 == 0x7FF, header >> 17 & 3 == 1 else { return false }
        let version = header >> 19 & 3
        let rate = Int(header >> 12 & 15)
        let frequency = Int(header >> 10 & 3)
        guard version != 1, (1...14).contains(rate), frequency < 3 else { return false }
        let isFirst = version == 3
        let bits = (isFirst ? self.mp3Rates.first : self.mp3Rates.second)[rate - 1] * 1_000
        let samples = [44_100, 48_000, 32_000][frequency] / (isFirst ? 1 : version == 2 ? 2 : 4)
        let length = (isFirst ? 144 : 72) * bits / samples + Int(header >> 9 & 1)
        if length == payload.count { return true }
        guard length < payload.count, let next = payload.unsigned32(at: length) else { return false }
        return next >> 17 == header >> 17
    }

    /// Bit rates in kbit/s by the index in the header, from 1 on, of MPEG-1 and of MPEG-2 and 2.5.
    private static let mp3Rates = (
        first: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        second: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
    )
}
