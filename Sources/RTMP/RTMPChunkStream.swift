/// The state of one chunk stream at the receiver.
///
/// Spec: RTMP 1.0 §5.3.1.2: later headers omit fields that have not changed.
struct RTMPChunkStream {
    let id: UInt32
    /// Absolute timestamp in milliseconds of the last message begun, modulo 2³².
    var timestamp: UInt32 = 0
    /// Timestamp delta in milliseconds that a type 3 header adds when it begins a message.
    var delta: UInt32 = 0
    /// True if the timestamp field of the last type 0, 1 or 2 header that began a message was 0xFFFFFF, so that an
    /// extended timestamp followed.
    var hasExtended = false
    /// The timestamp or delta of that header, from its extended timestamp if it has one.
    var extended: UInt32 = 0
    var length = 0
    var type = RTMPMessageType(rawValue: 0)
    var streamID: UInt32 = 0
    /// Payload bytes that the current message still lacks; 0 between messages.
    var missing = 0
    /// Index of the assembler in the reader's table; -1 between messages.
    var slot = -1

    var isMidMessage: Bool { self.slot >= 0 }
}
