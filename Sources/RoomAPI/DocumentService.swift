package import Control
package import Logging
package import MediaTypes
package import PipelineSpec

/// The interface that ``DocumentService`` uses to reach the room.
package protocol DocumentHost: OutputCommandHost {
    var logger: Logger { get }

    /// Sets or clears the alarm that the pipeline file is invalid.
    ///
    /// - Parameter message: Why the file is refused; nil clears the alarm.
    func setFileAlarm(_ path: String, _ message: String?)

    /// The checks for a new version of the document.
    ///
    /// - Parameters:
    ///   - request: The document that an API request would result in; nil for the pipeline file, and if the request is
    ///     not valid JSON.
    ///   - isRequest: False for the pipeline file, which may name any file and any server.
    /// - Throws: ``ControlFailure`` if the request names files or variables that it may not.
    func checks(ofRequest request: JSONNode?, isRequest: Bool) throws(ControlFailure) -> SpecChecks

    /// Checks the servers that a document names.
    ///
    /// - Throws: ``ControlFailure`` if the egress policy forbids connections to one of them.
    func checkServers(of pipeline: Pipeline) throws(ControlFailure)

    /// Checks a version without applying it. Does not detect everything that ``apply(_:after:isRequest:)`` refuses, such
    /// as errors that occur when a scene is composed.
    func tryOut(_ change: DocumentChange, after current: RoomDocument) throws(ControlFailure)

    /// Applies a version of the document: either completely, or not at all.
    ///
    /// - Parameter isRequest: False for the pipeline file. The files and servers it names are those that requests may
    ///   use from then on.
    /// - Returns: When the scene that the change puts on air or composes again becomes visible; nil if it does neither.
    func apply(
        _ change: DocumentChange, after current: RoomDocument, isRequest: Bool
    ) throws(ControlFailure) -> EffectTime?

    /// Records the version that the room runs, for the next worker.
    ///
    /// - Parameter isNewFile: Whether a new version of the pipeline file was accepted, even if it changes nothing.
    func noteDocument(_ document: RoomDocument, isNewFile: Bool, after before: RoomDocument)
}

