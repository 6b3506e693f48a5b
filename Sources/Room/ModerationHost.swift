import Control
import Events
import MediaTypes
import PipelineSpec
import Program
import RoomAPI
import RoomOutputs
import RoomSources
import Threading

/// The parts of a room that the moderation of its sources uses.
protocol ModerationHost: SourcesHost {
    var moderation: LateBound<ModerationService> { get }
    var listeners: RoomListeners { get }
    var outputStages: OutputStages { get }
    var events: RoomEvents { get }
    var clocks: Clocks { get }
    var incarnation: Int64 { get }
    var program: ProgramStage { get }
    var roomSources: [SourceID: RoomSource] { get }
    /// Whether no stills are made, because the machine is overloaded.
    var areStillsPaused: Bool { get }

    func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure)
    func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String
}

/// Moderation of the sources: `moderation` of the pipeline.
extension ModerationHost {
    /// Makes the service if the pipeline has `moderation`.
    ///
    /// - Throws: ``MediaError`` if the URL of the webhook cannot be read or is invalid, or if a secret cannot be read.
    func openModeration() throws(MediaError) {
        guard let settings = self.pipeline.moderation else { return }
        var store: (@Sendable (_ name: String, _ jpeg: [UInt8]) -> Void)?
        if let upload = self.outputStages.uploads.first(where: { $0.outputID == settings.stills.store }) {
            store = { upload.put(single: $0, $1, contentType: "image/jpeg") }
        }
        let parts = ModerationService.Parts(
            room: self.pipeline.room.roomID, incarnation: self.incarnation, stills: self.sourceParts.stills,
            clocks: self.clocks, events: self.events,
            store: store
        ) { [weak self] source, action, answer throws(ControlFailure) in
            guard let self else { return false }
            return try self.carryOut(action, answer, of: source)
        }
        self.moderation.set(try ModerationService.open(settings, parts))
    }

    /// Requests the stills that are due. Called on the life thread.
    func stepModeration() {
        guard let service = self.moderation.get(), let stills = self.pipeline.moderation?.stills else { return }
        service.step(self.roomSources, stills, isPaused: self.areStillsPaused)
    }

    /// Carries out a command of the moderation service like one of the control API.
    ///
    /// - Returns: Whether it has changed something. False for a source that is already covered or muted, and for a kick of
    ///   a file, or of a source that is already refused and has no publisher.
    private func carryOut(
        _ action: ModerationAnswer.Action, _ answer: ModerationAnswer, of id: SourceID
    ) throws(ControlFailure) -> Bool {
        let (uid, type) = (id.uid, id.streamType.rawValue)
        let source = try self.source(uid, type)
        let contribution = self.program.contribution(of: id)
        var change = SourceChange()
        switch action {
        case .cover where contribution.isSeen: change.videoPush = false
        case .mute where contribution.isHeard: change.audioPush = false
        // With a delay, media of a publisher that has left may still wait.
        case .kick where !source.isFile && (source.isPublishing || self.refusing.refusal(of: id) == nil): break
        default: return false
        }
        try self.listeners.carryOut { () throws(ControlFailure) in
            if action == .kick {
                _ = try self.kickSource(uid: uid, streamType: type, refuseSeconds: answer.refuseSeconds)
            } else {
                try self.setSource(uid: uid, streamType: type, change)
            }
            return true
        }
        return true
    }

    /// Sends a still of a source to the moderation service, in addition to those at its interval.
    ///
    /// - Throws: 404 for an unknown source, and for one that has no video or no frame yet; 409 if there is no moderation or
    ///   the source has no publisher; 429 if the machine is overloaded; the errors of ``SourcesHost/checkOpen()``.
    func sendStill(uid: String, streamType: String) throws(ControlFailure) -> String {
        try self.checkOpen()
        let source = try self.source(uid, streamType)
        guard let service = self.moderation.get(), let stills = self.pipeline.moderation?.stills else {
            throw .conflict(
                "the pipeline has no moderation, so there is no receiver of the still",
                fix: "add \"moderation\", or use GET /v1/sources/\(uid)/still.jpg")
        }
        guard source.isPublishing else {
            throw .conflict("source \(source.spec.id) is not published", fix: "repeat the command when it is")
        }
        try service.request(source, width: stills.width, isPaused: self.areStillsPaused)
        return
            ([
                "uid": .string(source.spec.id.uid), "streamType": .string(source.spec.id.streamType.rawValue),
                "accepted": "still",
            ] as JSONValue).text
    }

    /// Answers a request for a still of a source.
    func sendStill(
        of source: (uid: String, streamType: String), width: Int, isLive: Bool, known: String?,
        _ answer: @escaping @Sendable (Result<SourceStill, ControlFailure>) -> Void
    ) {
        do throws(ControlFailure) {
            let found = try self.source(source.uid, source.streamType)
            self.sourceParts.stills.request(
                of: found, width: width, isLive: isLive, known: known, isPaused: self.areStillsPaused, answer)
        } catch {
            answer(.failure(error))
        }
    }
}
