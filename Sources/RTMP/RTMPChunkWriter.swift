import MediaKernels

/// A message being sent: its payload, the position of the next chunk in it, and the header of its first chunk.
package struct RTMPOutgoingMessage: Sendable {
    package let message: RTMPMessage
    /// Header type of the first chunk, 0 to 3.
    fileprivate let format: UInt8
    /// Timestamp in the first chunk's header, in milliseconds: absolute for type 0, otherwise a delta.
    fileprivate let time: UInt32
    fileprivate var offset = 0
    fileprivate var begun = false

    /// True if every chunk of the message has been written.
    package var isFinished: Bool { self.begun && self.offset >= self.message.payload.count }
}

/// Splits messages into chunks.
///
/// Spec: RTMP 1.0 §5.3. ``write(_:into:)`` chooses the shortest header that all receivers interpret alike; tests
/// request each legal form by name.
package struct RTMPChunkWriter: Sendable {
    private struct Stream: Sendable {
        var timestamp: UInt32
        var delta: UInt32
        var length: Int
        var type: RTMPMessageType
        var streamID: UInt32
        /// True if the last header before type 3 headers was type 1 or 2; then all receivers repeat its delta for a type
        /// 3 header.
        var hasDelta: Bool
    }

    /// The header type with which a message begins.
    package enum Header: Sendable, Hashable, CaseIterable {
        /// The shortest header that all receivers interpret alike.
        case automatic
        /// Type 0: a header with all fields.
        case full
        /// Type 1: a header without the message stream id, which is that of the previous message.
        case sameStream
        /// Type 2: a header with only a timestamp delta; length, type and stream are those of the previous message.
        case sameLength
        /// Type 3: a header without fields; the timestamp delta, too, is that of the previous message.
        case sameDelta
    }

    /// Payload bytes per chunk. The peer must learn of a change before it takes effect (§5.4.1).
    package var chunkSize = 128
    /// True if type 3 chunks repeat the extended timestamp (§5.3.1.3). Old versions of librtmp do not repeat it.
    package var repeatsExtendedTimestamp = true
    /// True if chunk stream ids of 64 to 319 are written in three bytes instead of two.
    package var prefersLongBasicHeader = false

    private var streams: [UInt32: Stream] = [:]

    package init() {}

    /// Appends all chunks of `message`.
    package mutating func write(_ message: RTMPMessage, header: Header = .automatic, into bytes: inout [UInt8]) {
        var outgoing = self.begin(message, header: header)
        while !outgoing.isFinished { self.writeChunk(of: &outgoing, into: &bytes) }
    }

    /// Chooses the header of `message`. A form that would not be legal here is replaced by the next longer one.
    package mutating func begin(_ message: RTMPMessage, header: Header = .automatic) -> RTMPOutgoingMessage {
        let id = message.chunkStreamID
        guard let last = self.streams[id] else {
            self.remember(message, delta: message.timestamp, hasDelta: false)
            return RTMPOutgoingMessage(message: message, format: 0, time: message.timestamp)
        }
        let delta = message.timestamp &- last.timestamp
        let sameStream = message.streamID == last.streamID
        let sameLength = sameStream && message.payload.count == last.length && message.type == last.type
        let sameDelta = sameLength && delta == last.delta
        let forward = delta < 0x8000_0000
        let format: UInt8 =
            switch header {
            case .automatic:
                !sameStream || !forward ? 0 : sameDelta && last.hasDelta ? 3 : sameLength ? 2 : 1
            case .full: 0
            case .sameStream: sameStream ? 1 : 0
            case .sameLength: sameLength ? 2 : sameStream ? 1 : 0
            case .sameDelta: sameDelta ? 3 : sameLength ? 2 : sameStream ? 1 : 0
            }
        switch format {
        case 0: self.remember(message, delta: message.timestamp, hasDelta: false)
        case 3: self.remember(message, delta: last.delta, hasDelta: last.hasDelta)
        default: self.remember(message, delta: delta, hasDelta: true)
        }
        // A type 3 header repeats the extended timestamp of the header it refers to.
        let field = format == 0 ? message.timestamp : format == 3 ? last.delta : delta
        return RTMPOutgoingMessage(message: message, format: format, time: field)
    }

    private mutating func remember(_ message: RTMPMessage, delta: UInt32, hasDelta: Bool) {
        self.streams[message.chunkStreamID] = Stream(
            timestamp: message.timestamp, delta: delta, length: message.payload.count, type: message.type,
            streamID: message.streamID, hasDelta: hasDelta)
    }

    /// Appends the next chunk of `outgoing`, at most ``chunkSize`` payload bytes.
    package mutating func writeChunk(of outgoing: inout RTMPOutgoingMessage, into bytes: inout [UInt8]) {
        let message = outgoing.message
        let format: UInt8 = outgoing.begun ? 3 : outgoing.format
        self.basicHeader(format, message.chunkStreamID, into: &bytes)
        let isExtended = outgoing.time >= 0xFF_FFFF
        if format <= 2 { RTMPChunkWriter.append24(isExtended ? 0xFF_FFFF : outgoing.time, to: &bytes) }
        if format <= 1 {
            RTMPChunkWriter.append24(UInt32(truncatingIfNeeded: message.payload.count), to: &bytes)
            bytes.append(message.type.rawValue)
        }
        if format == 0 {
            for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: message.streamID >> UInt32(8 * index))) }
        }
        if isExtended && (format < 3 || self.repeatsExtendedTimestamp) {
            bytes.append(UInt8(truncatingIfNeeded: outgoing.time >> 24))
            RTMPChunkWriter.append24(outgoing.time & 0xFF_FFFF, to: &bytes)
        }
        let end = min(outgoing.offset + max(1, self.chunkSize), message.payload.count)
        message.payload.append(outgoing.offset..<max(end, outgoing.offset), to: &bytes)
        outgoing.offset = end
        outgoing.begun = true
    }

    private func basicHeader(_ format: UInt8, _ id: UInt32, into bytes: inout [UInt8]) {
        let high = format << 6
        switch id {
        case ..<64: bytes.append(high | UInt8(truncatingIfNeeded: id))
        case ..<320 where !self.prefersLongBasicHeader:
            bytes += [high, UInt8(truncatingIfNeeded: id - 64)]
        default:
            bytes += [high | 1, UInt8(truncatingIfNeeded: id - 64), UInt8(truncatingIfNeeded: (id - 64) >> 8)]
        }
    }

    private static func append24(_ value: UInt32, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 16))
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }
}
