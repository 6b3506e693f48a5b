package import Events

/// The interface that the control API uses to reach the room. Called from many threads; no call may block for long.
///
/// Commands also throw 410 if the room has ended, is ending or is being handed over, and 503 if a newer worker has
/// taken it over. Results named JSON are JSON objects as text. Bodies that are complete documents are passed on as
/// received, and the room parses them by the rules of the pipeline file.
package protocol RoomControlling: Sendable {
    /// Number of this worker among the workers of the room, from 1.
    var incarnation: Int64 { get }

    /// The room's state, as JSON.
    ///
    /// - Parameter revision: The revision of the commanded state, which is included in the result.
    func stateJSON(revision: Int64) -> String

    /// The pipeline document of the room without its secrets, as JSON.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` if the room was not made from a document.
    func documentJSON() throws(ControlFailure) -> String

    /// Replaces the pipeline document of the running room. Either all changes apply, or none.
    ///
    /// - Parameters:
    ///   - body: A pipeline file, or a patch of it.
    ///   - isPatch: Whether `body` is a JSON merge patch (RFC 7396).
    ///   - isDryRun: Whether to report only what would change.
    /// - Returns: The revision, the JSON paths of the changes, and when they become visible.
    /// - Throws: ``ControlFailure``: 400 for invalid JSON, 403 for a file or server that requests may not use, 404 if the
    ///   room was not made from a document, 409 for an older `revision` and for changes that a running room cannot make,
    ///   410 if the room ends, 422 for mistakes. Each mistake has its path.
    func setDocument(_ body: [UInt8], isPatch: Bool, isDryRun: Bool) throws(ControlFailure) -> DocumentReply

    /// Commands for scenes.
    var sceneControl: any SceneControlling { get }

    /// Commands for outputs and renditions.
    var outputControl: any OutputControlling { get }

    /// All sources, as JSON.
    func sourcesJSON() -> String

    /// Statistics of every source and of the program, as JSON.
    ///
    /// - Parameter isDebug: Whether to include counters of corrected and dropped data.
    func statisticsJSON(isDebug: Bool) -> String

    /// The active alarms, the recently cleared ones, or both, as JSON.
    func alarmsJSON(_ state: AlarmState) -> String

    /// The metrics of the room for Prometheus; see ``MetricsText``.
    func metricsText() -> String

    /// One source, as JSON.
    func sourceJSON(uid: String, streamType: String) throws(ControlFailure) -> String

    /// Changes the settings of a source; either all changes apply, or none.
    ///
    /// - Parameter streamType: The stream of the user: `main` (used if the request names none) or `sub`.
    func setSource(uid: String, streamType: String, _ change: SourceChange) throws(ControlFailure)

    /// Relays a source to another RTMP server. The same relay again changes nothing; another URL replaces the previous
    /// one.
    ///
    /// - Parameters:
    ///   - relayID: Chosen by the client: 1 to 64 letters, digits, `_`, `.` or `-`.
    ///   - url: The target, as `rtmp://host[:port]/app/key`.
    /// - Returns: The relay as a JSON object, with the URL without its key.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source,
    ///   ``ControlFailure/invalidFormat(_:fix:status:)`` for an invalid URL or a file source, 403 for a server that the
    ///   worker may not connect to, 502 if the room is not ready for relays, ``ControlFailure/limitExceeded(_:fix:)``
    ///   for more than four relays of a source.
    func putRelay(uid: String, streamType: String, relayID: String, url: String) throws(ControlFailure) -> String

    /// Removes a relay.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source or relay,
    ///   ``ControlFailure/invalidFormat(_:fix:status:)`` for a file source.
    func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure)

    /// Starts or stops a source's own recording. Does nothing if it is already on or off.
    ///
    /// - Returns: The new state, as a JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source, 409 for a source without `record`, 502 if
    ///   the room is not ready for recordings.
    func setRecording(uid: String, streamType: String, isStart: Bool) throws(ControlFailure) -> String

    /// Disconnects the publisher of a source, and refuses publishers of the source for some time. If the source is
    /// fetched, then the worker disconnects from its server for that time.
    ///
    /// - Parameter refuseSeconds: 0 to 86,400. With 0 the source may be published again at once, and an earlier refusal
    ///   is lifted.
    /// - Returns: Whether the source was published, and its refusal, as a JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source,
    ///   ``ControlFailure/invalidFormat(_:fix:status:)`` for a file source.
    func kickSource(uid: String, streamType: String, refuseSeconds: Int) throws(ControlFailure) -> String

    /// Sends a still of a source to the pipeline's moderation service, in addition to those at its interval.
    ///
    /// - Returns: The accepted request, as a JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown source, or if it has no frame yet; 409 if the pipeline
    ///   has no moderation or the source is not published; 429 if the machine is overloaded.
    func requestStill(uid: String, streamType: String) throws(ControlFailure) -> String

    /// Cuts a part of the published media into a file, in the background.
    ///
    /// - Returns: The pending clip, as a JSON object.
    /// - Throws: ``ControlFailure`` 422 for invalid dates or a range outside the available media, 409 for a name that
    ///   is in use, a full disk or a rendition that may sleep, 429 if too many clips are in progress, 404 for an
    ///   unknown rendition or if the room can make no clips, 502 if the segments cannot be held.
    func makeClip(_ request: ClipRequest) throws(ControlFailure) -> String

    /// One clip, as JSON.
    ///
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown clip.
    func clipJSON(_ id: String) throws(ControlFailure) -> String

    /// The latest clips, as JSON.
    func clipsJSON() -> String

    /// The current frame of the program, or the latest frame of a source, as a JPEG file.
    ///
    /// - Parameters:
    ///   - source: The source; nil for the program.
    ///   - width: Width in pixels, with the height in proportion; nil if the longer side is to have at most 640 pixels.
    /// - Returns: A JPEG file.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` if the room has only audio, if the source is unknown, if there is
    ///   no frame yet, or if the image cannot be made.
    func snapshot(of source: (uid: String, streamType: String)?, width: Int?) throws(ControlFailure) -> [UInt8]

    /// Adds a client that receives the program's audio.
    ///
    /// - Throws: ``ControlFailure``: 409 before the program has begun, 410 if the room ends, 429 if too many clients
    ///   receive it or the machine is overloaded.
    func openAudioTap() throws(ControlFailure) -> AudioTapStream

    /// A still of one source as a JPEG file: of the newest decoded frame, or of the last key frame if that arrived later.
    ///
    /// - Parameters:
    ///   - width: Width in pixels, 16 to 1,280; the height is in proportion.
    ///   - isLive: Whether to decode all frames of the source for 1.5 s, also while it is not on air. The room does this for
    ///     one source at a time, and not on an overloaded machine.
    ///   - known: The tag of the still that the client already has; nil if it has none.
    ///   - answer: Called once, on any thread: the still, or 404 if the source is unknown or has no frame, 410 if the room
    ///     ends, or 429 if the machine is overloaded or too many requests wait. It must not block.
    func still(
        of source: (uid: String, streamType: String), width: Int, isLive: Bool, known: String?,
        _ answer: @escaping @Sendable (Result<SourceStill, ControlFailure>) -> Void)

    /// Sends timed metadata to every viewer, synchronized with a frame. The same `id` with the same content again changes
    /// nothing.
    ///
    /// - Returns: The id of the metadata, and when it takes effect.
    /// - Throws: ``ControlFailure/limitExceeded(_:fix:)`` if the rate limit is exceeded or too many types have a state;
    ///   404 if the room has no HLS output; 409 before the program has begun and for a known `id` with another content;
    ///   400, 413 or 422 for an invalid body.
    func addMetadata(_ body: [UInt8]) throws(ControlFailure) -> MetadataReply

    /// Plays an overlay of the pipeline over the program.
    ///
    /// - Returns: The accepted play, as a JSON object.
    /// - Throws: ``ControlFailure``: 404 for an unknown overlay, 409 before the program has begun, 422 for a rectangle
    ///   outside the canvas, 429 if the machine is overloaded or too many plays wait.
    func playOverlay(_ name: String, _ options: OverlayOptions) throws(ControlFailure) -> String

    /// Adds cues to a subtitle rendition: all of them, or none.
    ///
    /// - Returns: The times at which the cues are shown, as a JSON object.
    /// - Throws: ``ControlFailure``: 404 for an unknown rendition, 409 before the program has begun, 422 for mistakes in the
    ///   cues, 429 if there are too many cues.
    func addSubtitles(_ name: String, _ body: [UInt8]) throws(ControlFailure) -> String

    /// Ends the room: all stages are flushed and the playlists are closed.
    func end()

    /// Stops this worker; the playlists stay open for a successor.
    func drain()

    var health: HealthReport { get }

    /// The revision and the replies that earlier workers have saved.
    var commandMemory: CommandMemory { get }

    /// Called before a command is carried out.
    func beginCommand()

    /// Called when the command announced by ``beginCommand()`` was carried out or refused.
    ///
    /// - Parameters:
    ///   - waits: Whether `answer` is delayed, for a limited time, until the change is on disk.
    ///   - answer: Called once, from any thread.
    func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void)

    /// The events of the room.
    var eventLog: EventLog { get }
}

