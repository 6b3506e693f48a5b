package import Events

/// The room, as the control API sees it. Called from many threads; none of these may block for long.
///
/// Answers are JSON objects. Bodies that are whole documents are handed over as they came: the room reads them by the
/// rules of the pipeline file.
package protocol RoomControlling: Sendable {
    /// Which worker of the room this is, from 1.
    var incarnation: Int64 { get }

    /// The room's state.
    ///
    /// - Parameter revision: Of what operators have changed; stands in the answer.
    func stateJSON(revision: Int64) -> String

    /// The document the room runs by, without its secrets.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for a room that was not made from one.
    func documentJSON() throws(ControlFailure) -> String

    /// Takes another document in place of the one the room runs by: all of it, or nothing.
    ///
    /// - Parameters:
    ///   - body: A pipeline file, or what is to change of it.
    ///   - isPatch: `body` is a JSON merge patch (RFC 7396).
    ///   - isDryRun: Only says what would change.
    /// - Returns: What has changed, by its JSON paths: one JSON object.
    /// - Throws: ``ControlFailure`` 400 for what is no JSON, 422 for mistakes, 409 for an older `revision` and for what no
    ///   running room can take, each with its paths.
    func setDocument(_ body: [UInt8], isPatch: Bool, isDryRun: Bool) throws(ControlFailure) -> DocumentReply

    /// Puts a scene on air: at the next tick, or at a program date-time. The answer says when.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for a scene the room does not have, its scenes listed in `fix`.
    func setProgram(_ body: [UInt8]) throws(ControlFailure) -> ProgramReply

    /// The scenes of the room, and which one is on air.
    func scenesJSON() -> String

    /// Adds a scene, or replaces the one of this id; one on air changes as soon as its graph is warm.
    ///
    /// - Throws: ``ControlFailure/superseded(_:fix:)`` for an older `revision`.
    func setScene(_ sceneID: String, _ body: [UInt8]) throws(ControlFailure) -> SceneReply

    /// Takes away a scene that is not on air.
    func removeScene(_ sceneID: String) throws(ControlFailure) -> String

    /// Every source.
    func sourcesJSON() -> String

    /// Numbers of every source, and of the program.
    ///
    /// - Parameter isDebug: With what was mended and dropped on the way.
    func statisticsJSON(isDebug: Bool) -> String

    /// What is wrong, and was lately.
    func alarmsJSON(_ state: AlarmState) -> String

    /// Takes leave of where an output goes, and begins anew.
    ///
    /// - Returns: What has become of it: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the output, 409 for one that has no connection.
    func restartOutput(_ id: String) throws(ControlFailure) -> String

    /// Records an output of the type record from the segment on that is on air, in files of its own; one that records goes on.
    ///
    /// - Returns: What has become of it: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the output, 409 for another type and for a disk that takes nothing.
    func startOutput(_ id: String) throws(ControlFailure) -> String

    /// Ends what ``startOutput(_:)`` or the room has begun, with the segment that is on air; its files are made while the room goes
    /// on.
    ///
    /// - Returns: What has become of it: one JSON object.
    /// - Throws: As ``startOutput(_:)``.
    func stopOutput(_ id: String) throws(ControlFailure) -> String

    /// Makes the next picture of a rendition one to begin with.
    ///
    /// - Returns: What has become of it: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the rendition, 409 for one whose pictures are not coded here.
    func requestKeyframe(_ rendition: String) throws(ControlFailure) -> String

    /// Counters and gauges for Prometheus: ``MetricsText``.
    func metricsText() -> String

    /// One source.
    func sourceJSON(uid: String, streamType: String) throws(ControlFailure) -> String

    /// Changes what a source contributes, all of it or nothing.
    ///
    /// - Parameter streamType: Of the source among those of `uid`; `main` where the request names none.
    func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure)

    /// Changes a text, in every scene that has it.
    func setText(_ id: String, _ text: String) throws(ControlFailure) -> String

    /// Changes the points of a score bar; `nil` leaves a side as it is.
    func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String

    /// Sets a countdown: so many seconds from now, or until a program date-time.
    func setCountdown(_ id: String, _ end: CountdownEnd) throws(ControlFailure) -> String

    /// Sends a source's packets to another room; the same again changes nothing, another URL takes the place of the first.
    ///
    /// - Parameters:
    ///   - relayID: Of the caller's choice, 1 to 64 letters, digits, `_`, `.` or `-`.
    ///   - url: `rtmp://host[:port]/app/key`.
    /// - Returns: The relay: one JSON object, the URL without its key.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the source, ``ControlFailure/invalidFormat(_:fix:status:)`` for the
    ///   URL, ``ControlFailure/limitExceeded(_:fix:)`` beyond four of a source.
    func putRelay(uid: String, streamType: String, relayID: String, url: String) throws(ControlFailure) -> String

    /// Ends a relay.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the source and for the relay.
    func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure)

    /// Sends the publisher of a source away and refuses its key for some time; of a source that is fetched, leaves its server
    /// for as long.
    ///
    /// - Parameter refuseSeconds: 0 to 86,400; 0: it may come back at once, and whatever was refused before is not any more.
    /// - Returns: What has become of it: one JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for the source, ``ControlFailure/invalidFormat(_:fix:status:)`` for a file.
    func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String

    /// Starts, punishes or ends the PK.
    ///
    /// - Returns: The PK as it is then: one JSON object.
    /// - Throws: ``ControlFailure`` 422 for a scene that the room does not have; 409 for a command that does not fit the
    ///   phase, or whose sources are not there; 404 in a room without PK, unless the command starts one and names its scene.
    func changePK(_ command: PKCommand) throws(ControlFailure) -> String

    /// Cuts a piece of what is published into a file, in the background.
    ///
    /// - Returns: The clip, which is pending: one JSON object.
    /// - Throws: ``ControlFailure`` 422 for a range outside of what is there, 409 for a name that is taken, 429 where too many
    ///   are being made, 404 for the rendition.
    func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String

    /// A clip.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)``.
    func clipJSON(_ id: String) throws(ControlFailure) -> String

    /// The last clips.
    func clipsJSON() -> String

    /// What is on air now, or a source's newest picture.
    ///
    /// - Parameters:
    ///   - source: `nil`: the program.
    ///   - width: Pixels, the height in proportion; `nil`: as the room's image output says, or 640 at most.
    /// - Returns: A JPEG file.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for a source that is not there or has shown nothing yet.
    func snapshot(of source: (uid: String, streamType: String)?, width: Int?) throws(ControlFailure) -> [UInt8]

    /// Says something in step with a picture, to every viewer.
    ///
    /// - Returns: When: one JSON object. The same `id` again changes nothing.
    /// - Throws: ``ControlFailure/limitExceeded(_:fix:)`` for more than the room takes in a second.
    func addMetadata(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply

    /// The room is over: everything is flushed and the playlists are closed.
    func end()

    /// This worker stops: the playlists stay open for a successor.
    func drain()

    var health: HealthReport { get }

    /// What the workers before this one have answered.
    var commandMemory: CommandMemory { get }

    /// A command is about to be carried out.
    func beginCommand()

    /// The command that ``beginCommand()`` began was carried out, or refused.
    ///
    /// - Parameters:
    ///   - waits: The answer waits until what the command has changed is durable, for a moment.
    ///   - answer: Called once, from any thread.
    func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void)

    /// What has happened in the room.
    var eventLog: EventLog { get }
}

