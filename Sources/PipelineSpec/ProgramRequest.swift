import MediaTypes

/// What is to come on air, and when: the body of a request for the program.
package struct ProgramRequest: Sendable, Equatable {
    package var sceneID: String
    /// Program date-time at which it comes on air, as written. `nil`: at the next tick.
    package var at: String?
    /// Instead of the scene's own.
    package var transition: Transition?

    /// Whether the document says `scene`, as earlier versions wrote it.
    private var scene: String?
    private var named: String?

    package init(_ sceneID: String) { self.sceneID = sceneID }

    static let rule = ObjectRule(
        "what is to come on air", ProgramRequest(""),
        [
            Field(optional: "sceneId", \.named, .name(64, marks: "_.-"), "the scene's id"),
            Field(optional: "scene", \.scene, .name(64, marks: "_.-"), "another word for sceneId"),
            Field(
                optional: "at", \.at,
                .text("a program date-time such as 2026-01-31T20:00:00.000Z", accepts: { _ in true }),
                "program date-time at which it comes on air"),
            Field(
                optional: "transition", \.transition, .object(Transition.rule, finish: Transition.checked),
                "instead of the scene's own"),
        ])

    /// Reads the document; either it or its mistakes, with their paths. Never traps, whatever the bytes.
    package static func parse(_ bytes: [UInt8]) -> Result<ProgramRequest, SpecReport.Refusal> {
        let document = JSONParser.parse(bytes)
        var log = SpecLog()
        document.mistakes.forEach { log.add($0) }
        if let root = document.root {
            log.note("", at: root.position)
            if var request = Self.rule.read(root, "", &log) {
                if log.isWritten("sceneId"), log.isWritten("scene") {
                    log.mistake("scene", "stands beside sceneId", fix: "keep one of the two")
                } else if !log.isWritten("sceneId"), !log.isWritten("scene"), log.mistakes.isEmpty {
                    log.mistake("sceneId", "names no scene", fix: "send {\"sceneId\":\"ID\"}")
                }
                request.sceneID = request.named ?? request.scene ?? ""
                (request.named, request.scene) = (nil, nil)
                if log.mistakes.isEmpty { return .success(request) }
            }
        }
        return .failure(SpecReport.Refusal(mistakes: Pipeline.inOrder(log.mistakes)))
    }
}
