package import MediaTypes

/// A pipeline file as a room runs by it: what was written, what flags make of it, and what it means.
package struct RoomDocument: Sendable {
    /// A version with its warnings, or everything that is wrong with it.
    package typealias Reading = Result<(document: RoomDocument, warnings: [SpecMistake]), SpecReport.Refusal>

    /// Without the flags, which win over every version of the file.
    let written: JSONNode
    let overrides: [SpecOverride]
    /// With them.
    package let effective: JSONNode
    /// What ``effective`` means.
    package private(set) var pipeline: Pipeline
    /// What the running room has, for a ladder that is not written; see ``keepLadder(tracks:hasAudioOnly:)``.
    private var running: (tracks: Set<String>, hasAudioOnly: Bool)?
    /// Which version it is; 0 for a file that does not say.
    package internal(set) var revision: Int

    /// Reads a file as ``Pipeline/parse(_:overrides:checks:)`` does.
    package static func read(
        _ bytes: [UInt8], overrides: [SpecOverride] = [], checks: SpecChecks = .none
    ) -> Reading {
        let report = Pipeline.parse(bytes, overrides: overrides, checks: checks)
        return report.result.flatMap { pipeline -> Reading in
            guard let document = RoomDocument(bytes, overrides: overrides, pipeline: pipeline) else {
                return .failure(SpecReport.Refusal(mistakes: []))
            }
            return .success((document, report.warnings))
        }
    }

    /// A file that has been read already.
    ///
    /// - Parameter pipeline: What ``Pipeline/parse(_:overrides:checks:)`` made of it.
    /// - Returns: `nil` for what is no JSON.
    package init?(_ bytes: [UInt8], overrides: [SpecOverride], pipeline: Pipeline) {
        guard let written = Pipeline.document(bytes),
            let effective = Pipeline.document(bytes, overrides: overrides)
        else { return nil }
        self.written = written
        self.overrides = overrides
        self.effective = effective
        self.pipeline = pipeline
        self.revision = pipeline.revision ?? 0
    }

    /// Reads the next version of this file, under the same flags.
    package func next(
        _ bytes: [UInt8], checks: SpecChecks = .none
    ) -> Reading {
        Self.read(bytes, overrides: self.overrides, checks: checks).map { document, warnings in
            guard let running = self.running else { return (document, warnings) }
            var document = document
            document.keepLadder(tracks: running.tracks, hasAudioOnly: running.hasAudioOnly)
            return (document, warnings)
        }
    }

    /// The room runs already: if the ladder is not written, then it is the one that the room began with, in this version and in
    /// all that follow.
    ///
    /// - Parameters:
    ///   - tracks: Names of the tracks that the room has.
    ///   - hasAudioOnly: Its multivariant playlist offers the audio alone.
    package mutating func keepLadder(tracks: Set<String>, hasAudioOnly: Bool) {
        self.running = (tracks, hasAudioOnly)
        if self.effective[key: "renditions"] == nil {
            self.pipeline.keepLadder(tracks: tracks, hasAudioOnly: hasAudioOnly)
        }
    }

    /// What a request would make of the tree, for those who judge it before it is read; `nil` for what is no JSON.
    package func tree(after body: [UInt8], isPatch: Bool) -> JSONNode? {
        let parsed = JSONParser.parse(body)
        guard var root = parsed.root, parsed.mistakes.isEmpty else { return nil }
        if isPatch { root = self.written.merged(with: root) }
        for override in self.overrides where override.apply(to: &root) != nil { return nil }
        return root
    }

    /// The file after a merge patch, which has the next revision unless the patch names one.
    ///
    /// Lines and columns of mistakes in it mean nothing: nobody has written it.
    ///
    /// Spec: RFC 7396.
    package func patched(
        _ patch: [UInt8], checks: SpecChecks = .none
    ) -> Reading {
        let parsed = JSONParser.parse(patch)
        guard let root = parsed.root, parsed.mistakes.isEmpty else {
            return .failure(SpecReport.Refusal(mistakes: parsed.mistakes))
        }
        guard case .object = root.content else {
            let mistake = SpecMistake(
                path: "", at: root.position, what: "is \(root.kind), not an object",
                fix: "send the members that change, such as {\"room\":{\"title\":\"…\"}}")
            return .failure(SpecReport.Refusal(mistakes: [mistake]))
        }
        var merged = self.written.merged(with: root)
        if root[key: "revision"] == nil, case .object(let members) = merged.content {
            merged.content = .object(members.filter { $0.key != "revision" })
        }
        return self.next(Array(merged.text().utf8), checks: checks).mapError { refusal in
            SpecReport.Refusal(
                mistakes: refusal.mistakes.map { mistake in
                    var mistake = mistake
                    if mistake.flag == nil { mistake.position = .none }
                    return mistake
                })
        }
    }

    /// What may be shown: with its revision, without secrets.
    package var shown: JSONNode {
        var shown = self.effective.withoutSecrets
        if case .object(let members) = shown.content {
            shown.content = .object(
                [JSONMember("revision", .integer(self.revision))] + members.filter { $0.key != "revision" })
        }
        return shown
    }
}
