import MediaTypes

/// Which scene goes on air, and when: the body of a request that changes the program.
package struct ProgramRequest: Sendable, Equatable {
    package var sceneID: String
    /// Program date-time at which the scene goes on air, as written in the request. `nil`: at the next frame.
    package var at: String?
    /// Transition to use instead of the scene's own; `nil`: the scene's own.
    package var transition: Transition?

    /// The member `scene`, an older name of `sceneId`.
    private var scene: String?
    private var named: String?

    package init(_ sceneID: String) { self.sceneID = sceneID }

    static let rule = ObjectRule(
        "the scene that goes on air", ProgramRequest(""),
        [
            Field(optional: "sceneId", \.named, .id, "the scene's id"),
            Field(optional: "scene", \.scene, .id, "older name of sceneId"),
            Field(
                optional: "at", \.at,
                .text("a program date-time such as 2026-01-31T20:00:00.000Z", accepts: { _ in true }),
                "program date-time at which it goes on air"),
            Field(
                optional: "transition", \.transition, .object(Transition.rule, finish: Transition.checked),
                "transition to use instead of the scene's own"),
        ])

    /// Parses the request body: returns the request, or its mistakes with their paths. Never traps on any input.
    package static func parse(_ bytes: [UInt8]) -> Result<ProgramRequest, SpecReport.Refusal> {
        self.rule.parse(bytes) { request, log in
            if log.isWritten("sceneId"), log.isWritten("scene") {
                log.mistake("scene", "cannot be combined with sceneId", fix: "remove one of the two")
            } else if !log.isWritten("sceneId"), !log.isWritten("scene"), log.mistakes.isEmpty {
                log.mistake("sceneId", "is missing", fix: "send {\"sceneId\":\"ID\"}")
            }
            request.sceneID = request.named ?? request.scene ?? ""
            (request.named, request.scene) = (nil, nil)
        }
    }
}
