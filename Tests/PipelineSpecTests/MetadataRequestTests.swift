import PipelineSpec
import Testing

@Suite("Metadata requests")
struct MetadataRequestTests {
    private static func parse(_ text: String) -> Result<MetadataRequest, SpecReport.Refusal> {
        MetadataRequest.parse(Array(text.utf8))
    }

    @Test("a metadata request with text, an object or neither is read, with its type, id and state flag")
    func read() throws {
        let text = try Self.parse(#"{"type":"gift","id":"g.1","text":"장미 \"x\"","at":"2026-01-31T20:00:00.000Z"}"#)
            .get()
        #expect(text.type == "gift" && text.id == "g.1" && text.text == "장미 \"x\"" && !text.state)
        let data = try Self.parse(#"{"type":"score","data":{"left":3,"names":["a",{"b":null}],"x":1.5},"state":true}"#)
            .get()
        #expect(data.data == #"{"left":3,"names":["a",{"b":null}],"x":1.5}"# && data.state)
        #expect(try Self.parse(#"{"type":"score","state":true}"#).get().text == nil)
    }

    @Test(
        "an invalid metadata request is refused with path, what is wrong and a fix",
        arguments: [
            (#"{"text":"a"}"#, "type", "is missing"), (#"{"type":"gift"}"#, "text", "is missing"),
            (#"{"type":"a b","text":"a"}"#, "type", "is not valid"),
            (#"{"type":"gift","text":"a","data":{}}"#, "data", "cannot be combined with text"),
            (#"{"type":"gift","data":"a"}"#, "data", "is a string, not an object"),
            (#"{"type":"gift","txt":"a","text":"b"}"#, "txt", "unknown key"),
            (#"{"type":"gift","text":"b","id":"a/b"}"#, "id", "is not valid"), ("[]", "", "not an object"),
        ])
    func refused(body: String, path: String, what: String) {
        guard case .failure(let refusal) = Self.parse(body) else { return #expect(Bool(false), "\(body) was accepted") }
        #expect(
            refusal.mistakes.contains { $0.path == path && $0.what.contains(what) && !$0.fix.isEmpty }, "\(refusal)")
    }
}
