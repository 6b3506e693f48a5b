import MediaKernels

/// The messages inside an aggregate message.
///
/// Spec: RTMP 1.0 §7.1.6. Timestamps are shifted so that the first one is the aggregate's; the aggregate's message stream
/// wins; the last back pointer may be missing.
enum RTMPAggregate {
    /// Audio, video and data only: no aggregate in an aggregate, no control message from inside one.
    static func messages(in aggregate: RTMPMessage) -> [RTMPMessage] {
        let payload = aggregate.payload
        var messages: [RTMPMessage] = []
        var offset = 0
        var first: UInt32?
        while let type = payload.byte(at: offset), let length = payload.unsigned24(at: offset + 1),
            let low = payload.unsigned24(at: offset + 4), let high = payload.byte(at: offset + 7)
        {
            let start = offset + 11
            let end = start + Int(length)
            guard end <= payload.count else { break }
            let time = UInt32(high) << 24 | low
            let base = first ?? time
            first = base
            let kind = RTMPMessageType(rawValue: type)
            if kind == .audio || kind == .video || kind == .dataAMF0 || kind == .dataAMF3 {
                messages.append(
                    RTMPMessage(
                        chunkStreamID: aggregate.chunkStreamID, type: kind, streamID: aggregate.streamID,
                        timestamp: aggregate.timestamp &+ (time &- base), payload: payload.copy(of: start..<end)))
            }
            offset = end + 4
        }
        return messages
    }
}
