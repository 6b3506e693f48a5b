import MediaTypes
import Testing
import WHEP
import WebRTC

@Suite("WHEP server over loopback TCP: RFC 6544, RFC 4571", .timeLimit(.minutes(2)))
struct WHEPStreamTests {
    private static func start() async throws -> (server: WHEPServer, feed: WHEPFeed) {
        // Not a number that the system gives to connections of other tests, since TCP gets the number of UDP.
        let (server, feed) = try await WHEPServerTests.start { $0.udp = "127.0.0.1:\(Int.random(in: 20_000..<30_000))" }
        await server.openStreams()
        feed.receive(TestProgram.frame(0))
        return (server, feed)
    }

    @Test(
        "once the WHEP server listens on TCP, its answers have a TCP candidate of the UDP candidate's address and port after it"
    )
    func candidates() async throws {
        let (server, feed) = try await WHEPServerTests.start { $0.udp = "127.0.0.1:\(Int.random(in: 20_000..<30_000))" }
        feed.receive(TestProgram.frame(0))
        let before = try await WHEPServerTests.post(server).body
        #expect(!before.contains(" tcp "))
        await server.openStreams()
        let after = try await WHEPServerTests.post(server).body
        let lines = after.split(separator: "\r\n").filter { $0.hasPrefix("a=candidate:") }.prefix(2)
        let fields = lines.map { $0.split(separator: " ") }
        try #require(fields.count == 2 && fields.allSatisfy { $0.count >= 8 })
        #expect(fields.map { $0[2] } == ["udp", "tcp"] && fields[0][4...5] == fields[1][4...5])
        #expect(lines.last?.hasSuffix(" typ host tcptype passive") == true)
        await server.stop()
    }

    @Test("a WHEP viewer gets video and audio over TCP, and DELETE closes its session")
    func wholeSession() async throws {
        let (server, feed) = try await Self.start()
        let created = try await WHEPServerTests.post(server)
        let viewer = try await LoopbackViewer(answer: created.body, isTCP: true)
        try await viewer.check()
        for number in 1..<20 as Range<Int64> { feed.receive(TestProgram.frame(number)) }
        await viewer.until { frames, _, _ in frames >= 19 }
        for number in 20..<40 as Range<Int64> {
            feed.receive(TestProgram.frame(number))
            feed.receiveAudio(TestProgram.audioPacket(number))
        }
        await viewer.until { frames, audioPackets, _ in frames >= 39 && audioPackets >= 19 }
        let numbers = try await viewer.run { $0.frames.map(\.number) }
        #expect(numbers == Array(0..<Int64(numbers.count)))
        let place = try #require(created[name: "location"])
        #expect(await WHEPServerTests.reply(server, WHIPRequest(method: "DELETE", path: place)).status == 200)
        await viewer.until { _, _, isClosed in isClosed }
        await server.stop()
        #expect(server.statistics.sessions == 1 && server.statistics.viewers == 0)
    }

    @Test("the WHEP server closes a TCP connection that begins with anything but a valid STUN check")
    func strangers() async throws {
        let (server, feed) = try await Self.start()
        let answer = try await WHEPServerTests.post(server).body
        let garbage: [[UInt8]] = [
            [0, 40] + [22, 254, 253] + [UInt8](repeating: 0, count: 37),
            [0, 12] + [UInt8](repeating: 128, count: 12),
            [0, 20] + [UInt8](repeating: 0, count: 20), [0xFF, 0xFF], Array("GET / HTTP/1.1\r\n\r\n".utf8),
        ]
        for bytes in garbage {
            let viewer = try await LoopbackViewer(answer: answer, isTCP: true)
            try await viewer.write(bytes)
            await viewer.until { _, _, isClosed in isClosed }
        }
        let wrong = try await LoopbackViewer(answer: answer, isTCP: true)
        try await wrong.check(password: "a wrong password of 22 letters")
        await wrong.until { _, _, isClosed in isClosed }
        let right = try await LoopbackViewer(answer: answer, isTCP: true)
        try await right.check()
        feed.receive(TestProgram.frame(1))
        await right.until { frames, _, _ in frames >= 1 }
        await server.stop()
    }

    @Test(
        "a WHEP viewer that stops reading TCP gets all 41 frames when it reads again; another viewer gets them meanwhile"
    )
    func full() async throws {
        let (server, feed) = try await Self.start()
        let quick = try await LoopbackViewer(answer: try await WHEPServerTests.post(server).body)
        let slow = try await LoopbackViewer(answer: try await WHEPServerTests.post(server).body, isTCP: true)
        for viewer in [quick, slow] { try await viewer.check() }
        feed.receive(TestProgram.frame(1))
        for viewer in [quick, slow] { await viewer.until { frames, _, _ in frames >= 1 } }
        try await slow.setReading(false)
        for number in 2..<42 as Range<Int64> { feed.receive(TestProgram.frame(number, size: 40_000)) }
        await quick.until { frames, _, _ in frames >= 41 }
        try await slow.setReading(true)
        await slow.until { frames, _, _ in frames >= 41 }
        let numbers = try await slow.run { $0.frames.map(\.number) }
        #expect(numbers == Array(0..<Int64(numbers.count)))
        await server.stop()
    }
}
