package import Control
package import Logging
package import MediaTypes
package import PipelineSpec

/// The parts of the room that a document changes, as ``DocumentService`` needs them.
package protocol DocumentHost: OutputCommandHost {
    var logger: Logger { get }

    /// Sets or clears the alarm that the pipeline file is refused.
    ///
    /// - Parameter message: nil: the file is in force.
    func setFileAlarm(_ path: String, _ message: String?)

    /// What a document is checked by.
    ///
    /// - Parameter request: A document that a request sends, as it would be; nil for one that no request sends, which may name
    ///   any file and any server.
    /// - Throws: ``ControlFailure`` if the request names files or variables that it may not.
    func checks(ofRequest request: JSONNode?, isRequest: Bool) throws(ControlFailure) -> SpecChecks

    /// - Throws: ``ControlFailure`` if a request's document names a server that nothing will be sent to.
    func checkServers(of pipeline: Pipeline) throws(ControlFailure)

    /// Refuses what ``apply(_:after:isRequest:)`` refuses, but for what shows only when a scene is composed.
    func tryOut(_ change: DocumentChange, after current: RoomDocument) throws(ControlFailure)

    /// Brings another version into force: all of it, or nothing.
    ///
    /// - Parameter isRequest: False for the pipeline file itself: what it names is what requests may name from now on.
    /// - Returns: When what is seen changes; nil: nothing that is seen has changed.
    func apply(
        _ change: DocumentChange, after current: RoomDocument, isRequest: Bool
    ) throws(ControlFailure) -> EffectTime?

    /// Writes down that the room runs by another version.
    ///
    /// - Parameter isNewFile: Whether the pipeline file is what has changed.
    func noteDocument(_ document: RoomDocument, isNewFile: Bool, after before: RoomDocument)
}

/// The room's document, changed while the room runs: all of a new version comes into force at once, or nothing does.
package struct DocumentService {
    private let host: any DocumentHost

    package init(_ host: any DocumentHost) { self.host = host }

    /// See ``RoomControlling/documentJSON()``.
    package func documentJSON() throws(ControlFailure) -> String {
        guard let document = self.host.withAPI({ $0.documents.current }) else { throw Self.noDocument }
        return document.shown.text()
    }

    /// Takes another version; see ``RoomControlling/setDocument(_:isPatch:isDryRun:)``.
    ///
    /// - Parameter isRequest: False for the pipeline file itself, which may name any file and any server.
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

    /// Most paths that a reply and an event list.
    private static let listed = 64

    /// JSON paths of what the new version says otherwise.
    private static func applied(_ change: DocumentChange) -> [String] { Array(change.paths.prefix(Self.listed)) }

    private static let noDocument = ControlFailure.notFound(
        "this room was not made from a pipeline file", fix: "start it by tandem run FILE")

    // MARK: Judging

    private static func read(
        _ body: [UInt8], isPatch: Bool, after current: RoomDocument, _ checks: SpecChecks
    ) throws(ControlFailure) -> (RoomDocument, [SpecDiagnostic]) {
        let result = isPatch ? current.patched(body, checks: checks) : current.next(body, checks: checks)
        switch result {
        case .success(let read): return (read.document, read.warnings)
        case .failure(let refusal):
            // What is JSON and no object has no path.
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

    /// Most mistakes that an event lists.
    private static let listedMistakes = 16

    /// Reports that the pipeline file is refused, or in force again.
    ///
    /// - Parameter refusal: `nil`: the file is one the room runs by.
    package func noteFile(_ path: String, _ refusal: ControlFailure?) {
        guard let refusal else {
            self.host.setFileAlarm(path, nil)
            self.host.logger.info("the pipeline file is in force again", metadata: ["file": "\(path)"])
            self.host.events.emit("config.restored", ["file": .string(path)])
            return
        }
        // The room is over: nothing is to be mended any more.
        guard refusal.status != 410 else { return }
        self.host.setFileAlarm(path, "\(path) is refused, the room runs by the version before: \(refusal.what)")
        self.host.logger.warning(
            "the pipeline file is refused, the version before stays",
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
