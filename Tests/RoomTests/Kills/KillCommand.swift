import HTTPTypes
import MediaTypes
import Room

/// A command, and what a successor must show after it.
struct KillCommand: Sendable {
    /// When the reply is sent.
    enum Reply: Sendable {
        /// When the command is durable.
        case waits
        /// At once; the command is durable 100 ms later.
        case soon
    }

    /// Facts of the room that a command's body may need.
    struct Facts: Sendable {
        var directory: String
        /// A program date-time in 50 s.
        var later: String
    }

    let name: String
    let method: HTTPRequest.Method
    let path: String
    let body: @Sendable (Facts) -> String
    var status = 200
    var reply = Reply.waits
    var idempotencyKey: String?
    /// Whether a successor shows the command's effect; nil: `commands.json` contains only its revision.
    let shows: (@Sendable (Resumption) -> Bool)?

    init(
        _ name: String, _ method: HTTPRequest.Method, _ path: String, _ body: String = "{}",
        shows: (@Sendable (Resumption) -> Bool)?
    ) {
        self.init(name, method, path, { _ in body }, shows: shows)
    }

    init(
        _ name: String, _ method: HTTPRequest.Method, _ path: String, _ body: @escaping @Sendable (Facts) -> String,
        shows: (@Sendable (Resumption) -> Bool)?
    ) {
        (self.name, self.method, self.path, self.body, self.shows) = (name, method, path, body, shows)
    }

    /// A copy of the command with another status, or with a reply that does not wait.
    func answered(_ status: Int = 200, _ reply: Reply = .waits) -> KillCommand {
        var command = self
        (command.status, command.reply) = (status, reply)
        return command
    }

    func keyed(_ key: String) -> KillCommand {
        var command = self
        command.idempotencyKey = key
        return command
    }

    /// A command to a source.
    static func source(
        _ name: String, _ source: SourceID, _ body: String,
        shows: @escaping @Sendable (CommandedState.Source) -> Bool
    ) -> KillCommand {
        KillCommand(name, .put, "/v1/sources/\(source.uid)", body) {
            shows($0.state.sources[source] ?? CommandedState.Source())
        }
    }
}

extension KillCommand {
    /// All commands, in an order in which each of them is accepted and changes something.
    static let all: [KillCommand] = [
        Self.scenes, Self.phases, Self.overlays, Self.sources, Self.relays, Self.documents, Self.outputs, Self.end,
    ].flatMap { $0 }

