import Control
import HTTPListener
import HTTPProbe
import Logging
import MediaTypes
import NIOCore
import Synchronization
import Testing

@Suite("AudioTapStream: the program's audio for one client")
struct AudioTapStreamTests {
    private static func bytes(_ piece: ReplyStreamPiece) -> Int? {
        if case .bytes(let buffer) = piece { buffer.readableBytes } else { nil }
    }

    @Test(
        "the next piece of a client's stream has all audio since the last piece, and its waiting connection is notified once"
    )
    func accumulated() {
        let stream = AudioTapStream(firstPosition: 0)
        let calls = Atomic(0)
        stream.whenMore { calls.add(1, ordering: .relaxed) }
        guard case .later = stream.next() else { return #expect(Bool(false)) }
        stream.send([1, 2])
        stream.send([3, 4])
        #expect(calls.load(ordering: .relaxed) == 1 && Self.bytes(stream.next()) == 4)
        stream.send([5, 6])
        stream.end()
        #expect(Self.bytes(stream.next()) == 2)
        guard case .end = stream.next() else { return #expect(Bool(false)) }
    }

    @Test("a client that does not read is disconnected once more audio waits for it than the limit")
    func slow() {
        let stream = AudioTapStream(firstPosition: 0)
        for _ in 0..<AudioTapStream.mostBytes / 640 { stream.send([UInt8](repeating: 0, count: 640)) }
        #expect(!stream.isOver)
        stream.send([1])
        #expect(stream.isOver)
        guard case .tooSlow = stream.next() else { return #expect(Bool(false)) }
    }
}

@Suite("GET /v1/audio: the program's audio over a WebSocket")
struct AudioTapServerTests {
    @Test("a client with a token gets the program time and the samples; one without a token or a handshake is refused")
    func served() async throws {
        let room = FakeRoom()
        var options = ControlListenerOptions()
        options.opensReads = true
        let server = try await ControlServer.start(
            listen: try ListenAddress(parsing: "127.0.0.1:0"), token: "t", room: room, options: options,
            logger: Logger(label: "test"))
        let probe = WebSocketProbe(server.boundAddress)
        try await probe.talk("/v1/audio") { talk in #expect(talk.head.hasPrefix("HTTP/1.1 401 ")) }
        let fields = WebSocketProbe.fields + ["Authorization: Bearer t"]
        try await probe.talk("/v1/audio", fields) { talk in #expect(talk.head.hasPrefix("HTTP/1.1 409 ")) }
        try await probe.talk("/v1/audio", ["Authorization: Bearer t"]) { talk in
            #expect(talk.head.hasPrefix("HTTP/1.1 400 "))
        }
        let stream = AudioTapStream(firstPosition: 96_000)
        room.tap.withLock { $0 = stream }
        try await probe.talk("/v1/audio", fields) { talk in
            #expect(talk.head.hasPrefix("HTTP/1.1 101 "))
            #expect(talk.head.lowercased().contains("tandem-program-time-ms: 2000\r\n"))
            stream.send([1, 2, 3, 4])
            let frame = try await talk.next()
            #expect(frame == WebSocketProbe.Frame(opcode: 2, payload: [1, 2, 3, 4]))
            stream.end()
            let last = try await talk.next()
            #expect(last?.code == 1_000)
        }
        await server.stop()
    }
}
