package import Events

/// The interface of the room for the control API. Called from many threads; no call may block for long.
///
/// Answers are JSON objects. Bodies that are complete documents are passed on as received; the room parses them by the
/// rules of the pipeline file.
package protocol RoomControlling: Sendable {
    /// Number of this worker among the workers of the room, from 1.
    var incarnation: Int64 { get }

    /// The room's state.
    ///
    /// - Parameter revision: The revision of the operators' changes, for the answer.
    func stateJSON(revision: Int64) -> String

    /// The pipeline document of the room, without its secrets.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for a room that was not created from a document.
    func documentJSON() throws(ControlFailure) -> String

    /// Replaces the pipeline document of the running room; either all changes apply, or none.
    ///
    /// - Parameters:
    ///   - body: A pipeline file, or a patch of it.
    ///   - isPatch: `body` is a JSON merge patch (RFC 7396).
    ///   - isDryRun: Only reports what would change.
    /// - Returns: The JSON paths of the changes.
    /// - Throws: ``ControlFailure`` 400 for invalid JSON, 422 for mistakes, 409 for an older `revision` and for changes
    ///   that a running room cannot make, each with its paths.
    func setDocument(_ body: [UInt8], isPatch: Bool, isDryRun: Bool) throws(ControlFailure) -> DocumentReply

    /// Commands to the scenes.
    var sceneControl: any SceneControlling { get }

    /// Commands to outputs and renditions.
    var outputControl: any OutputControlling { get }

    /// All sources.
    func sourcesJSON() -> String

    /// Statistics of every source and of the program.
    ///
    /// - Parameter isDebug: Includes counters of repaired and dropped data.
    func statisticsJSON(isDebug: Bool) -> String

    /// The current and the recent alarms.
    func alarmsJSON(_ state: AlarmState) -> String

    /// Counters and gauges for Prometheus; see ``MetricsText``.
    func metricsText() -> String

    /// One source.
    func sourceJSON(uid: String, streamType: String) throws(ControlFailure) -> String

    /// Changes the settings of a source; either all changes apply, or none.
    ///
    /// - Parameter streamType: The stream of `uid`; `main` if the request names none.
    func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure)

    /// Relays a source to another room. The same relay again changes nothing; another URL replaces the first one.
    ///
    /// - Parameters:
    ///   - relayID: Chosen by the caller, 1 to 64 letters, digits, `_`, `.` or `-`.
    ///   - url: `rtmp://host[:port]/app/key`.
    /// - Returns: The relay: one JSON object, the URL without its key.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source,
    ///   ``ControlFailure/invalidFormat(_:fix:status:)`` for an invalid URL, ``ControlFailure/limitExceeded(_:fix:)``
    ///   for more than four relays of a source.
    func putRelay(uid: String, streamType: String, relayID: String, url: String) throws(ControlFailure) -> String

    /// Removes a relay.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source or relay.
    func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure)

    /// Disconnects the publisher of a source and refuses publishers for some time; a pull source disconnects from its
    /// server for that time.
    ///
    /// - Parameter refuseSeconds: 0 to 86,400; 0: it may publish again at once, and an earlier refusal is lifted.
    /// - Returns: The new state: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source,
    ///   ``ControlFailure/invalidFormat(_:fix:status:)`` for a file source.
    func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String

    /// Cuts a part of the published media into a file, in the background.
    ///
    /// - Returns: The pending clip: one JSON object.
    /// - Throws: ``ControlFailure`` 422 for a range outside the available media, 409 for a name that is in use, 429 if
    ///   too many clips are in progress, 404 for an unknown rendition.
    func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String

    /// A clip.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)``.
    func clipJSON(_ id: String) throws(ControlFailure) -> String

    /// The latest clips.
    func clipsJSON() -> String

    /// The current program frame, or the latest frame of a source, as a JPEG file.
    ///
    /// - Parameters:
    ///   - source: `nil`: the program.
    ///   - width: In pixels, with the height in proportion; `nil`: as the room's image output says, or at most 640.
    /// - Returns: A JPEG file.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for a source that is unknown or has shown nothing yet.
    func snapshot(of source: (uid: String, streamType: String)?, width: Int?) throws(ControlFailure) -> [UInt8]

    /// Sends metadata to every viewer, in sync with a frame.
    ///
    /// - Returns: When it takes effect. The same `id` again changes nothing.
    /// - Throws: ``ControlFailure/limitExceeded(_:fix:)`` if the rate limit is exceeded.
    func addMetadata(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply

    /// Ends the room: everything is flushed and the playlists are closed.
    func end()

    /// Stops this worker; the playlists stay open for a successor.
    func drain()

    var health: HealthReport { get }

    /// Replies and revision that earlier workers have stored.
    var commandMemory: CommandMemory { get }

    /// Called before a command is carried out.
    func beginCommand()

    /// Called when the command of ``beginCommand()`` has been carried out or refused.
    ///
    /// - Parameters:
    ///   - waits: The answer is delayed, for a limited time, until the change is durable.
    ///   - answer: Called once, from any thread.
    func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void)

    /// The events of the room.
    var eventLog: EventLog { get }
}

