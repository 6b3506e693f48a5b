import NIOCore
import NIOWebSocket
import Testing

import HTTPListener

@Suite("WebSocket server: handling of client frames: RFC 6455 §5 and §7")
struct WebSocketSessionTests {
    private static func frame(
        _ opcode: WebSocketOpcode, _ bytes: [UInt8] = [], fin: Bool = true, isMasked: Bool = true
    ) -> WebSocketFrame {
        let mask: WebSocketMaskingKey? = isMasked ? [1, 2, 3, 4] : nil
        var payload = ByteBuffer(bytes: bytes)
        if let mask { payload.webSocketMask(mask) }
        return WebSocketFrame(fin: fin, opcode: opcode, maskKey: mask, data: payload)
    }

    @Test("a WebSocket ping is answered with its payload, unmasked")
    func ping() {
        var session = WebSocketSession()
        #expect(session.received(Self.frame(.ping, [1, 2, 3, 4, 5])) == .pong(ByteBuffer(bytes: [1, 2, 3, 4, 5])))
        #expect(session.received(Self.frame(.ping)) == .pong(ByteBuffer()))
        #expect(session.isOpen)
    }

    @Test("WebSocket messages of the client, whole and fragmented, and pongs are ignored", arguments: [true, false])
    func ignored(fin: Bool) {
        var session = WebSocketSession()
        for opcode in [WebSocketOpcode.text, .binary, .continuation, .pong] {
            #expect(session.received(Self.frame(opcode, [1], fin: fin)) == .nothing)
        }
        #expect(session.isOpen)
    }

    @Test("a WebSocket frame without a mask, with a reserved bit or an unknown opcode closes with 1002, once")
    func violations() throws {
        var wrong = [Self.frame(.text, [1], isMasked: false), Self.frame(.ping, isMasked: false)]
        for bit in 0..<3 {
            var frame = Self.frame(.ping)
            (frame.rsv1, frame.rsv2, frame.rsv3) = (bit == 0, bit == 1, bit == 2)
            wrong.append(frame)
        }
        for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8] {
            wrong.append(Self.frame(try #require(WebSocketOpcode(encodedWebSocketOpcode: opcode)), [1]))
        }
        for frame in wrong {
            var session = WebSocketSession()
            #expect(session.received(frame) == .fail(1_002), "\(frame)")
            #expect(!session.isOpen && !session.end())
            #expect(session.received(frame) == .nothing && session.received(Self.frame(.ping)) == .nothing)
            #expect(session.received(Self.frame(.connectionClose)) == .disconnect)
            #expect(session.received(Self.frame(.connectionClose)) == .nothing)
        }
    }

    @Test(
        "a WebSocket close frame is answered with its status code, or with 1002 if the code is invalid or reserved",
        arguments: [
            ([], nil), ([3, 232], 1_000), ([3, 233, 65], 1_001), ([3, 235], 1_003), ([3, 239], 1_007),
            ([3, 246], 1_014), ([11, 184], 3_000), ([19, 135], 4_999),
            ([3], 1_002), ([0, 0], 1_002), ([3, 236], 1_002), ([3, 237], 1_002), ([3, 238], 1_002), ([3, 247], 1_002),
            ([19, 136], 1_002), ([255, 255], 1_002),
        ] as [([UInt8], UInt16?)])
    func closed(payload: [UInt8], code: UInt16?) {
        var session = WebSocketSession()
        #expect(session.received(Self.frame(.connectionClose, payload)) == .answerClose(code))
        #expect(!session.isOpen && !session.end())
        #expect(session.received(Self.frame(.ping)) == .nothing)
    }

    @Test("a WebSocket frame that is too long closes with 1009, a malformed control frame with 1002")
    func errors() {
        for (error, code) in [
            (NIOWebSocketError.invalidFrameLength, 1_009), (.fragmentedControlFrame, 1_002),
            (.multiByteControlFrameLength, 1_002),
        ] as [(NIOWebSocketError, UInt16)] {
            var session = WebSocketSession()
            #expect(session.failed(error) == .fail(code))
            #expect(session.failed(error) == .nothing)
        }
    }

    @Test("after the WebSocket server's close frame, only the client's close frame has an effect")
    func ended() {
        var session = WebSocketSession()
        #expect(session.end() && !session.isOpen && !session.end())
        #expect(session.received(Self.frame(.ping, [1])) == .nothing)
        #expect(session.received(Self.frame(.text, isMasked: false)) == .nothing)
        #expect(session.received(Self.frame(.connectionClose, [3, 232])) == .disconnect)
    }
}
