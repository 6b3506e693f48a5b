import MediaKernels
import RTMP
import Testing

@Suite("RTMP publish session, server side: RTMP 1.0 §7.2")
struct RTMPServerSessionTests {
    @Test("`connect` is answered in one write: window size, bandwidth and _result, readable at the new chunk size")
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

    @Test("`publish` is answered on the created stream, after StreamBegin")
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

    @Test("each RTMP command with a transaction id gets a _result, one without gets none")
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
        "`connect` is accepted with an object or array, with tcUrl only, and with any transaction id",
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

    @Test(
        "a client that announces Enhanced RTMP gets the supported features in the answer to `connect`, others none",
        arguments: [
            ([AMF0Property("fourCcList", .strictArray([.string("hvc1"), .string("Opus")]))], true),
            ([AMF0Property("videoFourCcInfoMap", .ecmaArray([AMF0Property("*", .number(4))]))], true),
            ([AMF0Property("audioFourCcInfoMap", .object([AMF0Property("mp4a", .number(2))]))], true),
            ([AMF0Property("capsEx", .number(0))], true), ([AMF0Property("capsEx", .number(.nan))], false),
            ([AMF0Property("fourCcList", .string("hvc1"))], false), ([], false),
        ] as [([AMF0Property], Bool)])
    func enhancedAnswer(said: [AMF0Property], isTold: Bool) {
        var script = ClientScript()
        script.connect(properties: said)
        let harness = SessionHarness()
        harness.feed(script.take())
        let answer = harness.commands().first?.values ?? []
        #expect(answer.count == 4)
        let expected: [(String, AMF0Value)] = [
            ("capsEx", .number(15)),
            ("fourCcList", .strictArray([.string(".mp3"), .string("avc1"), .string("mp4a")])),
            ("videoFourCcInfoMap", .object([AMF0Property("avc1", .number(1))])),
            (
                "audioFourCcInfoMap",
                .object([AMF0Property(".mp3", .number(1)), AMF0Property("mp4a", .number(1))])
            ),
        ]
        for object in answer.suffix(2) {
            for (name, value) in expected { #expect(object[name] == (isTold ? value : nil), "\(name)") }
        }
    }

    @Test("a `connect` object with a missing or partial end marker, as from Envivio, is read", arguments: 1...3)
    func unendedConnect(missing: Int) {
        let object = [AMF0Property("app", .string("live")), AMF0Property("flashVer", .string("E"))]
        let whole = AMF0Writer.bytes([.string("connect"), .number(1), .object(object)])
        var script = ClientScript()
        script.message(20, Array(whole.dropLast(missing)), id: 3, streamID: 0)
        script.publish()
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == nil)
        #expect(harness.isPublishing)
    }

    @Test("`connect` without an app gets _error and closes the session; a second `connect` closes it")
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
        "`publish` is accepted without createStream, publishing type or transaction id",
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
        "`publish` without a valid stream name is denied",
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

    @Test("a refused publisher gets a status of level error, then the session closes")
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

    @Test("a second `publish` on the same connection is answered with BadName, and the first continues")
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

    @Test("an encoder's name is cut to 128 Unicode scalars, without line breaks and control characters")
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