/// Commands for the scenes of a room, their overlays and the PK. Threads and results are as in ``RoomControlling``.
package protocol SceneControlling: Sendable {
    /// Puts a scene on air at the next tick or at a program date-time. The reply says when.
    ///
    /// - Throws: 404 for an unknown scene (`fix` lists the existing scenes), 409 if a newer request has replaced this
    ///   one, 400 or 422 for an invalid body or a scene that cannot be composed.
    func setProgram(_ body: [UInt8]) throws(ControlFailure) -> ProgramReply

    /// The scenes of the room, and which of them is on air, as JSON.
    func scenesJSON() -> String

    /// Adds a scene, or replaces the scene with this id. If it is on air, then it changes as soon as its new filter
    /// graph is ready.
    ///
    /// - Throws: 403 for files that requests may not use, 400 or 422 for an invalid scene or one that cannot be
    ///   composed, 409 for an older `revision` or a removed source, 429 for too many scenes.
    func setScene(_ sceneID: String, _ body: [UInt8]) throws(ControlFailure) -> SceneReply

    /// Removes a scene. Throws 404 if the room does not have it, and 409 if it is on air or scheduled, or if the
    /// running PK needs it.
    func removeScene(_ sceneID: String) throws(ControlFailure) -> String

    /// Changes a text in every scene that contains it.
    func setText(_ id: String, _ text: String) throws(ControlFailure) -> String

    /// Changes the points of a score bar. A side that is nil is not changed.
    func setScore(_ id: String, left: Int?, right: Int?) throws(ControlFailure) -> String

    /// Sets the end of a countdown in every scene that contains it.
    ///
    /// - Returns: The body of the reply, a JSON object.
    func setCountdown(_ id: String, _ end: CountdownEnd) throws(ControlFailure) -> String

    /// Starts the PK (a timed battle of streamers), begins its punishment phase, or ends it.
    ///
    /// - Returns: The PK after the command, as a JSON object.
    /// - Throws: ``ControlFailure``: 422 for an unknown scene; 409 if the program has not begun, the command does not
    ///   fit the current phase, or a source or scene is missing; 404 in a room without PK, unless the command starts
    ///   one and names its scene.
    func changePK(_ command: PKCommand) throws(ControlFailure) -> String
}