    private static let scenes: [KillCommand] = [
        KillCommand("scene put", .put, "/v1/scenes/new", #"{"layout":"solo","uids":["2002"],"revision":5}"#) {
            $0.state.scenes["new"]?.revision == 5 && $0.state.scenes["new"]?.body != nil
        },
        KillCommand("scene changed", .put, "/v1/scenes/new", #"{"layout":"solo","uids":["1001"],"revision":6}"#) {
            $0.state.scenes["new"]?.revision == 6
        },
        KillCommand("second scene put", .put, "/v1/scenes/brief", #"{"layout":"solo","uids":["2002"]}"#) {
            $0.state.scenes["brief"]?.isRemoved == false
        },
        KillCommand("put scene removed", .delete, "/v1/scenes/brief") { $0.state.scenes["brief"]?.isRemoved == true },
        KillCommand("scene of the file removed", .delete, "/v1/scenes/spare") {
            $0.state.scenes["spare"]?.isRemoved == true
        },
        KillCommand("cut", .put, "/v1/program", #"{"sceneId":"guest"}"#) { $0.state.onAir?.scene == "guest" },
        KillCommand(
            "transition", .put, "/v1/program",
            #"{"sceneId":"pk","transition":{"type":"crossfade","durationMs":200}}"#
        ) { $0.state.onAir?.scene == "pk" },
        KillCommand(
            "scene at a date", .put, "/v1/program",
            { #"{"sceneId":"new","at":"\#($0.later)","transition":{"type":"slide"}}"# }
        ) { $0.state.upcoming.contains { $0.scene == "new" && $0.transition?.kind == .slide } },
    ]

    private static let phases: [KillCommand] = [
        KillCommand("PK started", .post, "/v1/pk:start") { $0.state.pk?.phase == .pk && $0.state.onAir?.scene == "pk" },
        KillCommand("PK punishment", .post, "/v1/pk:punish") { $0.state.pk?.phase == .punish },
        KillCommand("PK ended", .post, "/v1/pk:end") { $0.state.pk == nil && $0.state.onAir?.scene == "solo" },
        KillCommand("PK started with durations", .post, "/v1/pk:start", #"{"durationMs":300000,"punishMs":1000}"#) {
            $0.state.pk?.durations.pk == 300 * RoomHarness.second && $0.state.pk?.endsAt != nil
        },
        KillCommand("timed PK ended", .post, "/v1/pk:end") { $0.state.pk == nil },
        KillCommand("PK started with scenes", .post, "/v1/pk:start", #"{"scene":"pk","endScene":"guest"}"#) {
            $0.state.pk?.scenes.endScene == "guest" && $0.state.onAir?.scene == "pk"
        },
    ]

    private static let overlays: [KillCommand] = [
        KillCommand("text", .put, "/v1/texts/left", #"{"text":"Anna"}"#) { $0.state.texts["left"] == "Anna" }
            .answered(200, .soon),
        KillCommand("text changed", .put, "/v1/texts/left", #"{"text":"Аня \"1\""}"#) {
            $0.state.texts["left"] == #"Аня "1""#
        }.answered(200, .soon),
        KillCommand("scores", .put, "/v1/scores/pk", #"{"left":900,"right":100}"#) {
            $0.state.scores["pk"] == CommandedState.Score(left: 900, right: 100)
        }.answered(200, .soon),
        KillCommand("score of one side", .put, "/v1/scores/pk", #"{"right":101}"#) {
            $0.state.scores["pk"] == CommandedState.Score(left: 900, right: 101)
        }.answered(200, .soon),
        KillCommand("countdown", .put, "/v1/countdowns/clock", #"{"seconds":100}"#) {
            $0.state.countdowns["clock"] != nil
        },
        KillCommand("countdown to a date", .put, "/v1/countdowns/clock", { #"{"endsAt":"\#($0.later)"}"# }) {
            // Less than a minute from the start of the program; the countdown before ended later.
            ($0.state.countdowns["clock"] ?? .max) < 900
        },
    ]

    private static let sources: [KillCommand] = [
        .source("cover", KillRoom.guest, #"{"videoPush":false}"#) { $0.videoPush == false },
        .source("mute", KillRoom.guest, #"{"audioPush":false}"#) { $0.audioPush == false },
        .source("uncover", KillRoom.guest, #"{"videoPush":true}"#) { $0.videoPush == nil },
        .source("unmute", KillRoom.guest, #"{"audioPush":true}"#) { $0.audioPush == nil },
        .source("cover and mute", KillRoom.host, #"{"videoPush":false,"audioPush":false}"#) {
            $0.videoPush == false && $0.audioPush == false
        },
        .source("volume", KillRoom.host, #"{"volume":40}"#) { $0.volume == 40 }.answered(200, .soon),
        .source("volume of a track", KillRoom.guest, #"{"volume":50,"audioTrack":1}"#) { $0.trackVolumes == [1: 50] }
            .answered(200, .soon),
        .source("offset", KillRoom.guest, #"{"offsetMs":40}"#) { $0.offsetMs == 40 },
        .source("rotation", KillRoom.host, #"{"rotation":90}"#) { $0.rotation == 90 },
        .source("volume and rotation", KillRoom.host, #"{"volume":30,"rotation":180}"#) {
            $0.volume == 30 && $0.rotation == 180
        },
        KillCommand("kick", .post, "/v1/sources/2002:kick", #"{"refuseSeconds":300}"#) {
            $0.state.sources[KillRoom.guest]?.refusedUntil != nil
        },
        KillCommand("kick lifted", .post, "/v1/sources/2002:kick", #"{"refuseSeconds":0}"#) {
            $0.state.sources[KillRoom.guest]?.refusedUntil == nil
        },
    ]

    private static func relay(_ id: String, _ key: String) -> @Sendable (Resumption) -> Bool {
        {
            $0.state.relays.contains(
                CommandedState.Relay(source: KillRoom.host, id: id, url: "rtmp://\(KillRoom.nowhere)/live/\(key)"))
        }
    }

    private static func relayBody(_ key: String) -> String { #"{"url":"rtmp://\#(KillRoom.nowhere)/live/\#(key)"}"# }

    private static let relays: [KillCommand] = [
        KillCommand(
            "relay put", .put, "/v1/sources/1001/relays/r1", Self.relayBody("key1"), shows: Self.relay("r1", "key1")),
        KillCommand(
            "relay to another room", .put, "/v1/sources/1001/relays/r1", Self.relayBody("key2"),
            shows: Self.relay("r1", "key2")),
        KillCommand(
            "second relay put", .put, "/v1/sources/1001/relays/r2", Self.relayBody("key3"),
            shows: Self.relay("r2", "key3")),
        KillCommand("relay removed", .delete, "/v1/sources/1001/relays/r2") {
            !$0.state.relays.contains { $0.id == "r2" }
        },
    ]

    private static func isAt(_ revision: Int, _ resumption: Resumption) -> Bool {
        resumption.state.document?.revision == revision && resumption.settings.document?.revision == revision
    }

    private static let documents: [KillCommand] = [
        KillCommand("title", .patch, "/v1/room", #"{"room":{"title":"Final"},"revision":8}"#) {
            Self.isAt(8, $0) && $0.settings.pipeline.room.title == "Final"
        },
        KillCommand(
            "document with several members", .patch, "/v1/room",
            #"{"room":{"title":"Second"},"idle":{"maxIdleSeconds":900},"ext":{"x":[1]},"revision":9}"#
        ) {
            Self.isAt(9, $0) && $0.settings.pipeline.room.title == "Second"
                && $0.settings.pipeline.idle.maxIdleSeconds == 900
        },
        KillCommand(
            "source added", .patch, "/v1/room", #"{"sources":\#(KillRoom.sources(late: "first-key")),"revision":10}"#
        ) { Self.isAt(10, $0) && $0.settings.pipeline.source(KillRoom.late) != nil },
        KillCommand(
            "key renewed", .patch, "/v1/room", #"{"sources":\#(KillRoom.sources(late: "second-key")),"revision":11}"#
        ) { Self.isAt(11, $0) && $0.settings.pipeline.source(KillRoom.late) != nil },
        KillCommand("kick of the added source", .post, "/v1/sources/3003:kick") {
            $0.state.sources[KillRoom.late]?.refusedUntil != nil
        },
        KillCommand(
            "webhook", .patch, "/v1/room",
            #"""
            {"control":{"events":[{"type":"webhook","url":"http://127.0.0.1:9/hook","types":["pk.started"]}]},
             "revision":12}
            """#
        ) { Self.isAt(12, $0) && $0.settings.pipeline.control.events.count == 1 },
    ]

    private static let outputs: [KillCommand] = [
        KillCommand(
            "output put", .patch, "/v1/room",
            { facts in
                let push = #", {"type":"rtmp","outputId":"cdn","url":"rtmp://\#(KillRoom.nowhere)/live","key":"k"}"#
                return #"{"outputs":\#(KillRoom.outputs(facts.directory, more: push)),"revision":13}"#
            }
        ) { Self.isAt(13, $0) && $0.settings.pipeline.outputs.contains { $0.outputID == "cdn" } },
        KillCommand(
            "output removed", .patch, "/v1/room",
            { #"{"outputs":\#(KillRoom.outputs($0.directory)),"revision":14}"# }
        ) { Self.isAt(14, $0) && !$0.settings.pipeline.outputs.contains { $0.outputID == "cdn" } },
        KillCommand(
            "document put", .put, "/v1/room",
            { KillRoom.pipeline($0.directory, title: "Whole", members: #""revision": 20,"#) }
        ) { Self.isAt(20, $0) && $0.settings.pipeline.room.title == "Whole" },
        KillCommand("recording started", .post, "/v1/outputs/record:start", shows: nil).answered(202),
        KillCommand("recording stopped", .post, "/v1/outputs/record:stop", shows: nil).answered(202),
        KillCommand("metadata", .post, "/v1/metadata", #"{"type":"gift","text":"rose"}"#, shows: nil)
            .answered(202, .soon),
        KillCommand.source("mute with an idempotency key", KillRoom.guest, #"{"audioPush":false}"#) {
            $0.audioPush == false
        }.keyed("key-1"),
        KillCommand("text with an idempotency key", .put, "/v1/texts/left", #"{"text":"Bea"}"#) {
            $0.state.texts["left"] == "Bea" && $0.state.replies.map(\.key) == ["key-1", "key-2"]
        }.answered(200, .soon).keyed("key-2"),
    ]

    private static let end: [KillCommand] = [
        KillCommand("room ended", .post, "/v1/room:end") { $0.state.isEnded }.answered(202)
    ]
}
