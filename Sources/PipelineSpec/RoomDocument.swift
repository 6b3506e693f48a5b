package import MediaTypes

/// The pipeline file of a room in three forms: the JSON as written, the JSON with command-line flags applied, and the
/// validated pipeline.
package struct RoomDocument: Sendable {
    /// A parsed document with its warnings, or all its mistakes.
    package typealias Reading = Result<(document: RoomDocument, warnings: [SpecDiagnostic]), SpecReport.Refusal>

    /// The JSON without command-line flags, which override every version of the file.
    let written: JSONNode
    let overrides: [SpecOverride]
    /// The JSON with the flags applied.
    package let effective: JSONNode
    /// The validated pipeline of ``effective``.
    package private(set) var pipeline: Pipeline
    /// The running room's tracks, used if the document does not contain `renditions`; see
    /// ``keepLadder(tracks:hasAudioOnly:)``.
    private var running: (tracks: Set<String>, hasAudioOnly: Bool)?
    /// Version number of the document; 0 at first if the file has no `revision`.
    package internal(set) var revision: Int

    /// Parses a file with ``Pipeline/parse(_:overrides:checks:)``.
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

    /// Creates a document from a file that is already parsed.
    ///
    /// - Parameter pipeline: The result of ``Pipeline/parse(_:overrides:checks:)``.
    /// - Returns: `nil` if the bytes are not JSON, or if a command-line flag cannot be applied to them.
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

    /// Parses the next version of this file, with the same command-line flags.
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

    /// Keeps the default ladder that the room was started with, if an earlier version of the program started it and the
    /// document does not contain `renditions`. This holds for all later versions of the document too.
    ///
    /// - Parameters:
    ///   - tracks: Names of the tracks that the room has.
    ///   - hasAudioOnly: Whether the room's multivariant playlist has an audio-only variant.
    package mutating func keepLadder(tracks: Set<String>, hasAudioOnly: Bool) {
        self.running = (tracks, hasAudioOnly)
        if self.effective[key: "renditions"] == nil {
            self.pipeline.keepLadder(tracks: tracks, hasAudioOnly: hasAudioOnly)
        }
    }

    /// Returns the JSON tree that the document would have after a request, for checks before parsing; `nil` if the body
    /// is not JSON or a command-line flag cannot be applied.
    package func tree(after body: [UInt8], isPatch: Bool) -> JSONNode? {
        let parsed = JSONParser.parse(body)
        guard var root = parsed.root, parsed.mistakes.isEmpty else { return nil }
        if isPatch { root = self.written.mergedKeepingSecrets(with: root) }
        for override in self.overrides where override.apply(to: &root) != nil { return nil }
        return root
    }

    /// Returns the document after a JSON merge patch. If the patch contains no `revision`, ``DocumentChange`` assigns
    /// the next one.
    ///
    /// Mistakes of the merged document have no line and column, because its text does not exist as a file.
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
            let mistake = SpecDiagnostic(
                path: "", at: root.position, what: "is \(root.kind), not an object",
                fix: "send the members that change, such as {\"room\":{\"title\":\"…\"}}")
            return .failure(SpecReport.Refusal(mistakes: [mistake]))
        }
        var merged = self.written.mergedKeepingSecrets(with: root)
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

    /// The document for display, with its revision and without secrets.
    package var shown: JSONNode {
        var shown = self.effective.withoutSecrets
        if case .object(let members) = shown.content {
            shown.content = .object(
                [JSONMember("revision", .integer(self.revision))] + members.filter { $0.key != "revision" })
        }
        return shown
    }
}
