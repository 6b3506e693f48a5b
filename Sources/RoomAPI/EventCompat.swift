package import MediaTypes
package import PipelineSpec

/// Tables of the names and numbers that other live streaming services use for the room's events. They appear in the
/// `compat` member of events, so that an application server written for such a service need not learn this project's
/// events.
///
/// | Vocabulary | Members |
/// |---|---|
/// | `flipflop` | of a source, or of all sources if the event names none: `streamKey`, `streamer`, `alarm`; of the room: `videoRoom`, `broadcast`, `player`; `error`: `code` and `message` |
/// | `nertc` | `state`: 505 pushing, 506 push failed, 511 stopped, 512 an image failed; `error`: its number |
/// | `agora` | `state` with its `name`: 0 idle, 1 connecting, 2 running, 3 recovering, 4 failure, 5 disconnecting |
/// | `remon` | `state`: INIT, WAIT, CONNECT, COMPLETE, FAIL, EXIT, CLOSE; `error`, except `WebSocket` |
package enum EventCompat {
    /// A row of the tables: an event, and its names in one vocabulary.
    package struct Row: Sendable {
        package let vocabulary: EventVocabulary
        package let type: String
        /// Members that the event must have, each with one of the values; without values, any value matches. If the
        /// list is empty, then every event of the type matches.
        package let when: [(name: String, values: Set<String>)]
        package let members: [JSONValue.Member]
        /// Whether the row adds the member `error`, with the event's `code` and with its `reason` as the message.
        package let tellsError: Bool

        init(
            _ vocabulary: EventVocabulary, _ type: String, when: KeyValuePairs<String, Set<String>> = [:],
            tellsError: Bool = false, _ members: KeyValuePairs<String, JSONValue>
        ) {
            self.vocabulary = vocabulary
            self.type = type
            self.when = when.map { (name: $0.key, values: $0.value) }
            self.members = members.map { .init($0.key, $0.value) }
            self.tellsError = tellsError
        }

        func fits(_ type: String, _ text: (String) -> String?) -> Bool {
            guard self.type == type else { return false }
            return self.when.allSatisfy { condition in
                text(condition.name).map { condition.values.isEmpty || condition.values.contains($0) } ?? false
            }
        }
    }

    /// The value of an event's `compat` member; nil if no vocabulary has a name for the event.
    ///
    /// - Parameter text: Returns an event's member by name as text, if it is a string, Boolean (`true`, `false`) or
    ///   integer.
    package static func value(
        _ vocabularies: [EventVocabulary], type: String, text: (String) -> String?
    ) -> JSONValue? {
        let words = vocabularies.compactMap { vocabulary -> JSONValue.Member? in
            guard let row = self.rows.first(where: { $0.vocabulary == vocabulary && $0.fits(type, text) }) else {
                return nil
            }
            var members = row.members
            if row.tellsError {
                let error: JSONValue = ["code": JSONValue(text("code")), "message": JSONValue(text("reason"))]
                members.append(.init("error", error))
            }
            return JSONValue.Member(vocabulary.rawValue, .object(members))
        }
        return words.isEmpty ? nil : .object(words)
    }

    /// All rows. For each vocabulary, the first matching row applies.
    package static let rows = Self.flipflop + Self.nertc + Self.agora + Self.remon

    // MARK: FlipFlop: StreamKey and Streamer of a publisher, VideoRoom and Broadcast of the room

    private static let flipflop = Self.flipflopRoom + Self.flipflopEnd + Self.flipflopSource

    private static let flipflopRoom: [Row] = [
        // After a handover, viewers have already seen the room.
        Row(
            .flipflop, "room.ready", when: ["played": ["true"]],
            ["videoRoom": "LIVE_INACTIVE", "broadcast": "inactive"]),
        Row(
            .flipflop, "room.ready",
            ["streamKey": "INACTIVE", "streamer": "prepared", "videoRoom": "SCHEDULED", "broadcast": "inactive"]),
        Row(.flipflop, "broadcast.active", when: ["slate": ["false"]], ["videoRoom": "LIVE", "broadcast": "active"]),
        Row(
            .flipflop, "room.state", when: ["from": ["preparing"], "to": ["live", "degraded"]],
            ["streamKey": "ACTIVE_LIVE", "videoRoom": "LIVE", "broadcast": "active"]),
        Row(
            .flipflop, "room.state", when: ["from": ["preparing"], "to": ["recovering"], "cause": ["output"]],
            ["streamKey": "ACTIVE_LIVE", "videoRoom": "LIVE", "broadcast": "active"]),
        Row(
            .flipflop, "room.state", when: ["to": ["live", "degraded"]],
            ["videoRoom": "LIVE", "broadcast": "active"]),
        Row(
            .flipflop, "room.state", when: ["to": ["recovering"], "cause": ["output"]],
            ["videoRoom": "LIVE", "broadcast": "active"]),
        Row(
            .flipflop, "room.state", when: ["to": ["recovering"]],
            ["videoRoom": "LIVE_INACTIVE", "broadcast": "inactive"]),
        Row(
            .flipflop, "room.state", when: ["to": ["failed"]], tellsError: true,
            ["streamKey": "INACTIVE", "broadcast": "inactive"]),
        Row(
            .flipflop, "encoder.overload_step", when: ["taken": ["true"], "step": ["halfPictures", "hold"]],
            ["alarm": "alert_3"]),
        Row(.flipflop, "encoder.overload_step", when: ["taken": ["true"]], ["alarm": "alert_2"]),
        Row(.flipflop, "encoder.overload_step", when: ["steps": ["0"]], ["alarm": "normal"]),
        // Every second frame is still left out.
        Row(.flipflop, "encoder.overload_step", when: ["step": ["hold"]], ["alarm": "alert_3"]),
        Row(.flipflop, "encoder.overload_step", ["alarm": "alert_2"]),
    ]

    private static let flipflopEnd: [Row] = [
        Row(
            .flipflop, "room.ending", when: ["played": ["true"]],
            ["videoRoom": "LIVE_INACTIVE", "broadcast": "inactive"]),
        Row(.flipflop, "room.draining", ["streamKey": "INACTIVE", "streamer": "stopped"]),
        // If an operator stops the recording, then its files are ready while the room continues.
        Row(.flipflop, "recording.ready", when: ["onAir": ["false"]], ["videoRoom": "ARCHIVED"]),
        Row(
            .flipflop, "room.closed", when: ["outcome": ["ended", "damaged"], "played": ["false"]],
            ["streamKey": "INACTIVE", "streamer": "closed", "videoRoom": "CANCELLED", "broadcast": "inactive"]),
        Row(
            .flipflop, "room.closed", when: ["outcome": ["ended", "damaged"], "recording": ["ready"]],
            [
                "streamKey": "INACTIVE", "streamer": "closed", "videoRoom": "ARCHIVED", "broadcast": "inactive",
                "player": "completed",
            ]),
        Row(
            .flipflop, "room.closed", when: ["outcome": ["ended", "damaged"]],
            [
                "streamKey": "INACTIVE", "streamer": "closed", "videoRoom": "ENDED", "broadcast": "inactive",
                "player": "completed",
            ]),
        Row(
            .flipflop, "room.closed", when: ["outcome": ["failed"], "played": ["true"]], tellsError: true,
            ["streamKey": "INACTIVE", "videoRoom": "LIVE_INACTIVE", "broadcast": "inactive"]),
        Row(
            .flipflop, "room.closed", when: ["outcome": ["failed"]], tellsError: true,
            ["streamKey": "INACTIVE", "broadcast": "inactive"]),
    ]

    private static let flipflopSource: [Row] = [
        Row(.flipflop, "source.connected", ["streamKey": "INACTIVE", "streamer": "prepared"]),
        Row(.flipflop, "source.publishing", ["streamKey": "ACTIVE_PREP", "streamer": "started"]),
        Row(
            .flipflop, "ingest.publishing", when: ["was": ["stalled", "lost", "reconnecting"]],
            ["streamKey": "ACTIVE_LIVE_PREP", "streamer": "started"]),
        // Viewers cannot play yet; the later change of the room to live reports that they can.
        Row(.flipflop, "source.live", when: ["playable": ["false"]], ["streamKey": "ACTIVE", "streamer": "started"]),
        Row(.flipflop, "source.live", ["streamKey": "ACTIVE_LIVE", "streamer": "started"]),
        Row(.flipflop, "source.stalled", ["streamKey": "INACTIVE_LIVE", "streamer": "stopped"]),
        Row(.flipflop, "source.lost", ["streamKey": "INACTIVE_LIVE", "streamer": "stopped"]),
        Row(.flipflop, "source.reconnecting", ["streamKey": "INACTIVE_LIVE", "streamer": "stopped"]),
        Row(.flipflop, "source.lost_final", ["streamKey": "INACTIVE", "streamer": "closed"]),
        Row(.flipflop, "source.undecodable", tellsError: true, [:]),
        Row(.flipflop, "ingest.refused", when: ["code": []], tellsError: true, [:]),
        Row(.flipflop, "source.health", when: ["level": ["normal"]], ["alarm": "normal"]),
        Row(.flipflop, "source.health", when: ["level": ["alert_1"]], ["alarm": "alert_1"]),
        Row(.flipflop, "source.health", when: ["level": ["alert_2"]], ["alarm": "alert_2"]),
        Row(.flipflop, "source.health", when: ["level": ["alert_3"]], ["alarm": "alert_3"]),
    ]

    // MARK: NERtc: states of a live stream task

    private static let nertc: [Row] = [
        Row(.nertc, "broadcast.active", ["state": 505]),
        Row(.nertc, "room.state", when: ["to": ["live", "recovering", "degraded"]], ["state": 505]),
        Row(.nertc, "room.state", when: ["to": ["failed"]], ["state": 506, "error": 1500]),
        // For RTMP outputs, which have a URL and can recover. A failing disk is reported by its alarm.
        Row(.nertc, "output.failed", when: ["url": []], ["state": 506, "error": 1417]),
        Row(.nertc, "output.live", ["state": 505]),
        Row(.nertc, "room.superseded", ["error": 1301]),
        // The previous image stays on air.
        Row(.nertc, "config.invalid", when: ["code": ["imageError"]], ["state": 512, "error": 1512]),
        Row(.nertc, "config.invalid", when: ["code": ["superseded"]], ["error": 1301]),
        Row(.nertc, "config.invalid", when: ["code": ["invalidLayout"]], ["error": 1501]),
        Row(.nertc, "config.invalid", when: ["code": ["notFound"]], ["error": 1404]),
        Row(.nertc, "config.invalid", when: ["code": ["limitExceeded"]], ["error": 1402]),
        Row(.nertc, "config.invalid", when: ["code": ["requestFailed"]], ["error": 1417]),
        Row(.nertc, "config.invalid", ["error": 1400]),
        Row(.nertc, "ingest.refused", when: ["code": ["limitExceeded"]], ["error": 1402]),
        Row(.nertc, "ingest.refused", when: ["code": ["roomExited"]], ["error": 1401]),
        Row(.nertc, "ingest.refused", when: ["code": ["invalidFormat"]], ["error": 1400]),
        Row(.nertc, "ingest.refused", when: ["code": ["requestFailed"]], ["error": 1417]),
        Row(.nertc, "room.closed", when: ["outcome": ["failed"]], ["state": 506, "error": 1500]),
        Row(.nertc, "room.closed", when: ["outcome": ["ended", "damaged"]], ["state": 511]),
    ]

    // MARK: Agora: states of a media push

    private static let agora: [Row] = [
        Row(.agora, "room.ready", ["state": 1, "name": "CONNECTING"]),
        Row(.agora, "room.state", when: ["to": ["waiting", "preparing"]], ["state": 1, "name": "CONNECTING"]),
        Row(.agora, "broadcast.active", when: ["slate": ["false"]], ["state": 2, "name": "RUNNING"]),
        Row(.agora, "room.state", when: ["to": ["live", "degraded"]], ["state": 2, "name": "RUNNING"]),
        Row(.agora, "room.state", when: ["to": ["recovering"]], ["state": 3, "name": "RECOVERING"]),
        Row(.agora, "output.failed", when: ["url": []], ["state": 3, "name": "RECOVERING"]),
        Row(.agora, "output.live", ["state": 2, "name": "RUNNING"]),
        Row(.agora, "room.state", when: ["to": ["failed"]], ["state": 4, "name": "FAILURE"]),
        Row(.agora, "room.ending", ["state": 5, "name": "DISCONNECTING"]),
        Row(.agora, "room.draining", ["state": 5, "name": "DISCONNECTING"]),
        Row(.agora, "room.closed", when: ["outcome": ["failed"]], ["state": 4, "name": "FAILURE"]),
        Row(.agora, "room.closed", ["state": 0, "name": "IDLE"]),
    ]

    // MARK: RemoteMonster: RemonState and RemonError

    private static let remon = Self.remonStates + Self.remonErrors

    private static let remonStates: [Row] = [
        Row(.remon, "room.ready", ["state": "INIT"]),
        Row(.remon, "room.state", when: ["to": ["waiting"]], ["state": "WAIT"]),
        Row(.remon, "room.state", when: ["to": ["preparing"]], ["state": "CONNECT"]),
        Row(.remon, "broadcast.active", ["state": "COMPLETE"]),
        Row(.remon, "room.state", when: ["to": ["live", "recovering", "degraded"]], ["state": "COMPLETE"]),
        Row(.remon, "room.state", when: ["to": ["failed"]], ["state": "FAIL"]),
        Row(.remon, "room.ending", ["state": "EXIT"]),
        Row(.remon, "room.draining", ["state": "EXIT"]),
        Row(
            .remon, "room.closed",
            when: [
                "outcome": ["failed"],
                "code": ["bindFailed", "unavailable", "notCreatable", "notReadable", "outOfMemory"],
            ], ["state": "FAIL", "error": "InitFailed"]),
        Row(.remon, "room.closed", when: ["outcome": ["failed"]], ["state": "FAIL", "error": "Unknown"]),
        Row(.remon, "room.closed", ["state": "CLOSE"]),
    ]

    private static let remonErrors: [Row] = [
        Row(.remon, "ingest.refused", when: ["code": ["busyChannel"]], ["error": "BusyChannel"]),
        Row(.remon, "ingest.refused", when: ["code": ["unsupportedCodec"]], ["error": "UnsupportedPlatform"]),
        Row(
            .remon, "ingest.refused", when: ["code": ["invalidFormat", "inputTooLarge"]], ["error": "InvalidParameter"]),
        Row(.remon, "ingest.refused", when: ["code": ["iceFailed"]], ["error": "IceFailed"]),
        Row(.remon, "ingest.refused", when: ["code": []], ["error": "ConnectChannelFailed"]),
        Row(.remon, "source.undecodable", when: ["code": ["inputTooLarge"]], ["error": "InvalidParameter"]),
        Row(.remon, "source.undecodable", ["error": "UnsupportedPlatform"]),
        Row(.remon, "source.failed", ["error": "UserMediaDevice"]),
        Row(.remon, "pull.failed", ["error": "ConnectChannelFailed"]),
        Row(.remon, "output.failed", when: ["url": []], ["error": "ConnectChannelFailed"]),
        Row(.remon, "config.invalid", ["error": "InvalidParameter"]),
    ]
}
