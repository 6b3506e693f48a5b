package import MediaTypes
package import PipelineSpec

/// What other products call the things that happen here: tables, and who reads them. Names and numbers are those their
/// clients know, so that an application server that serves them already need not learn ours.
///
/// | Vocabulary | Members |
/// |---|---|
/// | `flipflop` | of a source: `streamKey`, `streamer`, `alarm`; of the room: `videoRoom`, `broadcast`, `player` |
/// | `nertc` | `state`: 505 pushing, 506 push failed, 511 stopped; `error`: its number |
/// | `agora` | `state` with its `name`: 0 idle, 1 connecting, 2 running, 3 recovering, 4 failure, 5 disconnecting |
/// | `remon` | `state`: WAIT, CONNECT, COMPLETE, FAIL, EXIT, CLOSE; `error` |
package enum EventCompat {
    /// A row of the tables: an event, and what it is called there.
    package struct Row: Sendable {
        let vocabulary: EventVocabulary
        let type: String
        /// A member the event must have with one of these values; `nil`: any event of the type.
        let when: (name: String, values: Set<String>)?
        let members: [JSONValue.Member]

        init(
            _ vocabulary: EventVocabulary, _ type: String, when: (String, Set<String>)? = nil,
            _ members: KeyValuePairs<String, JSONValue>
        ) {
            self.vocabulary = vocabulary
            self.type = type
            self.when = when.map { (name: $0.0, values: $0.1) }
            self.members = members.map { .init($0.key, $0.value) }
        }
    }

    /// The member `compat` of an event; `nil` where none of the vocabularies has a word for it.
    ///
    /// - Parameter text: The event's members that are texts, by name.
    package static func value(
        _ vocabularies: [EventVocabulary], type: String, text: (String) -> String?
    ) -> JSONValue? {
        let words = vocabularies.compactMap { vocabulary -> JSONValue.Member? in
            let row = self.rows.first { row in
                guard row.vocabulary == vocabulary, row.type == type else { return false }
                guard let when = row.when else { return true }
                return text(when.name).map { when.values.contains($0) } ?? false
            }
            guard let row else { return nil }
            return JSONValue.Member(vocabulary.rawValue, .object(row.members))
        }
        return words.isEmpty ? nil : .object(words)
    }

    /// The first that fits holds.
    package static let rows = Self.flipflop + Self.nertc + Self.agora + Self.remon

    private static let over: (String, Set<String>) = ("outcome", ["ended"])
    private static let failed: (String, Set<String>) = ("outcome", ["failed"])
    private static let resumed: (String, Set<String>) = ("from", ["stalled", "lost", "reconnecting"])

    // MARK: FlipFlop: StreamKey and Streamer of a publisher, VideoRoom and Broadcast of the room

    private static let flipflop: [Row] = [
        Row(.flipflop, "room.ready", ["videoRoom": "SCHEDULED", "broadcast": "inactive"]),
        Row(.flipflop, "broadcast.active", ["videoRoom": "LIVE", "broadcast": "active"]),
        Row(.flipflop, "room.ending", ["videoRoom": "LIVE_INACTIVE", "broadcast": "inactive"]),
        Row(
            .flipflop, "room.closed", when: Self.over,
            ["videoRoom": "ENDED", "broadcast": "inactive", "player": "completed"]),
        Row(.flipflop, "room.closed", when: Self.failed, ["videoRoom": "LIVE_INACTIVE", "broadcast": "inactive"]),
        Row(.flipflop, "source.connected", ["streamKey": "INACTIVE", "streamer": "prepared"]),
        Row(
            .flipflop, "source.publishing", when: Self.resumed,
            ["streamKey": "ACTIVE_LIVE_PREP", "streamer": "started"]),
        Row(.flipflop, "source.publishing", ["streamKey": "ACTIVE_PREP", "streamer": "started"]),
        Row(.flipflop, "source.live", ["streamKey": "ACTIVE_LIVE", "streamer": "started"]),
        Row(.flipflop, "source.lost", ["streamKey": "INACTIVE_LIVE", "streamer": "stopped"]),
        Row(.flipflop, "source.reconnecting", ["streamKey": "INACTIVE_LIVE", "streamer": "stopped"]),
        Row(.flipflop, "source.lost_final", ["streamKey": "INACTIVE", "streamer": "closed"]),
        Row(.flipflop, "source.health", when: ("level", ["normal"]), ["alarm": "normal"]),
        Row(.flipflop, "source.health", when: ("level", ["alert_1"]), ["alarm": "alert_1"]),
        Row(.flipflop, "source.health", when: ("level", ["alert_2"]), ["alarm": "alert_2"]),
        Row(.flipflop, "source.health", when: ("level", ["alert_3"]), ["alarm": "alert_3"]),
    ]

    // MARK: NERtc: states of a live stream task

    private static let nertc: [Row] = [
        Row(.nertc, "broadcast.active", ["state": 505]),
        Row(.nertc, "output.failed", ["state": 506, "error": 1417]),
        Row(.nertc, "room.superseded", ["error": 1301]),
        Row(.nertc, "room.closed", when: Self.failed, ["state": 506, "error": 1500]),
        Row(.nertc, "room.closed", when: Self.over, ["state": 511]),
    ]

    // MARK: Agora: states of a media push

    private static let agora: [Row] = [
        Row(.agora, "room.ready", ["state": 1, "name": "CONNECTING"]),
        Row(.agora, "broadcast.active", ["state": 2, "name": "RUNNING"]),
        Row(.agora, "output.failed", ["state": 3, "name": "RECOVERING"]),
        Row(.agora, "room.ending", ["state": 5, "name": "DISCONNECTING"]),
        Row(.agora, "room.draining", ["state": 5, "name": "DISCONNECTING"]),
        Row(.agora, "room.closed", when: Self.failed, ["state": 4, "name": "FAILURE"]),
        Row(.agora, "room.closed", ["state": 0, "name": "IDLE"]),
    ]

    // MARK: RemoteMonster: RemonState and RemonError

    private static let remon: [Row] = [
        Row(.remon, "room.ready", ["state": "WAIT"]),
        Row(.remon, "source.publishing", ["state": "CONNECT"]),
        Row(.remon, "broadcast.active", ["state": "COMPLETE"]),
        Row(.remon, "source.undecodable", ["error": "UnsupportedPlatform"]),
        Row(.remon, "room.ending", ["state": "EXIT"]),
        Row(.remon, "room.draining", ["state": "EXIT"]),
        Row(.remon, "room.closed", when: Self.failed, ["state": "FAIL", "error": "Unknown"]),
        Row(.remon, "room.closed", ["state": "CLOSE"]),
    ]
}