/// Commands to the scenes of a room, their overlays and the PK. The rules of ``RoomControlling`` apply: calls come from
/// many threads and must not block for long, and answers are JSON objects.
package protocol SceneControlling: Sendable {
    /// Puts a scene on air at the next tick, or at a program date-time. The reply tells when.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown scene; `fix` lists the known ones.
    func setProgram(_ body: [UInt8]) throws(ControlFailure) -> ProgramReply

    /// The scenes of the room, and which of them is on air.
    func scenesJSON() -> String

    /// Adds a scene, or replaces the one with this id; a scene on air changes as soon as its new graph is ready.
    ///
    /// - Throws: ``ControlFailure/superseded(_:fix:)`` for an older `revision`.
    func setScene(_ sceneID: String, _ body: [UInt8]) throws(ControlFailure) -> SceneReply

    /// Removes a scene that is not on air.
    func removeScene(_ sceneID: String) throws(ControlFailure) -> String

    /// Changes a text in every scene that contains it.
    func setText(_ id: String, _ text: String) throws(ControlFailure) -> String

    /// Changes the points of a score bar; `nil` leaves a side unchanged.
    func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String

    /// Sets a countdown, in seconds from now or until a program date-time.
    func setCountdown(_ id: String, _ end: CountdownEnd) throws(ControlFailure) -> String

    /// Starts the PK, begins its punishment phase, or ends it.
    ///
    /// - Returns: The PK after the command: one JSON object.
    /// - Throws: ``ControlFailure`` 422 for an unknown scene; 409 for a command that does not fit the phase, or whose
    ///   sources are missing; 404 in a room without PK, unless the command starts one and names its scene.
    func changePK(_ command: PKCommand) throws(ControlFailure) -> String
}

/// Commands to the outputs and renditions of a room. The rules of ``RoomControlling`` apply: calls come from many
/// threads and must not block for long, and answers are JSON objects.
package protocol OutputControlling: Sendable {
    /// Disconnects an RTMP output from its server and connects again.
    ///
    /// - Returns: The new state: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown output, 409 for one without a connection.
    func restart(_ id: String) throws(ControlFailure) -> String

    /// Starts recording with the current segment, in new files, for an output of the type record; does nothing if it
    /// records already.
    ///
    /// - Returns: The new state: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown output, 409 for one of another type and for a disk
    ///   that cannot be written.
    func start(_ id: String) throws(ControlFailure) -> String

    /// Ends a recording with the current segment; its files are finalized while the room continues.
    ///
    /// - Returns: The new state: one JSON object.
    /// - Throws: Like ``start(_:)``.
    func stop(_ id: String) throws(ControlFailure) -> String

    /// Makes the next frame of a rendition a key frame.
    ///
    /// - Returns: The new state: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown rendition, 409 for one that is not encoded here.
    func requestKeyframe(_ rendition: String) throws(ControlFailure) -> String
}

extension RoomControlling {
    /// By default nothing survives the worker.
    package var commandMemory: CommandMemory { CommandMemory() }
    package func beginCommand() {}
    package func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void
    ) { answer(.durable) }

    /// By default there are no frames.
    package func snapshot(
        of source: (uid: String, streamType: String)?, width: Int?
    ) throws(ControlFailure) -> [UInt8] {
        throw .notFound("there is no frame yet", fix: "try again when something is on air")
    }
}

/// Changes of a source; `nil` leaves a value unchanged.
package struct SourceChange: Sendable, Hashable {
    /// Percent, 0 to 200; 100 is the published volume.
    package var volume: Int?
    /// The audio track that ``volume`` applies to, 0 to 255; `nil`: all audio.
    package var audioTrack: Int?
    /// Whether the source is audible.
    package var audioPush: Bool?
    /// Whether the source is visible.
    package var videoPush: Bool?
    /// Shift of all its tracks in milliseconds, −10,000 to 10,000; positive is later.
    package var offsetMs: Int?
    /// Clockwise rotation of its video in degrees: 0, 90, 180 or 270.
    package var rotation: Int?

    package init() {}
}

/// The end of a countdown.
package enum CountdownEnd: Sendable, Hashable {
    /// Seconds from now, 0 to 86,400.
    case seconds(Int)
    /// A program date-time, as received.
    case date(String)
}
