package import Control
package import Ingest
package import MediaTypes
import RoomScenes
package import RoomSources

/// The interface that the source services use to reach the room.
extension Room {
    package func withSources<Result: Sendable>(_ body: (inout SourcesState) -> Result) -> Result {
        self.value.withLock { body(&$0.sources) }
    }

    package func receive(
        _ event: SourceStateMachine.Event, of source: SourceID, at time: Int64, announce: (@Sendable () -> Void)?
    ) {
        self.note(.source(source, event), at: time, announce: announce)
    }

    package func received(data values: String, named name: String, from source: SourceID) {
        self.source(source, says: name, values)
    }

    package func requestLayout() {
        self.scenes.requestLayout()
    }

    package func suspendSourceRecordings(because error: MediaError?) { self.sourceRecording.suspend(because: error) }

    package func sourceDisconnected(_ source: SourceID) {
        self.passthrough?.remove(source)
        self.captions?.remove(source)
        self.saved.forget(source)
    }
}

extension Room {
    /// The current sources of the room, by id.
    var roomSources: [SourceID: RoomSource] { self.roster.sources }
    var roster: SourceRoster { self.sourceParts.roster }
    /// The server that admits publishers; nil before ``run()`` has made it and once the room closes it, and if no source of
    /// the room can be published.
    package var ingest: IngestServer? { self.ingestion.connections.ingest }

    // MARK: The document

    /// Adds the sources that join with a new document version, so that scenes can show them. They cannot be published
    /// yet.
    func add(_ change: RosterChanges.Change) {
        for newcomer in change.joining {
            let spec = newcomer.source.spec
            self.passthrough?.add(spec.id, newcomer.source.buffer.coded)
            self.captions?.add(spec.id, newcomer.source.buffer.captions)
            self.rosterChanges.add(newcomer)
            self.value.withLock { $0.scenes.life.add(SceneSelector.Source(spec, in: $0.api.documents.running)) }
        }
    }

    /// Removes a source from the room. Returns at once.
    ///
    /// - Parameter isReported: False if no event is emitted, because the source was added for a document that was
    ///   refused.
    func removeSource(_ id: SourceID, isReported: Bool = true) {
        self.value.withLock { $0.scenes.life.remove(id) }
        self.rosterChanges.remove(id, isReported: isReported)
    }

    // MARK: Control

    package func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String {
        try self.refusing.kick(uid, streamType: streamType, seconds: refuseSeconds)
    }

    package func putRelay(
        uid: String, streamType: String, relayID: String, url: String
    ) throws(ControlFailure) -> String {
        try self.relaying.put(relayID, of: uid, streamType: streamType, url: url)
    }

    package func setRecording(uid: String, streamType: String, isStart: Bool) throws(ControlFailure) -> String {
        try self.sourceRecording.command(uid, streamType: streamType, isStart: isStart)
    }

    package func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure) {
        try self.relaying.delete(relayID, of: uid, streamType: streamType)
    }

    package func requestStill(uid: String, streamType: String) throws(ControlFailure) -> String {
        try self.sendStill(uid: uid, streamType: streamType)
    }
}
