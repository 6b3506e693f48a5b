import HTTPProbe
import NIOCore
import TestSupport
import Testing

import HTTPListener

@Suite("WebSocket streams over real sockets: RFC 6455 §5 and §7", .timeLimit(.minutes(1)))
struct WebSocketTests {
    private typealias Probe = WebSocketProbe

    private static func pong(_ payload: [UInt8]) -> Probe.Frame { Probe.Frame(opcode: 10, payload: payload) }

    @Test(
        "each piece of a stream is sent as one binary WebSocket frame, with all length forms", arguments: [false, true])
    func frames(tls: Bool) async throws {
        try await FedStream.serve(tls: tls) { stream, listener in
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                #expect(talk.head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
                let fields = talk.head.lowercased()
                #expect(fields.contains("\r\nupgrade: websocket\r\n") && fields.contains("\r\nconnection: upgrade\r\n"))
                #expect(!fields.contains("content-length") && !fields.contains("transfer-encoding"))
                for count in [1, 125, 126, 127, 65_535, 65_536, 300_000] {
                    let piece = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
                    stream.feed(piece)
                    let frame = try await talk.next()
                    #expect(frame?.opcode == 2 && frame?.payload == piece, "\(count) bytes")
                }
            }
        }
    }

    @Test(
        "WebSocket pings are answered between the stream's frames; messages from the client are dropped",
        arguments: [false, true])
    func pings(tls: Bool) async throws {
        try await FedStream.serve(tls: tls) { stream, listener in
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                stream.feed([1, 2, 3])
                #expect(try await talk.next()?.payload == [1, 2, 3])
                try await talk.send(Probe.frame(9, [5, 6, 7]))
                #expect(try await talk.next() == Self.pong([5, 6, 7]))
                // A fragmented message with a ping in its middle, as allowed by §5.4.
                try await talk.send(
                    Probe.frame(1, [65], isFinal: false) + Probe.frame(9) + Probe.frame(0, [66], isFinal: false)
                        + Probe.frame(0, [67]) + Probe.frame(2, [UInt8](repeating: 1, count: 1_024)) + Probe.frame(10))
                #expect(try await talk.next() == Self.pong([]))
                for byte in Probe.frame(9, [UInt8](repeating: 8, count: 125)) { try await talk.send([byte]) }
                #expect(try await talk.next() == Self.pong([UInt8](repeating: 8, count: 125)))
                stream.feed([4])
                #expect(try await talk.next()?.payload == [4])
            }
        }
    }

    @Test("20,000 WebSocket pings at once get at most 2,000 pongs; the last ping is answered")
    func manyPings() async throws {
        try await FedStream.serve(tls: false) { _, listener in
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                let count = 20_000
                try await talk.send((1...count).flatMap { Probe.frame(9, [UInt8($0 >> 8), UInt8($0 & 0xff)]) })
                var pongs = 0
                while let frame = try await talk.next() {
                    #expect(frame.opcode == 10)
                    pongs += 1
                    if frame.payload == [UInt8(count >> 8), UInt8(count & 0xff)] { break }
                }
                #expect((1...count / 10).contains(pongs), "\(pongs) pongs")
            }
        }
    }

    @Test(
        "a WebSocket client's close frame is answered with its code, the stream is cancelled, and nothing follows",
        arguments: [false, true])
    func closedByClient(tls: Bool) async throws {
        try await FedStream.serve(tls: tls) { stream, listener in
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                stream.feed([1])
                _ = try await talk.next()
                try await talk.send(Probe.close(1_001))
                #expect(try await talk.next()?.code == 1_001)
                #expect(stream.isCancelled)
                stream.feed([2])
                #expect(try await talk.next() == nil)
            }
        }
    }

    @Test("an empty WebSocket close frame is answered with an empty close frame")
    func closedWithoutCode() async throws {
        try await FedStream.serve(tls: false) { _, listener in
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                try await talk.send(Probe.frame(8))
                #expect(try await talk.next() == Probe.Frame(opcode: 8, payload: []))
                #expect(try await talk.next() == nil)
            }
        }
    }

    /// Frames that a client must not send.
    enum Violation: String, CaseIterable {
        case unmasked, reservedBit, unknownOpcode, fragmentedPing, longPing, large, huge, endless, request

        var bytes: [UInt8] {
            switch self {
            case .unmasked: WebSocketProbe.frame(1, [65], mask: nil)
            case .reservedBit: WebSocketProbe.frame(1, [65], reserved: 4)
            case .unknownOpcode: WebSocketProbe.frame(3, [65])
            case .fragmentedPing: WebSocketProbe.frame(9, [65], isFinal: false)
            case .longPing: WebSocketProbe.frame(9, [UInt8](repeating: 0, count: 126))
            case .large: WebSocketProbe.frame(2, [UInt8](repeating: 0, count: 1_025))
            case .huge: WebSocketProbe.frame(2, [1, 2, 3], announced: 1 << 62)
            case .endless: WebSocketProbe.frame(2, [1, 2, 3], announced: .max)
            case .request:
                Array("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html, text/plain, application/json\r\n\r\n".utf8)
            }
        }

        var code: Int { [.large, .huge, .endless].contains(self) ? 1_009 : 1_002 }
    }

    @Test(
        "a WebSocket frame that breaks the protocol or is too long gets a close frame with 1002 or 1009",
        arguments: Violation.allCases)
    func violations(violation: Violation) async throws {
        try await FedStream.serve(tls: false) { stream, listener in
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                try await talk.send(violation.bytes)
                #expect(try await talk.next()?.code == violation.code)
                #expect(stream.isCancelled)
                stream.feed([1])
                try await talk.send(Probe.close(1_000))
                #expect(try await talk.next() == nil)
            }
        }
    }

    @Test(
        "at the end of the stream a WebSocket client gets close code 1000; a client that reads too slowly gets 1008",
        arguments: [false, true])
    func ended(tls: Bool) async throws {
        try await FedStream.serve(tls: tls) { stream, listener in
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                stream.feed([1])
                stream.feed(.end)
                #expect(try await talk.next()?.payload == [1])
                #expect(try await talk.next()?.code == 1_000)
                try await talk.send(Probe.close(1_000))
                #expect(try await talk.next() == nil)
            }
            try await Probe(listener.boundAddress).talk("/socket") { talk in
                stream.feed(.tooSlow)
                let code = try await talk.next()?.code
                // A client that does not send its close frame is not waited for.
                let last = try await talk.next()
                #expect(code == 1_008 && last == nil)
            }
        }
    }

    @Test("WebSocket frames sent before the server's 101 response are dropped, later ones are answered")
    func impatient() async throws {
        try await FedStream.serve(tls: false) { _, listener in
            try await Probe(listener.boundAddress).talk("/socket", ahead: Probe.frame(9, [1])) { talk in
                try await talk.send(Probe.frame(9, [2]))
                #expect(try await talk.next() == Self.pong([2]))
            }
        }
    }

    @Test("random bytes on a WebSocket do not affect the listener's next request")
    func garbage() async throws {
        try await FedStream.serve(tls: false) { _, listener in
            var random = SystemRandomNumberGenerator()
            for _ in 0..<100 {
                let bytes = (0..<Int.random(in: 1...2_000)).map { _ in UInt8.random(in: 0...255, using: &random) }
                try await Probe(listener.boundAddress).talk("/socket") { try await $0.send(bytes) }
            }
            try await waitUntil("at most 0 connections are open", { listener.connectionCount }) { $0 <= 0 }
            #expect(try await HTTPProbe(listener.boundAddress).request("GET /").text == "hello 0")
        }
    }

    @Test("a WebSocket request over HTTP/2 gets 400 and the advice to use HTTP/1.1")
    func http2() async throws {
        try await FedStream.serve(tls: true) { _, listener in
            let reply = try await HTTP2Probe(listener.boundAddress).get("/socket")
            #expect(reply.status == 400 && reply.text.contains("HTTP/1.1"))
        }
    }
}
