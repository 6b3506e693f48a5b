import MediaTypes

/// Something to be said in step with a picture: the body of a request for metadata.
package struct MetadataRequest: Sendable, Equatable {
    /// What kind of thing it is, such as `gift`: `[A-Za-z0-9_.-]{1,64}`.
    package var type = ""
    /// Of the sender's choice; the same again is the same event. `nil`: every request is another one.
    package var id: String?
    package var text: String?
    /// A JSON object, as text.
    package var data: String?
    /// Program date-time of its picture, as written. `nil`: the next one.
    package var at: String?
    /// It holds until another one of its type comes: viewers who come later see it, too.
    package var state = false

    package init() {}

    private static let object = ValueRule<String>(
        schema: [JSONMember("type", "object")],
        read: { node, path, log in
            if case .object = node.content { return node.text() }
            log.mistake(path, "is \(node.kind), not an object", fix: "write { … }", at: node.position)
            return nil
        })

    static let rule = ObjectRule(
        "something to be said in step with a picture", MetadataRequest(),
        [
            Field(required: "type", \.type, .name(64, marks: "_.-"), "what kind of thing it is, such as gift"),
            Field(
                optional: "id", \.id, .name(64, marks: "_.-"), "of your choice; the same again is the same event"),
            Field(optional: "text", \.text, .text("any text", accepts: { _ in true }), "what it says"),
            Field(optional: "data", \.data, Self.object, "what it says, as an object"),
            Field(
                optional: "at", \.at,
                .text("a program date-time such as 2026-01-31T20:00:00.000Z", accepts: { _ in true }),
                "program date-time of its picture; without it the next one"),
            Field(
                "state", \.state, .boolean, "it holds until another one of its type: viewers who come later see it, too"
            ),
        ])

    /// Reads the document; either it or its mistakes, with their paths. Never traps, whatever the bytes.
    package static func parse(_ bytes: [UInt8]) -> Result<MetadataRequest, SpecReport.Refusal> {
        let document = JSONParser.parse(bytes)
        var log = SpecLog()
        document.mistakes.forEach { log.add($0) }
        if let root = document.root {
            log.note("", at: root.position)
            if let request = Self.rule.read(root, "", &log) {
                if request.text != nil, request.data != nil {
                    log.mistake("data", "stands beside text", fix: "keep one of the two")
                } else if request.text == nil, request.data == nil, !request.state, log.mistakes.isEmpty {
                    log.mistake("text", "is missing", fix: "add \"text\" or \"data\"; a state without either ends")
                }
                if log.mistakes.isEmpty { return .success(request) }
            }
        }
        return .failure(SpecReport.Refusal(mistakes: Pipeline.inOrder(log.mistakes)))
    }
}
