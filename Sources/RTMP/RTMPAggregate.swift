import MediaKernels

/// Iterates over the audio, video and data messages inside an aggregate message; others are skipped. Iteration ends
/// before a truncated message, or after ``maximumMessages``.
///
/// Spec: RTMP 1.0 §7.1.6. Timestamps are shifted so that the first one is the aggregate's; the aggregate's message stream
/// id replaces those of the messages; the last back pointer may be missing.
struct RTMPAggregate: Sequence, IteratorProtocol {
    /// Maximum number of messages that are read of one aggregate, skipped ones included. Senders put some tens of
    /// messages in; an aggregate of 8 MiB could hold half a million empty messages.
    static let maximumMessages = 4_096

    private let aggregate: RTMPMessage
    private var offset = 0
    private var first: UInt32?
    private var count = 0

    init(_ aggregate: RTMPMessage) { self.aggregate = aggregate }

    mutating func next() -> RTMPMessage? {
        let payload = self.aggregate.payload
        while self.count < Self.maximumMessages, let type = payload.byte(at: self.offset),
            let length = payload.unsigned24(at: self.offset + 1), let low = payload.unsigned24(at: self.offset + 4),
            let high = payload.byte(at: self.offset + 7)
        {
            let start = self.offset + 11
            let end = start + Int(length)
            guard end <= payload.count else { return nil }
            self.count += 1
            self.offset = end + 4
            let time = UInt32(high) << 24 | low
            let base = self.first ?? time
            self.first = base
            let kind = RTMPMessageType(rawValue: type)
            guard kind == .audio || kind == .video || kind == .dataAMF0 || kind == .dataAMF3 else { continue }
            return RTMPMessage(
                chunkStreamID: self.aggregate.chunkStreamID, type: kind, streamID: self.aggregate.streamID,
                timestamp: self.aggregate.timestamp &+ (time &- base), payload: payload.copy(of: start..<end))
        }
        return nil
    }
}
