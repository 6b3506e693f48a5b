import MediaTypes
import RTMP
import Testing

@Suite("Data messages from an encoder that are forwarded to players (onTextData, onCuePoint)")
struct DataEventTests {
    private static func said(_ messages: [[AMF0Value]], isAMF3: Bool = false) -> SessionHarness {
        var script = ClientScript()
        script.open()
        for message in messages {
            script.message(isAMF3 ? 15 : 18, (isAMF3 ? [0] : []) + AMF0Writer.bytes(message))
        }
        let harness = SessionHarness()
        harness.feed(script.take())
        #expect(harness.closeReason == nil)
        return harness
    }

    @Test(
        "onTextData and onCuePoint are forwarded as JSON, also from AMF3 messages; other data messages are not",
        arguments: [false, true])
    func values(isAMF3: Bool) {
        let nested = AMF0Value.object([
            AMF0Property("a", .strictArray([.number(1), .number(-2.5), .number(.nan), .null, .undefined])),
            AMF0Property("b", .boolean(true)), AMF0Property("b", .string("the second of its name")),
            AMF0Property("c", .date(1_790_000_000_123)), AMF0Property("d", .string("\"\\\n\u{1}")),
            AMF0Property("e", .number(1e300)), AMF0Property("f", .number(0.0005)),
        ])
        let harness = Self.said(
            [
                [.string("onTextData"), .ecmaArray([AMF0Property("text", .string("gól"))])],
                [.string("onCuePoint"), nested, .number(7)], [.string("onCuePoint")],
                [.string("onMetaData"), .object([])], [.string("onStatus"), .object([])], [.string("onCuePointer")],
            ], isAMF3: isAMF3)
        let cue =
            #"{"a":[1,-2.500,null,null,null],"b":true,"c":1790000000123,"#
            + #""d":"\"\\\n\u0001","e":null,"f":0.000}"#
        #expect(
            harness.said == [#"onTextData [{"text":"gól"}]"#, "onCuePoint [\(cue),7]", "onCuePoint []"],
            "\(harness.said)")
        #expect(harness.events.contains(.metadata([])))
    }

    @Test("a data message whose JSON is longer than 4,096 bytes is dropped")
    func long() {
        func text(_ count: Int) -> [AMF0Value] {
            [.string("onTextData"), .string(String(repeating: "x", count: count))]
        }
        let harness = Self.said([text(4_092), text(4_093), text(5)])
        #expect(harness.said.map(\.utf8.count) == [11 + 4_096, 11 + 9])
    }

    @Test("of 300 data messages at once, 20 are forwarded; metadata after them still arrives")
    func flood() {
        let many = (0..<300).map { [AMF0Value.string("onCuePoint"), .number(Double($0))] }
        let harness = Self.said(many + [[.string("onMetaData"), .object([])]])
        #expect(harness.said.count == 20 && harness.said.first == "onCuePoint [0]")
        #expect(harness.events.last == .metadata([]))
    }
}