extension RoomControlling {
    /// Nothing survives the worker.
    package var commandMemory: CommandMemory { CommandMemory() }
    package func beginCommand() {}
    package func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void
    ) { answer(.durable) }

    /// A room without pictures.
    package func snapshot(
        of source: (uid: String, streamType: String)?, width: Int?
    ) throws(ControlFailure) -> [UInt8] {
        throw .notFound("there is no picture", fix: "ask again when something is on air")
    }
}

/// What a request changes of a source; `nil` leaves a value as it is.
package struct SourceChange: Sendable, Hashable {
    /// Percent, 0 to 200; 100 is as published.
    package var volume: Int?
    /// Which of its audio tracks ``volume`` is for, 0 to 255; `nil`: all its sound.
    package var audioTrack: Int?
    /// Whether the source is heard.
    package var audioPush: Bool?
    /// Whether the source is seen.
    package var videoPush: Bool?
    /// Milliseconds all its tracks are shifted, −10,000 to 10,000; positive is later.
    package var offsetMs: Int?
    /// Degrees clockwise its pictures are turned: 0, 90, 180 or 270.
    package var rotation: Int?

    package init() {}
}

/// When a countdown is over.
package enum CountdownEnd: Sendable, Hashable {
    /// Seconds from now, 0 to 86,400.
    case seconds(Int)
    /// A program date-time, as written.
    case date(String)
}
