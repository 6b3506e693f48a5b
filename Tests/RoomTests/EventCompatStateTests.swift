import MediaTypes
import PipelineSpec
import Room
import RoomAPI
import Testing

/// The state of the room as clients of other products see it: the latest value of each member of their events.
private struct Belief {
    private(set) var words: [EventVocabulary: [String: String]] = [:]

    mutating func hear(_ type: String, _ members: [String: String]) {
        guard case .object(let all)? = EventCompat.value(EventVocabulary.allCases, type: type, text: { members[$0] })
        else { return }
        for vocabulary in EventVocabulary.allCases {
            guard case .object(let told)? = all.first(where: { $0.name == vocabulary.rawValue })?.value else {
                continue
            }
            for member in told {
                var text = member.value.text
                if case .string(let plain) = member.value { text = plain }
                self.words[vocabulary, default: [:]][member.name] = text
            }
        }
    }
}

/// The expected states, taken from the products' documents and not from the code, row by row.
@Suite("Room states under other products' names")
struct EventCompatStateTests {
    typealias Words = [EventVocabulary: [String: String]]

    /// One state of the room: the event for it, and the state that every client must then have.
    struct Step: CustomStringConvertible {
        var description: String
        var told: [(String, [String: String])]
        var believed: Words
    }

    private static func state(_ from: String, _ to: String, _ cause: String? = nil) -> (String, [String: String]) {
        var members = ["from": from, "to": to]
        members["cause"] = cause
        return ("room.state", members)
    }

    private static let waiting = Step(
        description: "waiting", told: [("room.ready", ["played": "false"]), Self.state("starting", "waiting")],
        believed: [
            .flipflop: [
                "streamKey": "INACTIVE", "videoRoom": "SCHEDULED", "streamer": "prepared", "broadcast": "inactive",
            ],
            .agora: ["state": "1", "name": "CONNECTING"], .remon: ["state": "WAIT"],
        ])
    private static let preparing = Step(
        description: "preparing",
        told: [
            ("ingest.publishing", ["was": "idle"]), ("source.connected", ["from": "idle"]),
            ("source.publishing", ["from": "connected"]), Self.state("waiting", "preparing"),
        ],
        believed: [
            .flipflop: ["streamKey": "ACTIVE_PREP", "streamer": "started", "broadcast": "inactive"],
            .agora: ["state": "1", "name": "CONNECTING"], .remon: ["state": "CONNECT"],
        ])
    private static let decoded = Step(
        description: "media, nothing to play yet",
        told: [("source.live", ["from": "publishing", "playable": "false"])],
        believed: [.flipflop: ["streamKey": "ACTIVE", "videoRoom": "SCHEDULED"], .remon: ["state": "CONNECT"]])
    private static let onAir: Words = [
        .flipflop: ["streamKey": "ACTIVE_LIVE", "videoRoom": "LIVE", "streamer": "started", "broadcast": "active"],
        .nertc: ["state": "505"], .agora: ["state": "2", "name": "RUNNING"], .remon: ["state": "COMPLETE"],
    ]
    private static let live = Step(
        description: "live", told: [("broadcast.active", ["slate": "false"]), Self.state("preparing", "live")],
        believed: Self.onAir)
    private static let another = Step(
        description: "another publisher beside the first",
        told: [
            ("ingest.publishing", ["was": "idle"]), ("source.connected", [:]),
            ("source.publishing", ["from": "connected"]),
            ("source.live", ["from": "publishing", "playable": "true"]),
        ], believed: Self.onAir)
    private static let recovering = Step(
        description: "recovering",
        told: [
            ("source.lost", ["from": "live"]), ("source.reconnecting", ["from": "lost"]),
            Self.state("live", "recovering", "media"),
        ],
        believed: [
            .flipflop: [
                "streamKey": "INACTIVE_LIVE", "videoRoom": "LIVE_INACTIVE", "streamer": "stopped",
                "broadcast": "inactive",
            ],
            .nertc: ["state": "505"], .agora: ["state": "3", "name": "RECOVERING"], .remon: ["state": "COMPLETE"],
        ])
    private static let returning = Step(
        description: "the publisher is back", told: [("ingest.publishing", ["was": "reconnecting"])],
        believed: [.flipflop: ["streamKey": "ACTIVE_LIVE_PREP", "streamer": "started"]])
    private static let back = Step(
        description: "live again",
        told: [
            ("source.live", ["from": "reconnecting", "playable": "true"]), Self.state("recovering", "live"),
        ],
        believed: Self.onAir)
    private static let degraded = Step(
        description: "degraded",
        told: [
            ("encoder.overload_step", ["taken": "true", "step": "encoder", "steps": "2"]),
            Self.state("live", "degraded", "overload"),
        ],
        believed: Self.onAir.merging([
            .flipflop: ["videoRoom": "LIVE", "broadcast": "active", "alarm": "alert_2"]
        ]) { $1 })
    private static let held = Step(
        description: "degraded to the last step",
        told: [("encoder.overload_step", ["taken": "true", "step": "hold", "steps": "5"])],
        believed: [.flipflop: ["alarm": "alert_3", "videoRoom": "LIVE"]])
    private static let eased = Step(
        description: "no overload any more",
        told: [
            ("encoder.overload_step", ["taken": "false", "step": "decoding", "steps": "0"]),
            Self.state("degraded", "live"),
        ],
        believed: Self.onAir.merging([.flipflop: ["alarm": "normal", "videoRoom": "LIVE"]]) { $1 })
    private static let draining = Step(
        description: "draining",
        told: [("room.draining", ["played": "true"]), Self.state("live", "draining")],
        believed: [
            .flipflop: ["streamKey": "INACTIVE", "streamer": "stopped"],
            .agora: ["state": "5", "name": "DISCONNECTING"], .remon: ["state": "EXIT"],
        ])
    private static let ended = Step(
        description: "closed",
        told: [
            ("room.ending", ["played": "true"]), Self.state("live", "ending"), ("recording.ready", ["onAir": "false"]),
            Self.state("ending", "closed"),
            ("room.closed", ["outcome": "ended", "played": "true", "recording": "ready"]),
        ],
        believed: [
            .flipflop: [
                "streamKey": "INACTIVE", "videoRoom": "ARCHIVED", "streamer": "closed", "broadcast": "inactive",
                "player": "completed",
            ],
            .nertc: ["state": "511"], .agora: ["state": "0", "name": "IDLE"], .remon: ["state": "CLOSE"],
        ])
    private static let failed = Step(
        description: "failed",
        told: [
            ("room.ending", ["played": "true"]),
            ("room.state", ["from": "live", "to": "failed", "code": "outputLost", "reason": "the disk is gone"]),
            (
                "room.closed",
                ["outcome": "failed", "played": "true", "code": "outputLost", "reason": "the disk is gone"]
            ),
        ],
        believed: [
            .flipflop: [
                "streamKey": "INACTIVE", "broadcast": "inactive",
                "error": #"{"code":"outputLost","message":"the disk is gone"}"#,
            ],
            .nertc: ["state": "506", "error": "1500"], .agora: ["state": "4", "name": "FAILURE"],
            .remon: ["state": "FAIL", "error": "Unknown"],
        ])