    @Test("a ninth created stream closes the session")
    func tooManyStreams() {
        var script = ClientScript()
        script.connect()
        for index in 0..<9 { script.command("createStream", Double(index + 2), [.null]) }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == .limit(.createdStreams))
        #expect(harness.commands().count == 9, "eight streams and connect were answered")
    }

    @Test(
        "an RTMP connection may create, publish and close streams 20 times in a row",
        arguments: [["deleteStream"], ["closeStream"], ["FCUnpublish"], ["closeStream", "deleteStream"]])
    func finishedStreams(ends: [String]) {
        var script = ClientScript()
        script.connect()
        for index in 1...20 {
            let id = UInt32(index)
            script.command("createStream", 2, [.null])
            script.command("publish", 3, [.null, .string("key"), .string("live")], streamID: id)
            for name in ends {
                let argument = name == "FCUnpublish" ? AMF0Value.string("key") : .number(Double(index))
                script.command(name, 4, [.null, argument], streamID: name == "closeStream" ? id : 0)
            }
        }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == nil)
        #expect(harness.events.filter { $0 == .unpublished(.client) }.count == 20)
    }

    @Test("closing and deleting the same stream frees only one of the eight allowed streams")
    func freedOnce() {
        var script = ClientScript()
        script.connect()
        for index in 0..<8 { script.command("createStream", Double(index + 2), [.null]) }
        script.command("closeStream", 0, [.null], streamID: 2)
        script.command("deleteStream", 0, [.null, .number(2)])
        script.command("createStream", 10, [.null])
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == nil)
        #expect(harness.commands().last?.values.last?.number == 9, "an id is not reused")
        script.command("createStream", 11, [.null])
        harness.feed(script.take())
        #expect(harness.closeReason == .limit(.createdStreams))
    }

    @Test("deleting an old stream while a newer one publishes does not unpublish")
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
        "closing an old stream by id or stream key while a newer one publishes does not unpublish",
        arguments: [
            ("closeStream", [.null], 1), ("FCUnpublish", [.null, .string("one")], 0),
            ("FCUnpublish", [.null, .string("one")], 1), ("FCUnpublish", [.null], 1),
            ("FCUnpublish", [.null, .string("other")], 1), ("deleteStream", [.null, .string("one")], 0),
        ] as [(String, [AMF0Value], UInt32)])
    func closedLate(name: String, arguments: [AMF0Value], streamID: UInt32) {
        var script = ClientScript()
        script.connect()
        script.command("createStream", 2, [.null])
        script.command("publish", 3, [.null, .string("one"), .string("live")], streamID: 1)
        script.command("closeStream", 0, [.null], streamID: 1)
        script.command("createStream", 4, [.null])
        script.command("publish", 5, [.null, .string("two"), .string("live")], streamID: 2)
        let harness = SessionHarness()
        harness.feed(script.take())
        let before = harness.commands().count
        script.command(name, 6, arguments, streamID: streamID)
        script.message(8, [0xAF, 1, 9])
        harness.feed(script.take())
        #expect(harness.isPublishing)
        #expect(harness.events.filter { $0 == .unpublished(.client) }.count == 1)
        #expect(harness.events.last == .media(.audio, timestamp: 0, payload: [0xAF, 1, 9]))
        let answers = harness.commands().dropFirst(before)
        #expect(!answers.isEmpty && answers.allSatisfy { $0.streamID == streamID || $0.streamID == 0 })
        script.command("FCUnpublish", 7, [.null, .string("two")])
        harness.feed(script.take())
        #expect(!harness.isPublishing)
        #expect(harness.commands().last?.streamID == 2)
    }

    @Test(
        "FCUnpublish sent on an old stream unpublishes the newer one's key, unless the old one had the same key",
        arguments: ["one", "two"])
    func closedOnOlderStream(first: String) {
        var script = ClientScript()
        script.connect()
        script.command("createStream", 2, [.null])
        script.command("publish", 3, [.null, .string(first), .string("live")], streamID: 1)
        script.command("closeStream", 0, [.null], streamID: 1)
        script.command("createStream", 4, [.null])
        script.command("publish", 5, [.null, .string("two"), .string("live")], streamID: 2)
        script.command("FCUnpublish", 6, [.null, .string("two")], streamID: 1)
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.isPublishing == (first == "two"))
        #expect(harness.events.filter { $0 == .unpublished(.client) }.count == (first == "two" ? 1 : 2))
    }

    @Test("with one stream, FCUnpublish with the published, an unknown or no stream key unpublishes")
    func closedByName() {
        for name in [AMF0Value.string("key"), .string("other"), .null] {
            var script = ClientScript()
            script.open()
            script.command("FCUnpublish", 6, [.null, .string("key")])
            script.publish()
            script.command("FCUnpublish", 7, [.null, name])
            let harness = SessionHarness()
            harness.feed(script.take())
            #expect(harness.events.filter { $0 == .unpublished(.client) }.count == 2)
            #expect(!harness.isPublishing)
        }
    }

    @Test(
        "deleteStream, closeStream, or FCUnpublish twice and then deleteStream, unpublish once",
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

    @Test("after it unpublished, a client may publish another stream key on the same connection")
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

    @Test("AMF3 commands whose values are AMF0 are read; AMF3 values are ignored")
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

    @Test(
        "at a handover to a new worker, clients that support it get a reconnect request, others a refusal; both are closed",
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
        #expect(said.first?.values.last?["description"]?.string?.hasPrefix("This server is stopping.") == true)
        #expect(harness.closeReason == .refused(.handedOver))
        #expect(harness.events.contains(.unpublished(.closed(.refused(.handedOver)))))
    }

    @Test("a publisher that is taken over gets a status and is closed once; a lost connection unpublishes once")
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

    @Test("an encoder that offers authmod credentials is not challenged, and is accepted by its stream key")
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
