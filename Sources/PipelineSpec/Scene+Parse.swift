package import MediaTypes

/// The result of parsing the document of one scene.
package struct SceneReport: Sendable, Equatable {
    /// The scene; `nil` if there is a mistake.
    package let scene: Scene?
    /// Whether the document has a `revision`.
    package let hasRevision: Bool
    /// All mistakes in document order; empty if and only if ``scene`` is not `nil`.
    package let mistakes: [SpecDiagnostic]
    /// All warnings in document order.
    package let warnings: [SpecDiagnostic]
}

extension Scene {
    /// Parses the document of one scene for a valid pipeline, with the same rules as in the pipeline file. Never traps
    /// on any input.
    ///
    /// - Parameters:
    ///   - sceneID: Id of the scene. If the document has a `sceneId`, it must be the same.
    ///   - checks: Checks that depend on this machine.
    package static func parse(
        _ bytes: [UInt8], sceneID: String, in pipeline: Pipeline, checks: SpecChecks = .none
    ) -> SceneReport {
        let document = JSONParser.parse(bytes)
        var log = SpecLog()
        document.mistakes.forEach { log.add($0) }
        guard var root = document.root else { return self.report(nil, log) }
        log.note("", at: root.position)
        if case .object(var members) = root.content, !members.contains(where: { $0.key == "sceneId" }) {
            members.append(JSONMember("sceneId", .string(sceneID), at: root.position))
            root.content = .object(members)
        }
        let rule = ValueRule<Scene>.object(SceneDraft.rule, finish: SceneDraft.finished)
        guard let scene = rule.read(root, "", &log) else { return self.report(nil, log) }
        if log.isValid("sceneId"), scene.sceneID != sceneID {
            log.mistake(
                "sceneId", "\(SpecText.quoted(scene.sceneID)) is not the scene of this request",
                fix: "write \(SpecText.quoted(sceneID)), or remove the key")
        }
        SceneRules(pipeline: pipeline, checks: checks).check(scene, "", &log)
        return self.report(scene, log)
    }

    private static func report(_ scene: Scene?, _ log: SpecLog) -> SceneReport {
        let mistakes = Pipeline.inOrder(log.mistakes)
        return SceneReport(
            scene: mistakes.isEmpty ? scene : nil, hasRevision: log.isWritten("revision"), mistakes: mistakes,
            warnings: Pipeline.inOrder(log.warnings))
    }
}
