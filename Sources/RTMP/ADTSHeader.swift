import MediaKernels

/// The header of one ADTS frame: of AAC in transport streams, and in RTMP if an encoder does not remove it.
///
/// Spec: ISO/IEC 14496-3 §1.A.3.2.
struct ADTSHeader {
    /// Size of the ADTS header in bytes, 7 or 9.
    let size: Int
    /// The `AudioSpecificConfig` that is equivalent to the ADTS header.
    let configuration: [UInt8]

    /// Reads the header at `offset`; nil unless the frame extends exactly to the end of the payload.
    init?(_ payload: PacketMemory, at offset: Int) {
        guard payload.count - offset > 7, payload.byte(at: offset) == 0xFF,
            let second = payload.byte(at: offset + 1), second & 0xF6 == 0xF0,
            let third = payload.byte(at: offset + 2), let fields = payload.unsigned32(at: offset + 3)
        else { return nil }
        let length = Int(fields >> 13 & 0x1FFF)
        guard length == payload.count - offset else { return nil }
        self.size = second & 1 == 1 ? 7 : 9
        guard length > self.size else { return nil }
        let objectType = (third >> 6) + 1
        let rateIndex = third >> 2 & 0xF
        let channels = (third & 1) << 2 | UInt8(truncatingIfNeeded: fields >> 30)
        self.configuration = [objectType << 3 | rateIndex >> 1, (rateIndex & 1) << 7 | channels << 3]
    }
}