    @Test("in RemoteMonster's vocabulary a room that has just become ready is in the state INIT")
    func initial() {
        var belief = Belief()
        belief.hear("room.ready", ["played": "false"])
        #expect(belief.words[.remon] == ["state": "INIT"])
    }

    @Test(
        "as a room goes through its states, its events have the state names that each other product documents",
        arguments: [
            [
                Self.waiting, Self.preparing, Self.decoded, Self.live, Self.another, Self.recovering, Self.returning,
                Self.back, Self.degraded, Self.held, Self.eased, Self.ended,
            ],
            [Self.waiting, Self.preparing, Self.decoded, Self.live, Self.draining],
            [Self.waiting, Self.preparing, Self.decoded, Self.live, Self.recovering, Self.failed],
        ])
    func way(steps: [Step]) {
        var belief = Belief()
        for step in steps {
            for (type, members) in step.told { belief.hear(type, members) }
            for (vocabulary, words) in step.believed {
                for (name, word) in words {
                    #expect(belief.words[vocabulary]?[name] == word, "\(step): \(vocabulary) \(name)")
                }
            }
        }
    }

    @Test("a room that ends before viewers could play it is CANCELLED in FlipFlop's states")
    func cancelled() {
        var belief = Belief()
        belief.hear("room.ready", ["played": "false"])
        belief.hear("room.ending", ["played": "false"])
        belief.hear("room.closed", ["outcome": "ended", "played": "false"])
        #expect(belief.words[.flipflop]?["videoRoom"] == "CANCELLED")
        #expect(belief.words[.flipflop]?["player"] == nil)
    }

    @Test("a room whose successor worker shows slate is LIVE_INACTIVE in FlipFlop's states, not SCHEDULED")
    func successor() {
        var belief = Belief()
        belief.hear("room.ready", ["played": "true"])
        belief.hear("broadcast.active", ["slate": "true"])
        belief.hear("room.state", ["from": "preparing", "to": "recovering", "cause": "media"])
        #expect(belief.words[.flipflop]?["videoRoom"] == "LIVE_INACTIVE")
        #expect(belief.words[.agora]?["state"] == "3" && belief.words[.nertc]?["state"] == "505")
    }
}