/// Commands for the outputs and renditions of a room. Threads and results are as in ``RoomControlling``.
package protocol OutputControlling: Sendable {
    /// Disconnects an RTMP output from its server and connects again.
    ///
    /// - Returns: The accepted request, as a JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown output, 409 if it is not an RTMP output or the room
    ///   is an offline job.
    func restart(_ id: String) throws(ControlFailure) -> String

    /// Starts the recording of an output of type `record` with the current segment, in new files. Does nothing if it is
    /// already recording.
    ///
    /// - Returns: The new state of the output, as a JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown output, 409 for an output of another type and if
    ///   the recording cannot begin, for example because the disk cannot be written.
    func start(_ id: String) throws(ControlFailure) -> String

    /// Ends the recording of an output with the current segment. Its files are finalized while the room continues.
    ///
    /// - Returns: The new state of the output, as a JSON object.
    /// - Throws: The same errors as ``start(_:)``.
    func stop(_ id: String) throws(ControlFailure) -> String

    /// Makes the next frame that the encoder of a rendition receives a key frame.
    ///
    /// - Returns: The accepted request, as a JSON object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown rendition, 409 before the program has begun.
    func requestKeyframe(_ rendition: String) throws(ControlFailure) -> String

    /// Wakes a rendition that sleeps without viewers and keeps it awake, because viewers are expected. On an overloaded
    /// machine, a sleeping rendition wakes when the machine keeps up again.
    ///
    /// - Parameter seconds: 1 to 3,600. A later, shorter announcement does not shorten an earlier one.
    /// - Returns: The accepted request, and whether the rendition is awake or wakes with the next segment, as a JSON
    ///   object.
    /// - Throws: ``ControlFailure/notFound(_:fix:)`` for an unknown rendition, 409 before the program has begun.
    func announceDemand(_ rendition: String, seconds: Int) throws(ControlFailure) -> String
}

