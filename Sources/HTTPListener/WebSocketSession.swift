package import NIOCore
package import NIOWebSocket

/// What the server of a WebSocket that only sends does about its client's frames: no channel, no clock.
///
/// States: *open* → ``end()`` or a frame against the rules → *closing* → the client's close frame → *over*;
/// *open* → the client's close frame, which is answered → *over*. Of a client nothing is kept: its messages, whole or in
/// fragments, are dropped frame by frame.
///
/// Spec: RFC 6455 §5.1 and §5.2 (frames), §5.5 (control frames), §7 (closing).
package struct WebSocketSession: Sendable {
    /// What is to be done.
    package enum Action: Hashable, Sendable {
        case nothing
        /// Send this in a pong; of several pings the last alone needs one (§5.5.3).
        case pong(ByteBuffer)
        /// Send a close frame with this code, and wait for the client's.
        case fail(UInt16)
        /// Send a close frame with this code, `nil`: an empty one, and then close the connection.
        case answerClose(UInt16?)
        /// Close the connection.
        case disconnect
    }

    /// Status codes of close frames (§7.4.1).
    package enum Code {
        package static let normal: UInt16 = 1_000
        package static let protocolError: UInt16 = 1_002
        package static let policyViolation: UInt16 = 1_008
        package static let tooLarge: UInt16 = 1_009
    }

    private enum State { case open, closing, over }

    private var state = State.open

    package init() {}

    /// Whether frames may still be sent: none follows a close frame (§5.5.1).
    package var isOpen: Bool { self.state == .open }

    package mutating func received(_ frame: WebSocketFrame) -> Action {
        switch self.state {
        case .open: break
        case .closing:
            guard frame.opcode == .connectionClose else { return .nothing }
            self.state = .over
            return .disconnect
        case .over: return .nothing
        }
        // A client masks (§5.1); the reserved bits are those of extensions, of which none is agreed on.
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return self.fail(Code.protocolError) }
        switch frame.opcode {
        case .ping: return .pong(frame.unmaskedData)
        case .connectionClose:
            self.state = .over
            return .answerClose(Self.answer(to: frame.unmaskedData))
        case .pong, .text, .binary, .continuation: return .nothing
        default: return self.fail(Code.protocolError)
        }
    }

    /// What came is no frame, or one that is larger than any a player sends.
    package mutating func failed(_ error: NIOWebSocketError) -> Action {
        guard self.isOpen else { return .nothing }
        switch error {
        case .invalidFrameLength: return self.fail(Code.tooLarge)
        case .fragmentedControlFrame, .multiByteControlFrameLength: return self.fail(Code.protocolError)
        }
    }

    /// The server has nothing more to send.
    ///
    /// - Returns: Whether a close frame is to be sent: not where one was.
    package mutating func end() -> Bool {
        guard self.isOpen else { return false }
        self.state = .closing
        return true
    }

    private mutating func fail(_ code: UInt16) -> Action {
        self.state = .closing
        return .fail(code)
    }

    /// The client's code, where it may stand in a frame (§7.4.1, §7.4.2, and the IANA registry's further ones).
    private static func answer(to payload: ByteBuffer) -> UInt16? {
        guard payload.readableBytes > 0 else { return nil }
        switch payload.getInteger(at: payload.readerIndex, as: UInt16.self) {
        case .some(let code) where (1_000...1_003).contains(code): return code
        case .some(let code) where (1_007...1_014).contains(code): return code
        case .some(let code) where (3_000...4_999).contains(code): return code
        default: return Code.protocolError
        }
    }
}
