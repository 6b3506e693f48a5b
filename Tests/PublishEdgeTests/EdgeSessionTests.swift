import MediaKernels
import PublishEdge
import RTMP
import Testing

@Suite("The publish edge's session: from a publisher's first byte until its bytes are passed on to the room")
struct EdgeSessionTests {
    /// Acknowledgements depend on how the bytes are split.
    private static func withoutAcknowledgements(_ heard: [Heard]) -> [Heard] { heard.filter { $0.type != 3 } }

    @Test(
        "after the handshake, the room gets a real encoder's bytes unchanged through the edge, and the encoder gets a room's answers",
        arguments: Captures.names)
    func capture(name: String) {
        let bytes = Captures.bytes(name)
        let direct = MemoryRoom(RTMPServerConfiguration(), .accept)
        _ = direct.receive(bytes)
        for size in [bytes.count, 700] {
            let edge = EdgeHarness()
            edge.feed(bytes, by: size)
            #expect(edge.isForwarding && edge.end == nil)
            #expect(edge.toRoom.count == bytes.count)
            #expect(
                edge.toRoom.dropFirst(Script.handshakeLength).elementsEqual(bytes.dropFirst(Script.handshakeLength)))
            #expect(edge.room?.media == direct.media && !direct.media.isEmpty)
            #expect(
                Self.withoutAcknowledgements(edge.answers) == Self.withoutAcknowledgements(Heard.all(direct.sent)))
        }
    }

    @Test(
        "wherever a publisher's first bytes are split in two, the edge sends the room the same bytes and the publisher the same answers"
    )
    func everySplit() {
        var script = Script()
        script.chunkSize(4096)
        script.connect([AMF0Property("fourCcList", .strictArray([.string("hvc1"), .string("av01")]))])
        script.publish()
        script.message(9, [0x17, 0, 0, 0, 0, 1, 2, 3], timestamp: 0)
        let bytes = script.bytes
        let whole = EdgeHarness()
        whole.feed(bytes)
        for position in [1, 2, 1536, 1537, 1538] + Array(3072..<bytes.count) {
            let edge = EdgeHarness()
            edge.feed(Array(bytes[..<position]))
            edge.feed(Array(bytes[position...]))
            #expect(edge.toRoom == whole.toRoom && edge.answers == whole.answers, "split at \(position)")
            #expect(edge.room?.media.count == 1 && edge.isForwarding)
        }
    }

    @Test("the edge forwards a publisher also if the room's bytes arrive one by one")
    func roomByteByByte() {
        let edge = EdgeHarness()
        edge.roomPiece = 1
        edge.feed(Script.opening())
        #expect(edge.isForwarding && edge.statusCodes == ["NetStream.Publish.Start"])
    }

    @Test("the edge forwards a publisher also if the room uses another chunk size than the edge")
    func otherRoomChunkSize() {
        let edge = EdgeHarness()
        edge.roomConfiguration.chunkSize = 128
        edge.feed(Script.opening(String(repeating: "k", count: 300)))
        #expect(edge.isForwarding && edge.statusCodes == ["NetStream.Publish.Start"])
    }

    @Test("the edge stops reading a publisher at its `publish` until the room has accepted it")
    func pause() {
        let edge = EdgeHarness()
        edge.lookup = { _ in nil }
        edge.feed(Script.opening())
        #expect(edge.isPaused && !edge.isForwarding && edge.end == nil)
        #expect(edge.lookups == [[KeyDirectory.name(of: "live/key"), KeyDirectory.name(of: "live/")]])
        edge.found(.room(RoomLocation(host: "h", port: 1)))
        #expect(edge.isForwarding)
    }

    @Test("media that reaches the edge before the room has accepted the publisher is passed on to the room, in order")
    func earlyMedia() {
        var script = Script()
        script.connect()
        script.publish()
        let opening = script.bytes.count
        for index in 0..<3 { script.message(9, [0x17, 1, 0, 0, 0, UInt8(index)], timestamp: UInt32(40 * index)) }
        let edge = EdgeHarness()
        edge.lookup = { _ in nil }
        edge.roomDecision = nil
        edge.feed(Array(script.bytes[..<(opening + 10)]))
        edge.feed(Array(script.bytes[(opening + 10)..<(opening + 20)]))
        edge.found(.room(RoomLocation(host: "h", port: 1)))
        edge.feed(Array(script.bytes[(opening + 20)...]))
        edge.roomDecides(.accept)
        #expect(edge.isForwarding && edge.room?.media.map(\.payload.last) == [0, 1, 2])
    }

    @Test("the edge passes on the room's acknowledgement, which counts the bytes that the publisher has sent")
    func acknowledgements() {
        var script = Script()
        script.connect()
        script.publish()
        script.message(9, [0x17, 1, 0, 0, 0] + [UInt8](repeating: 9, count: 1_300_000), timestamp: 40)
        let edge = EdgeHarness()
        edge.setProxyHeader([])
        edge.feed(script.bytes, by: 65_536)
        let counts = edge.answers.filter { $0.type == 3 }.map { $0.payload.reduce(0) { $0 << 8 | Int($1) } }
        #expect(counts.count == 1 && (1_250_000...script.bytes.count).contains(counts.first ?? 0))
        #expect(edge.room?.bytesReceived == UInt64(script.bytes.count))
    }

    @Test("the room gets the edge's PROXY header before the RTMP handshake")
    func proxyHeader() {
        let edge = EdgeHarness()
        edge.setProxyHeader(Array("PROXY UNKNOWN\r\n".utf8))
        edge.feed(Script.opening())
        #expect(edge.toRoom.starts(with: Array("PROXY UNKNOWN\r\n".utf8) + [3]))
    }

    @Test("the edge answers a publisher that announces Enhanced RTMP with capsEx, and forwards it")
    func enhanced() {
        var script = Script()
        script.connect([AMF0Property("capsEx", .number(1))])
        script.publish()
        let edge = EdgeHarness()
        edge.feed(script.bytes)
        #expect(edge.isForwarding)
        let caps = edge.answers.flatMap(\.values).compactMap { $0["capsEx"]?.number }
        #expect(!caps.isEmpty, "the edge has announced what rooms support")
    }

    // MARK: Keys

    @Test("the edge refuses an unknown stream key after a second, with the status that a room sends")
    func unknownKey() {
        let edge = EdgeHarness()
        edge.lookup = { _ in .unknown(explains: true) }
        edge.feed(Script.opening())
        #expect(edge.statusCodes == [] && edge.end == nil && edge.session.nextDeadline == 1_000_000_000)
        edge.passTime()
        #expect(edge.statusCodes == [PublishRefusal.denied.code] && edge.end == .unknownKey)
        #expect(edge.connects == [])
    }

    @Test(
        "the edge sends a publisher with an unknown key no RTMP status if its IP address is over the rate limit for wrong keys"
    )
    func guessing() {
        let edge = EdgeHarness()
        edge.lookup = { _ in .unknown(explains: false) }
        edge.feed(Script.opening())
        #expect(edge.statusCodes == [] && edge.end == .unknownKey)
    }

    @Test(
        "if the key directory cannot be read, the edge repeats the lookup, and closes the publisher if that keeps failing"
    )
    func brokenDirectory() {
        let edge = EdgeHarness()
        edge.lookup = { $0 < 3 ? .failed : .room(RoomLocation(host: "h", port: 1)) }
        edge.feed(Script.opening())
        while !edge.isForwarding, edge.passTime() {}
        #expect(edge.isForwarding && edge.now == 750_000_000)
        let never = EdgeHarness()
        never.lookup = { _ in .failed }
        never.feed(Script.opening())
        while never.passTime() {}
        #expect(never.end == .unreachable && never.statusCodes == [] && never.now < 10_000_000_000)
    }

    // MARK: Rooms

    @Test("if a room moves while its publisher connects, the edge finds it at its new address")
    func movedRoom() {
        let edge = EdgeHarness()
        let (old, new) = (RoomLocation(host: "old", port: 1), RoomLocation(host: "new", port: 2))
        edge.lookup = { .room($0 < 4 ? old : new) }
        edge.reaches = { $0 >= 4 }
        edge.feed(Script.opening())
        while !edge.isForwarding, edge.passTime() {}
        #expect(edge.connects == [old, old, old, old, new] && edge.now == 1_000_000_000)
        #expect(edge.statusCodes == ["NetStream.Publish.Start"])
    }

    @Test("if a room cannot be reached, the edge closes its publisher after 40 attempts, without an RTMP status")
    func unreachable() {
        let edge = EdgeHarness()
        edge.reaches = { _ in false }
        edge.feed(Script.opening())
        while edge.passTime() {}
        #expect(edge.end == .unreachable && edge.statusCodes == [] && edge.connects.count == 40)
    }

    @Test("the edge gives up a connection to the room that does not open in three seconds, and tries again")
    func connectTimeout() {
        let edge = EdgeHarness()
        edge.reaches = { $0 == 0 ? nil : true }
        edge.feed(Script.opening())
        #expect(edge.session.nextDeadline == 3_000_000_000)
        edge.passTime()
        #expect(edge.closings == 1 && edge.session.nextDeadline == 3_250_000_000)
        edge.passTime()
        #expect(edge.isForwarding)
    }

    @Test("a connection to the room that does not open ends with the time in which a room must answer `publish`")
    func roomTimeout() {
        let edge = EdgeHarness()
        edge.reaches = { _ in nil }
        edge.feed(Script.opening())
        while edge.passTime() {}
        #expect(edge.end == .unreachable && edge.now == 10_000_000_000 && edge.connects.count == 4)
    }

    @Test("if a room closes before it answers `publish`, the edge tries it once more, and then closes the publisher")
    func closesWithoutAWord() {
        let edge = EdgeHarness()
        edge.roomDecision = nil
        edge.feed(Script.opening())
        edge.closeRoom()
        #expect(edge.end == nil)
        edge.passTime()
        #expect(edge.connects.count == 2 && edge.toRoom.count == Script.opening().count)
        edge.closeRoom()
        #expect(edge.end == .roomClosed && edge.statusCodes == [])
    }

    @Test("if a room does not answer `publish`, the edge closes its publisher after ten seconds")
    func silentRoom() {
        let edge = EdgeHarness()
        edge.roomDecision = nil
        edge.feed(Script.opening())
        edge.passTime()
        #expect(edge.end == .roomSilent && edge.now == 10_000_000_000 && edge.closings == 1)
    }

    @Test("the edge passes on to the publisher the status of a room that refuses it")
    func refused() {
        let edge = EdgeHarness()
        edge.roomDecision = .deny(.busy)
        edge.feed(Script.opening())
        #expect(edge.statusCodes == [PublishRefusal.busy.code])
        #expect(edge.end == .refused(code: PublishRefusal.busy.code) && !edge.isForwarding)
    }

    @Test(
        "if the room refuses the IP address at `connect`, the edge sends the refusal to the publisher as the answer to `publish`"
    )
    func refusedAddress() {
        let edge = EdgeHarness()
        edge.roomRefusal = .address
        edge.feed(Script.opening())
        #expect(edge.statusCodes == ["NetStream.Publish.Denied"])
        let text = edge.answers.last?.values.last?["description"]?.string
        #expect(text == PublishRefusal.address.text)
        #expect(edge.end == .refused(code: PublishRefusal.address.code))
    }

    @Test("if a room closes while its publisher is forwarded, the edge closes the publisher without an RTMP status")
    func dyingRoom() {
        let edge = EdgeHarness()
        edge.feed(Script.opening())
        edge.closeRoom()
        #expect(edge.end == .roomClosed && edge.statusCodes == ["NetStream.Publish.Start"])
    }

    @Test("when a publisher leaves, the edge closes its connection to the room, and no deadline is left")
    func leavingPublisher() {
        for isEarly in [true, false] {
            let edge = EdgeHarness()
            edge.reaches = { _ in isEarly ? nil : true }
            edge.feed(Script.opening())
            edge.publisherCloses()
            #expect(edge.closings == 1 && edge.session.nextDeadline == nil && edge.end == nil)
        }
    }

    @Test("the edge closes a forwarded publisher whose room has moved, without a further RTMP status")
    func moved() {
        let edge = EdgeHarness()
        edge.feed(Script.opening())
        edge.close(.moved)
        #expect(edge.end == .moved && edge.closings == 1 && edge.statusCodes == ["NetStream.Publish.Start"])
    }

    @Test("if a room answers createStream with another id than the edge did, the edge closes the publisher")
    func otherStreamID() {
        let edge = EdgeHarness()
        let (one, two) = (AMF0Writer.bytes([.null, .number(1)]), AMF0Writer.bytes([.null, .number(2)]))
        edge.mangle = { bytes in
            var bytes = bytes
            for start in bytes.indices.dropLast(one.count) where bytes[start...].starts(with: one) {
                bytes.replaceSubrange(start..<(start + one.count), with: two)
            }
            return bytes
        }
        edge.feed(Script.opening())
        #expect(edge.end == .otherStreamID && !edge.isForwarding)
    }

    @Test("if the server at the room's address answers in HTTP instead of RTMP, the edge closes the publisher")
    func otherServer() {
        let edge = EdgeHarness()
        edge.mangle = { _ in Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8) }
        edge.feed(Script.opening())
        #expect(edge.end == .roomFailed(.version(.other(0x48))))
    }

    @Test("if a room's bytes become invalid RTMP, the edge closes its publisher")
    func invalidRoom() {
        let edge = EdgeHarness()
        edge.feed(Script.opening())
        edge.roomSends([0xFF, 0xFF, 0xFF])
        #expect(edge.end == .roomFailed(.desync(.headerWithoutPredecessor(chunkStreamID: 63))))
    }

    // MARK: Publishers

    @Test("the edge closes a publisher at once if its bytes are not RTMP")
    func garbage() {
        let edge = EdgeHarness()
        edge.feed(Array("GET / HTTP/1.1\r\n".utf8))
        #expect(edge.end == .publisherFailed(.version(.text)) && edge.told.isEmpty)
        let later = EdgeHarness()
        later.feed([3] + [UInt8](repeating: 7, count: 3072) + [UInt8](repeating: 0xFF, count: 64))
        #expect(later.end == .publisherFailed(.desync(.headerWithoutPredecessor(chunkStreamID: 63))))
    }

    @Test("the edge closes a publisher that sends a command of 70,000 bytes, and looks up no stream key")
    func oversized() {
        var script = Script()
        script.command("connect", 1, [.string(String(repeating: "a", count: 70_000))])
        let edge = EdgeHarness()
        edge.feed(script.bytes, by: 4096)
        #expect(edge.end == .publisherFailed(.limit(.messageLength)) && edge.lookups == [])
    }

    @Test(
        "if invalid bytes follow `publish` in the same read, the edge closes the publisher before it looks up the stream key"
    )
    func garbageAfterPublish() {
        let edge = EdgeHarness()
        edge.feed(Script.opening() + [0xFF, 0xFF, 0xFF])
        #expect(edge.lookups == [])
        guard case .publisherFailed? = edge.end else {
            Issue.record("\(String(describing: edge.end))")
            return
        }
    }

    @Test("the edge closes a publisher that sends over 512 KiB before the room has accepted it")
    func tooMuchData() {
        let edge = EdgeHarness()
        edge.roomDecision = nil
        edge.feed(Script.opening())
        for _ in 0..<9 where edge.end == nil { edge.feed([UInt8](repeating: 0, count: 64 << 10)) }
        #expect(edge.end == .tooMuchData && edge.closings == 1)
    }

    @Test("the edge gives a publisher five seconds for the handshake, and ten for the commands up to `publish`")
    func deadlines() {
        let slow = EdgeHarness()
        slow.feed([3])
        slow.passTime()
        #expect(slow.end == .publisherFailed(.deadline(.handshake)) && slow.now == 5_000_000_000)
        var script = Script()
        script.connect()
        let idle = EdgeHarness()
        idle.feed(script.bytes)
        idle.passTime()
        #expect(idle.end == .publisherFailed(.deadline(.publish)) && idle.now == 10_000_000_000)
        let done = EdgeHarness()
        done.feed(Script.opening())
        #expect(done.isForwarding && !done.passTime(), "the room and TCP watch a publisher that is forwarded")
    }

    @Test(
        "damaged bytes of a publisher or a room do not trap in the edge, and no action follows the session's end",
        arguments: 0..<8)
    func damage(seed: UInt64) {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        func damaged(_ bytes: [UInt8], from start: Int) -> [UInt8] {
            var bytes = bytes
            for _ in 0..<(1 + random(4)) where bytes.count > start {
                bytes[start + random(bytes.count - start)] = UInt8(random(256))
            }
            return bytes
        }
        var forwarded = 0
        for round in 0..<60 {
            let name = Captures.names[round % Captures.names.count]
            let bytes = Array(Captures.bytes(name).prefix(Script.handshakeLength + 900))
            let edge = EdgeHarness()
            edge.roomPiece = 1 + random(900)
            if round % 2 == 0 {
                edge.feed(damaged(bytes, from: Script.handshakeLength), by: 1 + random(700))
            } else {
                edge.mangle = { damaged($0, from: 0) }
                edge.feed(bytes, by: 1 + random(700))
            }
            while edge.end == nil, edge.passTime() {}
            #expect(edge.end != nil || edge.isForwarding)
            if edge.isForwarding { forwarded += 1 }
        }
        #expect(forwarded > 5 && forwarded < 60)
    }
}
