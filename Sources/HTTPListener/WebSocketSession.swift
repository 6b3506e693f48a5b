package import NIOCore
package import NIOWebSocket

/// State machine for the client's frames on a WebSocket where only the server sends data: no channel, no clock.
///
/// States: *open* → ``end()`` or an invalid frame → *closing* → the client's close frame → *over*; *open* → the
/// client's close frame, which is answered → *over*. No client data is kept: messages, whole or fragmented, are dropped
/// frame by frame.
///
/// Spec: RFC 6455 §5.1 and §5.2 (frames), §5.5 (control frames), §7 (closing).
package struct WebSocketSession: Sendable {
    /// An action that the handler must perform.
    package enum Action: Hashable, Sendable {
        case nothing
        /// Send a pong with this payload; only the last of several pings needs one (§5.5.3).
        case pong(ByteBuffer)
        /// Send a close frame with this code, and wait for the client's close frame.
        case fail(UInt16)
        /// Send a close frame with this code (`nil`: without a code), and then close the connection.
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

    /// Whether frames may still be sent; none may follow a close frame (§5.5.1).
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
        // Client frames must be masked (§5.1). The reserved bits belong to extensions, and none is negotiated.
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

    /// Handles data that is not a frame, or a frame that is too large.
    package mutating func failed(_ error: NIOWebSocketError) -> Action {
        guard self.isOpen else { return .nothing }
        switch error {
        case .invalidFrameLength: return self.fail(Code.tooLarge)
        case .fragmentedControlFrame, .multiByteControlFrameLength: return self.fail(Code.protocolError)
        }
    }

    /// Records that the server has nothing more to send.
    ///
    /// - Returns: True if a close frame must be sent; false if one was sent already.
    package mutating func end() -> Bool {
        guard self.isOpen else { return false }
        self.state = .closing
        return true
    }

    private mutating func fail(_ code: UInt16) -> Action {
        self.state = .closing
        return .fail(code)
    }

    /// Returns the code for the answer to a close frame: the client's code if it is valid in a frame (§7.4.1, §7.4.2,
    /// and the IANA registry), otherwise that of a protocol error. nil if the client sent no code.
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
