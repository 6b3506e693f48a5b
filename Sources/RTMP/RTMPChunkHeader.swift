/// The basic header and message header of one chunk, as on the wire.
///
/// Spec: RTMP 1.0 §5.3.1.1 (basic header), §5.3.1.2 (message header), §5.3.1.3 (extended timestamp).
struct RTMPChunkHeader {
    /// Header type, 0 to 3.
    var format: UInt8
    var chunkStreamID: UInt32
    /// Timestamp in milliseconds: absolute for type 0, a delta for types 1 and 2, taken from the extended timestamp if
    /// there is one. 0 for type 3.
    var time: UInt32 = 0
    /// True if the 24-bit timestamp field was 0xFFFFFF, so that an extended timestamp follows; only for types 0 to 2.
    var hasExtended = false
    /// Length of the message in bytes; only for types 0 and 1.
    var length = 0
    var type = RTMPMessageType(rawValue: 0)
    /// Message stream id; only for type 0.
    var streamID: UInt32 = 0
    /// Bytes of the header on the wire, without the optional extended timestamp of a type 3 chunk.
    var size: Int

    /// Reads the header at `start`; nil if bytes are missing.
    init?(_ bytes: Span<UInt8>, at start: Int) {
        let available = bytes.count - start
        guard start >= 0, available >= 1 else { return nil }
        let first = bytes[start]
        self.format = first >> 6
        self.chunkStreamID = UInt32(first & 0x3F)
        self.size = 1
        if self.chunkStreamID == 0 {
            guard available >= 2 else { return nil }
            self.chunkStreamID = 64 + UInt32(bytes[start + 1])
            self.size = 2
        } else if self.chunkStreamID == 1 {
            guard available >= 3 else { return nil }
            self.chunkStreamID = 64 + UInt32(bytes[start + 1]) + UInt32(bytes[start + 2]) << 8
            self.size = 3
        }
        if self.format == 3 { return }
        let fields = start + self.size
        let fieldSize = self.format == 0 ? 11 : self.format == 1 ? 7 : 3
        guard available >= self.size + fieldSize else { return nil }
        self.time = RTMPChunkHeader.unsigned24(bytes, fields)
        if self.format <= 1 {
            self.length = Int(RTMPChunkHeader.unsigned24(bytes, fields + 3))
            self.type = RTMPMessageType(rawValue: bytes[fields + 6])
        }
        if self.format == 0 {
            // The one little-endian field of the protocol.
            for index in 0..<4 { self.streamID |= UInt32(bytes[fields + 7 + index]) << UInt32(8 * index) }
        }
        self.size += fieldSize
        if self.time == 0xFF_FFFF {
            guard available >= self.size + 4 else { return nil }
            self.hasExtended = true
            self.time = 0
            for index in 0..<4 { self.time = self.time << 8 | UInt32(bytes[start + self.size + index]) }
            self.size += 4
        }
    }

    private static func unsigned24(_ bytes: Span<UInt8>, _ offset: Int) -> UInt32 {
        UInt32(bytes[offset]) << 16 | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2])
    }
}
