import MediaKernels
import RTMP
import Testing

@Suite("RTMP publish session, server side: RTMP 1.0 §7.2")
struct RTMPServerSessionTests {
    @Test("connect is answered with window, bandwidth, chunk size and success, in one write")
    func connectAnswer() {
        var script = ClientScript()
        let harness = SessionHarness()
        harness.feed(script.take())
        script.connect()
        harness.feed(script.take())
        #expect(harness.writes.count == 2)
        #expect(harness.answers().map(\.type.rawValue) == [5, 6, 20], "Set Chunk Size has taken effect in the reader")
        let answer = harness.commands().first?.values ?? []
        #expect(answer.prefix(2) == [.string("_result"), .number(1)])
        #expect(answer.last?["code"]?.string == "NetConnection.Connect.Success")
        #expect(answer.last?["objectEncoding"] == .number(0))
    }

    @Test("publish is answered on the stream that was created, after StreamBegin")
    func publishAnswer() {
        var script = ClientScript()
        script.open(name: "key?a=1")
        let harness = SessionHarness()
        harness.feed(script.take())
        let answers = harness.answers()
        let begin = answers.firstIndex { $0.type == .userControl && $0.payload.bytes == [0, 0, 0, 0, 0, 1] }
        let start = answers.firstIndex { $0.type == .commandAMF0 && $0.streamID == 1 }
        #expect(begin != nil && start != nil && begin ?? 9 < start ?? 0)
        #expect(harness.statusCodes() == ["NetStream.Publish.Start"])
        #expect(harness.isPublishing)
        guard case .publishRequested(let request)? = harness.events.first else {
            Issue.record("no request")
            return
        }
        #expect(request.address.key(app: "live") == "key")
        #expect(request.flashVersion == "test")
    }

    @Test("every call with a transaction id gets its answer, calls without get none")
    func answersCalls() {
        var script = ClientScript()
        script.connect()
        for (index, name) in ["releaseStream", "FCPublish", "_checkbw", "getStreamLength", "anything"].enumerated() {
            script.command(name, Double(index + 2), [.null, .string("key")])
        }
        script.command("releaseStream", 0, [.null, .string("key")])
        script.command("FCPublish", 0, [.null, .string("key")])
        let harness = SessionHarness()
        harness.feed(script.take())
        let commands = harness.commands().map(\.values)
        #expect(commands.map { $0.first?.string } == [String](repeating: "_result", count: 6))
        #expect(commands.map { $0[1] } == [.number(1), .number(2), .number(3), .number(4), .number(5), .number(6)])
    }

    @Test("FCPublish with a transaction id is confirmed by onFCPublish with that id")
    func onFCPublish() {
        var script = ClientScript()
        script.connect()
        script.command("FCPublish", 3, [.null, .string("key")])
        script.publish()
        let harness = SessionHarness()
        harness.feed(script.take())
        let confirmation = harness.commands().first { $0.values.first?.string == "onFCPublish" }
        #expect(confirmation?.values[1] == .number(3))
    }

    @Test(
        "a connect object in any of its forms is read",
        arguments: [
            AMF0Value.ecmaArray([AMF0Property("app", .string("live"))]),
            .object([AMF0Property("app", .string("live")), AMF0Property("objectEncoding", .number(3))]),
            .object([AMF0Property("tcurl", .string("rtmp://h/live"))]),
            .object([AMF0Property("app", .string("live")), AMF0Property("nested", .object([AMF0Property("x", .null)]))]
            ),
        ])
    func connectForms(object: AMF0Value) {
        for transaction in [0, 1, 2, Double.nan] {
            var script = ClientScript()
            script.command("connect", transaction, [object])
            script.publish()
            let harness = SessionHarness()
            harness.feed(script.take())
            #expect(harness.closeReason == nil)
            #expect(harness.commands().first?.values[1].number?.bitPattern == transaction.bitPattern)
            #expect(harness.isPublishing)
        }
    }

    @Test("connect without an app is rejected, a second connect ends the connection")
    func badConnects() {
        var script = ClientScript()
        script.command("connect", 1, [.object([])])
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == .protocolViolation(.connectWithoutApp))
        #expect(harness.commands().first?.values.first?.string == "_error")