/// Changes the room's document while the room runs. A new version is applied completely, or not at all.
package struct DocumentService {
    private let host: any DocumentHost

    package init(_ host: any DocumentHost) { self.host = host }

    /// The room's document without its secrets, as JSON text.
    package func documentJSON() throws(ControlFailure) -> String {
        guard let document = self.host.withAPI({ $0.documents.current }) else { throw Self.noDocument }
        return document.shown.text()
    }

    /// Applies a new version of the document; see ``RoomControlling/setDocument(_:isPatch:isDryRun:)``.
    ///
    /// - Parameter isRequest: False for the pipeline file, which may name any file and any server.
    package func write(
        _ body: [UInt8], isPatch: Bool, isDryRun: Bool, isRequest: Bool
    ) throws(ControlFailure) -> DocumentReply {
        try self.host.checkOpen()
        return try self.host.holdingDocument { () throws(ControlFailure) in
            guard let current = self.host.withAPI({ $0.documents.current }) else { throw Self.noDocument }
            let tree = isRequest ? current.tree(after: body, isPatch: isPatch) : nil
            let checks = try self.host.checks(ofRequest: tree, isRequest: isRequest)
            let (next, warnings) = try Self.read(body, isPatch: isPatch, after: current, checks)
            let change = try Self.judge(next, after: current)
            if isRequest { try self.host.checkServers(of: next.pipeline) }
            var effect: EffectTime?
            if change.isChange, isDryRun {
                try self.host.tryOut(change, after: current)
            } else if change.isChange {
                effect = try self.host.apply(change, after: current, isRequest: isRequest)
                self.host.withAPI { $0.documents.current = change.document }
                if !isRequest { self.host.withAPI { $0.documents.file = next } }
                self.host.noteDocument(change.document, isNewFile: !isRequest, after: current)
                self.host.events.emit(
                    "room.changed",
                    [
                        "revision": JSONValue(change.document.revision),
                        "applied": .array(Self.applied(change).map { .string($0) }),
                    ])
            }
            if !isRequest, !change.isChange {
                self.host.withAPI { $0.documents.file = next }
                self.host.noteDocument(current, isNewFile: true, after: current)
            }
            return DocumentReply(
                revision: change.document.revision, changed: change.isChange && !isDryRun, isDryRun: isDryRun,
                applied: Self.applied(change), effect: effect, warnings: warnings.map { "\($0.path): \($0.what)" })
        }
    }

    /// Maximum number of changed paths in a reply and in `room.changed`.
    private static let listed = 64

    /// JSON paths of the members that the new version changes, at most ``listed``.
    private static func applied(_ change: DocumentChange) -> [String] { Array(change.paths.prefix(Self.listed)) }

    private static let noDocument = ControlFailure.notFound(
        "this room was not made from a pipeline file", fix: "start the room with tandem run FILE")

    // MARK: Judging

    private static func read(
        _ body: [UInt8], isPatch: Bool, after current: RoomDocument, _ checks: SpecChecks
    ) throws(ControlFailure) -> (RoomDocument, [SpecDiagnostic]) {
        let result = isPatch ? current.patched(body, checks: checks) : current.next(body, checks: checks)
        switch result {
        case .success(let read): return (read.document, read.warnings)
        case .failure(let refusal):
            // A body that is valid JSON but not an object is reported without a path.
            let isMalformed = JSONParser.parse(body).root == nil || refusal.mistakes.contains { $0.path.isEmpty }
            throw .refusedDocument(refusal.mistakes, isMalformed: isMalformed)
        }
    }

    private static func judge(
        _ next: RoomDocument, after current: RoomDocument
    ) throws(ControlFailure) -> DocumentChange {
        do throws(DocumentChange.Refusal) {
            return try DocumentChange(from: current, to: next)
        } catch {
            switch error {
            case .superseded(let revision):
                throw .superseded(
                    "the room's document has revision \(revision) already",
                    fix: "GET /v1/document, look at what has changed, and send a revision above \(revision)")
            case .hidden(let mistakes):
                throw .refused(mistakes) { what, fix, _ in .invalidFormat(what, fix: fix, status: 422) }
            case .needsRestart(let mistakes):
                throw .refused(mistakes) { what, fix, _ in .needsRestart(what, fix: fix) }
            }
        }
    }

    // MARK: The pipeline file

    /// Maximum number of mistakes in `config.invalid`.
    private static let listedMistakes = 16

    /// Reports that the pipeline file is refused, or that it is in force again: by alarm, log and event. A refusal with
    /// status 410, because the room accepts no more changes, is not reported.
    ///
    /// - Parameter refusal: Why the file is refused; nil if the room runs it.
    package func noteFile(_ path: String, _ refusal: ControlFailure?) {
        guard let refusal else {
            self.host.setFileAlarm(path, nil)
            self.host.logger.info("the pipeline file is in force again", metadata: ["file": "\(path)"])
            self.host.events.emit("config.restored", ["file": .string(path)])
            return
        }
        // The room ends or is handed over, so that there is nothing to correct any more.
        guard refusal.status != 410 else { return }
        self.host.setFileAlarm(path, "\(path) is refused, the previous version stays in force: \(refusal.what)")
        self.host.logger.warning(
            "the pipeline file is refused, the previous version stays in force",
            metadata: ["file": "\(path)", "reason": "\(refusal.what)", "fix": "\(refusal.fix)"])
        let errors = refusal.details.prefix(Self.listedMistakes).map { detail -> JSONValue in
            [
                "path": .string(detail.path), "line": JSONValue(detail.line), "column": JSONValue(detail.column),
                "what": .string(detail.what), "fix": .string(detail.fix),
            ]
        }
        self.host.events.emit(
            "config.invalid",
            [
                "file": .string(path), "code": .string(refusal.code), "reason": .string(refusal.what),
                "fix": .string(refusal.fix), "errors": .array(errors),
            ])
    }
}
