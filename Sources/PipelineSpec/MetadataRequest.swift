import MediaTypes

/// Timed metadata for viewers, in sync with a frame: the body of `POST /v1/metadata`.
package struct MetadataRequest: Sendable, Equatable {
    /// Type of the metadata, such as `gift`: `[A-Za-z0-9_.-]{1,64}`.
    package var type = ""
    /// Id of the event, chosen by the client: a repeated request with the same id and content has no effect, one with
    /// other content is rejected. `nil`: every request is a new event.
    package var id: String?
    /// Content as text; `nil`: none.
    package var text: String?
    /// Content as the text of a JSON object; `nil`: none.
    package var data: String?
    /// Program date-time of the frame that the metadata belongs to, as written in the request. `nil`: the next frame
    /// that no encoder has received yet.
    package var at: String?
    /// Whether the metadata stays in effect until the next metadata of the same type, so that viewers who join later
    /// receive it too.
    package var state = false

    package init() {}

    private static let object = ValueRule<String>(
        schema: [JSONMember("type", "object")],
        parse: { node throws(Problem) in
            if case .object = node.content { return node.text() }
            throw node.isNot("an object", fix: "write { … }")
        })

    static let rule = ObjectRule(
        "timed metadata for viewers, in sync with a frame", MetadataRequest(),
        [
            Field(required: "type", \.type, .id, "type of the metadata, such as gift"),
            Field(
                optional: "id", \.id, .id,
                "an id of your choice; a repeated request with the same id and content has no effect"),
            Field(optional: "text", \.text, .text("any text", accepts: { _ in true }), "content as text"),
            Field(optional: "data", \.data, Self.object, "content as a JSON object"),
            Field(
                optional: "at", \.at,
                .text("a program date-time such as 2026-01-31T20:00:00.000Z", accepts: { _ in true }),
                "program date-time of its frame; default the next frame"),
            Field(
                "state", \.state, .boolean,
                "whether it stays in effect until the next one of its type, so that viewers who join later receive it too"
            ),
        ])

    /// Parses the request body: returns the request, or its mistakes with their paths. Never traps on any input.
    package static func parse(_ bytes: [UInt8]) -> Result<MetadataRequest, SpecReport.Refusal> {
        self.rule.parse(bytes) { request, log in
            if request.text != nil, request.data != nil {
                log.mistake("data", "cannot be combined with text", fix: "remove one of the two")
            } else if request.text == nil, request.data == nil, !request.state, log.mistakes.isEmpty {
                log.mistake(
                    "text", "is missing",
                    fix: "add \"text\" or \"data\"; only a state may have neither, which ends the current state")
            }
        }
    }
}