extension RoomControlling {
    /// By default no replies are saved.
    package var commandMemory: CommandMemory { CommandMemory() }
    package func beginCommand() {}
    /// By default no source can be recorded.
    package func setRecording(uid: String, streamType: String, isStart: Bool) throws(ControlFailure) -> String {
        throw .conflict("source \(uid) has no recording", fix: "add \"record\" to the source")
    }
    package func endCommand(
        _ record: CommandRecord, waits: Bool, _ answer: @escaping @Sendable (CommandDurability) -> Void
    ) { answer(.durable) }

    /// By default there are no overlays.
    package func playOverlay(_ name: String, _ options: OverlayOptions) throws(ControlFailure) -> String {
        throw .notFound("this room has no overlays", fix: "add \"overlays\" to the pipeline")
    }

    /// By default there are no subtitle renditions.
    package func addSubtitles(_ name: String, _ body: [UInt8]) throws(ControlFailure) -> String {
        throw .notFound("this room has no subtitle renditions", fix: "add \"subtitles\" to the pipeline")
    }

    /// By default there are no frames.
    package func snapshot(
        of source: (uid: String, streamType: String)?, width: Int?
    ) throws(ControlFailure) -> [UInt8] {
        throw .notFound("there is no frame yet", fix: "try again when something is on air")
    }

    /// By default the program has not begun.
    package func openAudioTap() throws(ControlFailure) -> AudioTapStream {
        throw .conflict("the program has not begun", fix: "wait for program.started")
    }

    /// By default there is no moderation.
    package func requestStill(uid: String, streamType: String) throws(ControlFailure) -> String {
        throw .conflict("this room has no moderation", fix: "add \"moderation\" to the pipeline")
    }

    /// By default there are no frames.
    package func still(
        of source: (uid: String, streamType: String), width: Int, isLive: Bool, known: String?,
        _ answer: @escaping @Sendable (Result<SourceStill, ControlFailure>) -> Void
    ) { answer(.failure(.notFound("there is no frame yet", fix: "repeat the request when the source is published"))) }
}

/// A still of a source.
package struct SourceStill: Sendable, Hashable {
    /// Entity tag of the file, with its quotes. It changes with the frame and the width.
    package var tag: String
    /// How long ago the frame arrived, in milliseconds.
    package var ageMs: Int64
    /// Program time at which the frame is shown, in nanoseconds; nil before the program runs. For a frame that is not
    /// decoded yet it is an estimate.
    package var programTime: Int64?
    /// The JPEG file; nil if the client already has it.
    package var bytes: [UInt8]?

    package init(tag: String, ageMs: Int64, programTime: Int64? = nil, bytes: [UInt8]?) {
        self.tag = tag
        self.ageMs = ageMs
        self.programTime = programTime
        self.bytes = bytes
    }
}

/// Changes of a source's settings. A value that is nil is not changed.
package struct SourceChange: Sendable, Hashable {
    /// Volume in percent, 0 to 200; 100 is the published volume.
    package var volume: Int?
    /// The audio track that ``volume`` applies to, 0 to 255; nil for all audio.
    package var audioTrack: Int?
    /// Whether the source is audible.
    package var audioPush: Bool?
    /// Whether the source is visible.
    package var videoPush: Bool?
    /// Time offset of all tracks in milliseconds, −10,000 to 10,000; positive values show the media later.
    package var offsetMs: Int?
    /// Clockwise rotation of the video in degrees: 0, 90, 180 or 270.
    package var rotation: Int?

    package init() {}
}

/// How an overlay is played. A value that is nil is that of the pipeline.
package struct OverlayOptions: Sendable, Hashable {
    /// The rectangle of the canvas that the animation is fitted into, in pixels; odd numbers are lowered to even ones.
    package var x: Int?
    package var y: Int?
    package var width: Int?
    package var height: Int?
    /// How often it is played in a row, 1 to 100; nil: once.
    package var loops: Int?
    /// Volume of its audio in percent, 0 to 200.
    package var volume: Int?

    package init() {}
}

/// The end of a countdown, as a request gives it.
package enum CountdownEnd: Sendable, Hashable {
    /// Seconds from now, 0 to 86,400.
    case seconds(Int)
    /// A program date-time, as received.
    case date(String)
}
