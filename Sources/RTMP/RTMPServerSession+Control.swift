import MediaKernels

/// Handles protocol control and user control messages.
///
/// Spec: RTMP 1.0 §5.4, §6.2, §7.1.7. Set Chunk Size and Abort have already taken effect in the chunk reader.
extension RTMPServerSession {
    mutating func received(control message: RTMPMessage) {
        let payload = message.payload
        switch message.type {
        case .windowAcknowledgementSize:
            guard payload.count == 4, let window = payload.unsigned32(at: 0) else {
                self.ownQuirks.insert(.controlLength)
                return
            }
            // A tiny window would make us answer every read.
            if window > 0 { self.acknowledgementWindow = UInt64(min(max(window, 64 << 10), 16 << 20)) }
        case .setPeerBandwidth:
            // Some peers send four bytes. Our window has been announced already and does not change.
            if payload.count != 5 { self.ownQuirks.insert(.controlLength) }
        case .userControl:
            guard payload.count >= 2, let high = payload.byte(at: 0), let low = payload.byte(at: 1) else {
                self.ownQuirks.insert(.controlLength)
                return
            }
            // PingRequest (6): the same four bytes are returned as PingResponse (7). Other events are ignored.
            if high == 0 && low == 6 && self.state != .connecting {
                self.write(.userControl, [0, 7] + payload.bytes(in: 2..<6))
            }
        default: break
        }
    }

    /// Sends a control message with one 32-bit number.
    mutating func control(_ type: RTMPMessageType, _ value: UInt32) {
        self.write(type, RTMPServerSession.bytes(value))
    }

    mutating func write(_ type: RTMPMessageType, _ payload: [UInt8]) {
        let message = RTMPMessage(
            chunkStreamID: 2, type: type, streamID: 0, timestamp: 0, payload: PacketMemory(payload))
        self.writer.write(message, header: .full, into: &self.output)
    }

    static func bytes(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * $0)) }
    }
}