        script = ClientScript()
        script.connect()
        script.connect()
        let second = SessionHarness()
        second.feed(script.take())
        #expect(second.closeReason == .protocolViolation(.secondConnect))
    }

    @Test(
        "publish comes with and without createStream, type and transaction",
        arguments: [
            [AMF0Value.null, .string("key")], [.null, .string("key"), .string("record")],
            [.null, .string("key"), .string("live"), .object([]), .number(.nan)],
        ])
    func publishForms(arguments: [AMF0Value]) {
        var script = ClientScript()
        script.connect()
        script.command("publish", 0, arguments, streamID: 0)
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.isPublishing)
        #expect(harness.quirks.contains(.publishWithoutCreateStream))
    }

    @Test(
        "publish without a usable name is denied",
        arguments: [
            [AMF0Value.null, .null], [.null], [], [.null, .string("a\0b")],
        ])
    func unusableName(arguments: [AMF0Value]) {
        var script = ClientScript()
        script.connect()
        script.command("publish", 5, arguments, streamID: 1)
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events == [.close(.refused(.denied))])
        #expect(harness.statusCodes() == ["NetStream.Publish.Denied"])
    }

    @Test("a refusal is said in a status of level error, then the connection closes")
    func refusal() {
        var script = ClientScript()
        script.open()
        let harness = SessionHarness(decision: .deny(.busy))
        harness.feed(script.take())
        #expect(harness.statusCodes() == ["NetStream.Publish.BadName"])
        #expect(harness.commands().last?.values.last?["level"]?.string == "error")
        #expect(harness.commands().last?.streamID == 1)
        #expect(harness.closeReason == .refused(.busy))
    }

    @Test("a second publish on the same connection is BadName, and the first goes on")
    func publishTwice() {
        var script = ClientScript()
        script.open()
        script.publish("other")
        script.message(9, [0x17, 1, 0, 0, 0])
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.statusCodes() == ["NetStream.Publish.Start", "NetStream.Publish.BadName"])
        #expect(harness.events.last == .media(.video, timestamp: 0, payload: [0x17, 1, 0, 0, 0]))
    }

    @Test("an encoder's name is one short line, whatever it holds")
    func encoderName() {
        let names = [
            ("FMLE/3.0 (compatible; 방송)", "FMLE/3.0 (compatible; 방송)"),
            ("OBS\n12:00:00.000 error\u{1B}[2J\u{9B}31m", "OBS12:00:00.000 error[2J31m"),
            ("e" + String(repeating: "\u{301}", count: 20_000), "e" + String(repeating: "\u{301}", count: 127)),
        ]
        for (said, kept) in names {
            var script = ClientScript()
            let object = [AMF0Property("app", .string("live")), AMF0Property("flashVer", .string(said))]
            script.command("connect", 1, [.object(object)])
            script.publish()
            let harness = SessionHarness()
            harness.feed(script.take())
            guard case .publishRequested(let request)? = harness.events.first else {
                Issue.record("\(harness.events)")
                continue
            }
            #expect(Array(request.flashVersion.unicodeScalars) == Array(kept.unicodeScalars))
        }
    }

    @Test("streams that are created without end close the connection")
    func tooManyStreams() {
        var script = ClientScript()
        script.connect()
        for index in 0..<9 { script.command("createStream", Double(index + 2), [.null]) }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == .limit(.createdStreams))
        #expect(harness.commands().count == 9, "eight streams and connect were answered")
    }

    @Test("streams that are deleted count no more: a connection publishes again as often as its user does")
    func deletedStreams() {
        var script = ClientScript()
        script.connect()
        for index in 1...20 {
            script.command("createStream", 2, [.null])
            script.command("publish", 3, [.null, .string("key"), .string("live")], streamID: UInt32(index))
            script.command("deleteStream", 4, [.null, .number(Double(index))])
        }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == nil)
        #expect(harness.events.filter { $0 == .unpublished(.client) }.count == 20)
    }

    @Test("a stream that is deleted later than the next one publishes ends nothing")
    func deletedLate() {
        var script = ClientScript()
        script.connect()
        script.command("createStream", 2, [.null])
        script.command("publish", 3, [.null, .string("key"), .string("live")], streamID: 1)
        script.command("closeStream", 0, [.null], streamID: 1)
        script.command("createStream", 4, [.null])
        script.command("publish", 5, [.null, .string("key"), .string("live")], streamID: 2)
        script.command("deleteStream", 6, [.null, .number(1)])
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.isPublishing)
        #expect(harness.events.filter { $0 == .unpublished(.client) }.count == 1)
        script.command("deleteStream", 7, [.null, .number(2)])
        harness.feed(script.take())
        #expect(!harness.isPublishing)
    }

    @Test(
        "each way to stop unpublishes once",
        arguments: [
            [("deleteStream", [AMF0Value.null, .number(1)])], [("deleteStream", [.null, .string("key")])],
            [("deleteStream", [.null, .number(99)])], [("deleteStream", [])], [("closeStream", [.null])],
            [
                ("FCUnpublish", [.null, .string("key")]), ("FCUnpublish", [.null]),
                ("deleteStream", [.null, .number(1)]),
            ],
        ])
    func unpublish(commands: [(String, [AMF0Value])]) {
        var script = ClientScript()
        script.open()
        for (name, arguments) in commands { script.command(name, 6, arguments, streamID: 1) }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events.filter { $0 == .unpublished(.client) }.count == 1)
        #expect(!harness.isPublishing)
        if commands[0].0 != "deleteStream" { #expect(harness.statusCodes().contains("NetStream.Unpublish.Success")) }
    }

    @Test("after unpublish the same connection may publish another key")
    func republish() {
        var script = ClientScript()
        script.open(name: "one")
        script.command("deleteStream", 6, [.null, .number(1)])
        script.publish("two")
        script.message(8, [0xAF, 1, 9])
        let harness = SessionHarness()
        harness.now = 8_000_000_000
        harness.feed(script.take())
        var keys: [String?] = []
        for case .publishRequested(let request) in harness.events { keys.append(request.address.key(app: "live")) }
        #expect(keys == ["one", "two"])
        #expect(harness.isPublishing)
    }

    @Test("what comes before the decision waits for it, in order, up to a megabyte")
    func beforeDecision() {
        var script = ClientScript()
        script.open()
        script.message(9, [0x17, 0, 0, 0, 0, 1])
        script.message(8, [0xAF, 1, 2])
        script.command("deleteStream", 6, [.null])
        let harness = SessionHarness(decision: nil)
        harness.feed(script.take())
        #expect(harness.events.count == 1)
        harness.decide(.accept, on: 99)
        #expect(harness.events.count == 1, "a decision on another request means nothing")
        harness.decide(.accept, on: 1)
        #expect(
            harness.events.dropFirst() == [
                .media(.video, timestamp: 0, payload: [0x17, 0, 0, 0, 0, 1]),
                .media(.audio, timestamp: 0, payload: [0xAF, 1, 2]), .unpublished(.client),
            ])

        var flood = ClientScript()
        flood.open()
        for _ in 0..<5 { flood.message(9, [UInt8](repeating: 0x27, count: 400_000)) }
        let second = SessionHarness(decision: nil)
        second.feed(flood.take())
        second.decide(.accept, on: 1)
        #expect(second.events.count == 3, "two of five fit; the rest was dropped, and nothing closed")
    }

    @Test("media is taken whatever message stream it names, while one publication is active")
    func mediaStreamID() {
        var script = ClientScript()
        script.message(8, [0xAF, 1, 1])
        script.open()
        script.message(8, [0xAF, 1, 2], streamID: 0)
        script.message(8, [0xAF, 1, 3], streamID: 7)
        let harness = SessionHarness()
        harness.feed(script.take())
        let media = harness.events.dropFirst()
        #expect(
            media == [
                .media(.audio, timestamp: 0, payload: [0xAF, 1, 2]),
                .media(.audio, timestamp: 0, payload: [0xAF, 1, 3]),
            ])
    }

    @Test("an AMF3 command with its format byte is read; AMF3 inside is not needed")
    func amf3() {
        var script = ClientScript()
        script.connect()
        let publish = AMF0Writer.bytes([.string("publish"), .number(5), .null, .string("key")])
        script.message(17, [0] + publish + [0x11, 4, 1], id: 3)
        script.message(17, [0x11, 4, 1], id: 3)
        script.message(15, [0] + AMF0Writer.bytes([.string("onMetaData"), .object([AMF0Property("w", .number(1))])]))
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.isPublishing)
        #expect(harness.events.last == .metadata([AMF0Property("w", .number(1))]))
    }

    @Test("metadata comes with and without its wrapper, once unless it changes, and never too large")
    func metadata() {
        let one = AMF0Writer.bytes([
            .string("@setDataFrame"), .string("onMetaData"), .ecmaArray([AMF0Property("a", .null)]),
        ])
        let two = AMF0Writer.bytes([.string("onMetaData"), .object([])])
        let large = AMF0Writer.bytes([
            .string("onMetaData"), .object([AMF0Property("x", .string(String(repeating: "y", count: 200_000)))]),
        ])
        var script = ClientScript()
        script.open()
        for body in [one, one, two, large] { script.message(18, body) }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events.dropFirst() == [.metadata([AMF0Property("a", .null)]), .metadata([])])
        #expect(harness.closeReason == nil)
    }

    @Test("an aggregate gives its messages with times from the aggregate's on", arguments: [true, false])
    func aggregate(hasLastBackPointer: Bool) {
        func sub(_ type: UInt8, _ time: UInt32, _ body: [UInt8]) -> [UInt8] {
            [
                type, 0, 0, UInt8(body.count), UInt8(time >> 16 & 0xFF), UInt8(time >> 8 & 0xFF), UInt8(time & 0xFF),
                UInt8(time >> 24),
            ]
                + [0, 0, 0] + body + RTMPChunkReaderTests.big(UInt32(11 + body.count))
        }
        var body =
            sub(8, 5000, [0xAF, 1, 1]) + sub(9, 5020, [0x27, 1]) + sub(22, 5030, [1]) + sub(1, 5030, [0, 0, 0, 1])
            + sub(8, 0x0100_1400, [0xAF, 1, 2])
        if !hasLastBackPointer { body.removeLast(4) }
        var script = ClientScript()
        script.open()
        script.message(22, body, timestamp: 90_000)
        script.message(8, [UInt8](repeating: 0xAF, count: 300), timestamp: 90_100)
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(
            harness.events.dropFirst().prefix(3) == [
                .media(.audio, timestamp: 90_000, payload: [0xAF, 1, 1]),
                .media(.video, timestamp: 90_020, payload: [0x27, 1]),
                .media(.audio, timestamp: 90_000 + 0x0100_1400 - 5000, payload: [0xAF, 1, 2]),
            ])
        #expect(harness.events.count == 5)
        #expect(harness.closeReason == nil)
    }

    @Test("an aggregate that lies about lengths gives what fits", arguments: 0..<60)
    func brokenAggregate(length: Int) {
        var script = ClientScript()
        script.open()
        script.message(
            22,
            Array(
                ([8, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 14, 9, 0xFF, 0xFF, 0xFF]
                    + [UInt8](repeating: 9, count: 50)).prefix(length)))
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.events.count == (length >= 14 ? 2 : 1))
        #expect(harness.closeReason == nil)
    }

    @Test("an aggregate of half a million empty messages gives some thousands, and a few of them end the connection")
    func crowdedAggregate() {
        let one: [UInt8] = [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11]
        let body = [[UInt8]](repeating: one, count: 520_000).flatMap { $0 }
        var script = ClientScript()
        script.open()
        let harness = SessionHarness()
        harness.feed(script.take())
        script.message(22, body)
        harness.feed(script.take())
        #expect(harness.events.count == 1 + 4_096 && harness.closeReason == nil)
        for _ in 0..<2 { script.message(22, [UInt8](body.prefix(15 * 4_096))) }
        harness.feed(script.take())
        #expect(harness.closeReason == .limit(.tinyMessageRate))
        #expect(harness.events.count <= 3 + 10_000)
    }

    @Test(
        "at a hand-over whoever can is asked to connect anew, and nobody else",
        arguments: [(nil, false), (0, false), (1, true), (14, false), (15, true)] as [(Double?, Bool)])
    func handOver(capsEx: Double?, isAsked: Bool) {
        var script = ClientScript()
        script.open(properties: capsEx.map { [AMF0Property("capsEx", .number($0))] } ?? [])
        let harness = SessionHarness()
        harness.feed(script.take())
        let before = harness.commands().count
        harness.handOver()
        let said = harness.commands().dropFirst(before)
        let codes = said.compactMap { $0.values.last?["code"]?.string }
        #expect(codes == [isAsked ? "NetConnection.Connect.ReconnectRequest" : "NetStream.Publish.Denied"])
        #expect(said.first?.streamID == (isAsked ? 0 : 1))
        #expect(said.first?.values.last?["level"]?.string == (isAsked ? "status" : "error"))
        #expect(harness.closeReason == .refused(.ended))
        #expect(harness.events.contains(.unpublished(.closed(.refused(.ended)))))
    }

    @Test("a ping is answered with its own time; other user control is ignored")
    func ping() {
        var script = ClientScript()
        script.connect()
        let before = script.bytes.count
        script.message(4, [0, 6, 1, 2, 3, 4], id: 2, streamID: 0)
        for event in [[0, 3, 0, 0, 0, 1, 0, 0, 0, 9], [0, 31, 0, 0, 0, 1], [0, 32], [0], []] as [[UInt8]] {
            script.message(4, event, id: 2, streamID: 0)
        }
        #expect(script.bytes.count > before)
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.answers().filter { $0.type == .userControl }.map(\.payload.bytes) == [[0, 7, 1, 2, 3, 4]])
        #expect(harness.quirks.contains(.controlLength))
        #expect(harness.closeReason == nil)
    }

    @Test("messages of no defined type are ignored, and too many are a stream out of step")
    func unknownTypes() {
        var script = ClientScript()
        script.open()
        for type in [7, 10, 11, 12, 13, 14, 21, 0] as [UInt8] { script.message(type, [1, 2]) }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == nil)
        script.message(7, [1])
        harness.feed(script.take())
        #expect(harness.closeReason == .desync(.unknownMessages))
    }

    @Test(
        "acknowledgements follow half the window, at most one a read, whatever window is asked for",
        arguments: [1, 65_536] as [UInt32])
    func acknowledgements(window: UInt32) {
        var script = ClientScript()
        script.open()
        script.message(5, RTMPChunkReaderTests.big(window), id: 2, streamID: 0)
        let harness = SessionHarness()
        harness.feed(script.take())
        func acknowledged() -> [UInt32] {
            harness.answers().filter { $0.type == .acknowledgement }.map { message in
                message.payload.bytes.reduce(0) { $0 << 8 | UInt32($1) }
            }
        }
        #expect(acknowledged().isEmpty)
        script.message(9, [UInt8](repeating: 0x27, count: 40_000))
        harness.feed(script.take())
        #expect(acknowledged() == [UInt32(harness.bytesReceived)])
        script.message(9, [UInt8](repeating: 0x27, count: 400_000))
        harness.feed(script.take())
        #expect(acknowledged().count == 2)
    }

    @Test("a decision that does not come in time is a refusal")
    func decisionDeadline() {
        var script = ClientScript()
        script.open()
        let harness = SessionHarness(decision: nil)
        harness.now = 1_000_000_000
        harness.feed(script.take())
        #expect(harness.nextDeadline == 3_500_000_000)
        harness.now = 3_500_000_000
        harness.deadlineReached()
        #expect(harness.statusCodes() == ["NetStream.Publish.Denied"])
        harness.decide(.accept, on: 1)
        #expect(!harness.isPublishing, "a decision behind the end changes nothing")
    }

    @Test("a connection that does not publish has ten seconds; unpublish gives ten more")
    func publishDeadline() {
        var script = ClientScript()
        script.connect()
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.nextDeadline == 10_000_000_000)
        script.publish()
        script.message(8, [0xAF, 1, 1])
        harness.feed(script.take())
        script.command("closeStream", 0, [.null])
        harness.now = 50_000_000_000
        harness.feed(script.take())
        #expect(harness.nextDeadline == 60_000_000_000)
        harness.now = 60_000_000_000
        harness.deadlineReached()
        #expect(harness.closeReason == .deadline(.publish))
    }

    @Test("media must begin within twenty seconds; a silent publisher is stalled for ninety before it is gone")
    func mediaDeadlines() {
        var script = ClientScript()
        script.open()
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.nextDeadline == 20_000_000_000)
        script.message(8, [0xAF, 1, 1])
        harness.now = 19_000_000_000
        harness.feed(script.take())
        #expect(harness.nextDeadline == 109_000_000_000)
        harness.now = 108_000_000_000
        harness.deadlineReached()
        #expect(harness.closeReason == nil)
        harness.now = 109_000_000_000
        harness.deadlineReached()
        #expect(harness.closeReason == .deadline(.mediaIdle))
        #expect(harness.events.contains(.unpublished(.closed(.deadline(.mediaIdle)))))
    }

    @Test("floods of commands, of tiny messages and of setup bytes end the connection", arguments: 0..<3)
    func floods(kind: Int) {
        var script = ClientScript()
        let harness = SessionHarness()
        let expected: RTMPLimit
        switch kind {
        case 0:
            script.open()
            for _ in 0..<200 { script.message(4, [0, 6, 0, 0, 0, 1], id: 2, streamID: 0) }
            expected = .commandRate
        case 1:
            script.open()
            harness.feed(script.take())
            for _ in 0..<20_000 { script.message(8, [0xAF]) }
            expected = .tinyMessageRate
        default:
            script.connect()
            for _ in 0..<100 { script.message(9, [UInt8](repeating: 0, count: 1000)) }
            expected = .setupBytes
        }
        harness.feed(script.take())
        #expect(harness.closeReason == .limit(expected))
        #expect(harness.events.filter { if case .close = $0 { true } else { false } }.count == 1)
    }

    @Test("commands at a pace no one calls a flood go on for ever")
    func calmCommands() {
        var script = ClientScript()
        script.open()
        let harness = SessionHarness()
        for second in 0..<300 {
            harness.now = Int64(second) * 1_000_000_000
            for _ in 0..<10 { script.message(4, [0, 6, 0, 0, 0, 1], id: 2, streamID: 0) }
            script.message(8, [0xAF, 1, 1])
            harness.feed(script.take())
        }
        #expect(harness.closeReason == nil)
    }

    @Test("a takeover says why and closes; a lost connection unpublishes once")
    func ends() {
        var script = ClientScript()
        script.open()
        let bytes = script.take()
        let taken = SessionHarness()
        taken.feed(bytes)
        taken.refuse(.takenOver)
        taken.refuse(.takenOver)
        #expect(taken.statusCodes() == ["NetStream.Publish.Start", "NetStream.Publish.Denied"])
        #expect(taken.events.suffix(2) == [.unpublished(.closed(.refused(.takenOver))), .close(.refused(.takenOver))])

        let lost = SessionHarness()
        lost.feed(bytes)
        lost.inputEnded()
        lost.inputEnded()
        #expect(lost.events.dropFirst() == [.unpublished(.disconnected)])
        #expect(lost.nextDeadline == nil)
    }

    @Test("an encoder that begins with a login by name and password gets on: no challenge, the stream key decides")
    func login() {
        var script = ClientScript()
        script.connect(app: "live?authmod=adobe&user=anna")
        script.command("createStream", 4, [.null])
        script.publish()
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.statusCodes() == ["NetStream.Publish.Start"])
        guard case .publishRequested(let request)? = harness.events.first else {
            Issue.record("no request")
            return
        }
        #expect(request.address.login == .adobe)
        #expect(request.address.key(app: "live") == "key")
    }
}
