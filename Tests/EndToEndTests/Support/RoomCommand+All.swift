extension RoomCommand {
    /// Commands of each kind, in an order in which each is accepted and changes something. After the first three, the
    /// guest is covered and muted, and the third publisher is kicked.
    static let all = [
        Self.safety, Self.scenes, Self.phases, Self.overlays, Self.sources, Self.relays, Self.documents,
        Self.replacements,
    ].flatMap { $0 }

    private static let safety = [
        Self.source("cover", .guest, ["videoPush": "false"]).hiding(.guest, video: true),
        Self.source("mute", .guest, ["audioPush": "false"]).hiding(.guest, audio: true),
        Self("kick", "POST", "/v1/sources/4004:kick", #"{"refuseSeconds":600}"#, changes: ["4004.isRefused"]) {
            $0["4004.isRefused"] == "true"
        }.hiding(.third, video: true, audio: true),
    ]

    private static func scene(_ id: String, _ revision: Int, _ uid: String) -> @Sendable (CommandedFacts) -> Bool {
        { $0["scene \(id)"] == "\(revision) [\"\(uid)\"]" }
    }

    private static func onAir(_ scene: String) -> @Sendable (CommandedFacts) -> Bool { { $0["scene"] == scene } }

    private static let scenes = [
        Self(
            "scene put", "PUT", "/v1/scenes/new", #"{"layout":"solo","uids":["2002"],"revision":5}"#,
            changes: ["scene new"], shows: Self.scene("new", 5, "2002")),
        Self(
            "scene changed", "PUT", "/v1/scenes/new", #"{"layout":"solo","uids":["1001"],"revision":6}"#,
            changes: ["scene new"], shows: Self.scene("new", 6, "1001")),
        Self(
            "second scene put", "PUT", "/v1/scenes/brief", #"{"layout":"solo","uids":["2002"],"revision":1}"#,
            changes: ["scene brief"], shows: Self.scene("brief", 1, "2002")),
        Self("put scene removed", "DELETE", "/v1/scenes/brief", changes: ["scene brief"]) { $0["scene brief"] == nil },
        Self("scene of the file removed", "DELETE", "/v1/scenes/spare", changes: ["scene spare"]) {
            $0["scene spare"] == nil
        },
        Self(
            "cut", "PUT", "/v1/program", #"{"sceneId":"guest"}"#, changes: ["scene"], shows: Self.onAir("guest")),
        Self(
            "transition", "PUT", "/v1/program",
            #"{"sceneId":"pk","transition":{"type":"crossfade","durationMs":200}}"#,
            changes: ["scene", "file.countdowns"],
            shows: Self.onAir("pk")),
        Self(
            "scene at a date", "PUT", "/v1/program",
            { #"{"sceneId":"new","at":"\#($0.later)","transition":{"type":"slide"}}"# }, changes: ["upcoming"]
        ) { $0["upcoming"] == "new" },
    ]

    private static let phases = [
        Self("PK started", "POST", "/v1/pk:start", changes: Self.pk) { $0["pk.phase"] == "pk" && $0["scene"] == "pk" },
        Self("PK punishment", "POST", "/v1/pk:punish", changes: Self.pk) { $0["pk.phase"] == "punish" },
        Self("PK ended", "POST", "/v1/pk:end", changes: Self.pk) { $0["pk.phase"] == "idle" && $0["scene"] == "all" },
        Self(
            "PK started with durations", "POST", "/v1/pk:start", #"{"durationMs":300000,"punishMs":1000}"#,
            changes: Self.pk
        ) { $0["pk.phase"] == "pk" },
        Self("timed PK ended", "POST", "/v1/pk:end", changes: Self.pk) { $0["pk.phase"] == "idle" },
        Self(
            "PK started with scenes", "POST", "/v1/pk:start", #"{"scene":"pk","endScene":"guest"}"#, changes: Self.pk
        ) { $0["pk.phase"] == "pk" && $0["pk.endScene"] == "guest" && $0["scene"] == "pk" },
    ]

    /// A PK changes the scene, whose countdowns then start.
    private static let pk = ["pk.", "scene", "upcoming", "file.countdowns"]

    private static let overlays = [
        Self("text", "PUT", "/v1/texts/left", #"{"text":"Anna"}"#, changes: ["file.texts"]) {
            $0["file.texts"] == #"{"left":"Anna"}"#
        }.soon,
        Self("text changed", "PUT", "/v1/texts/left", #"{"text":"Аня \"1\""}"#, changes: ["file.texts"]) {
            $0["file.texts"] == #"{"left":"Аня \"1\""}"#
        }.soon,
        Self("scores", "PUT", "/v1/scores/pk", #"{"left":900,"right":100}"#, changes: ["file.scores"]) {
            $0["file.scores"] == "pk 900:100"
        }.soon,
        Self("score of one side", "PUT", "/v1/scores/pk", #"{"right":101}"#, changes: ["file.scores"]) {
            $0["file.scores"] == "pk 900:101"
        }.soon,
        Self("countdown", "PUT", "/v1/countdowns/clock", #"{"seconds":1000}"#, changes: ["file.countdowns"]) {
            Self.clock($0) ?? 0 > 30_000
        },
        Self(
            "countdown to a date", "PUT", "/v1/countdowns/clock", { #"{"endsAt":"\#($0.later)"}"# },
            changes: ["file.countdowns"]
        ) { Self.clock($0) ?? 30_000 < 30_000 },
    ]

    /// The tick at which the countdown ends.
    private static func clock(_ facts: CommandedFacts) -> Int? {
        facts["file.countdowns"]?.firstMatch(of: /"clock":([0-9]+)/).flatMap { Int($0.output.1) }
    }

    private static let sources = [
        Self.source("cover of the host", .host, ["videoPush": "false"]).hiding(.host, video: true),
        Self.source("mute of the host", .host, ["audioPush": "false"]).hiding(.host, audio: true),
        Self.source("uncover", .host, ["videoPush": "true"]).hiding(.host, video: false),
        Self.source("unmute", .host, ["audioPush": "true"]).hiding(.host, audio: false),
        Self.source("cover and mute", .host, ["videoPush": "false", "audioPush": "false"])
            .hiding(.host, video: true, audio: true),
        Self.source("uncover and unmute", .host, ["videoPush": "true", "audioPush": "true"])
            .hiding(.host, video: false, audio: false),
        Self.source("volume", .host, ["volume": "140"]).soon,
        Self.stored("volume of a track", .guest, #"{"volume":50,"audioTrack":1}"#, "trackVolumes", #"{"1":50}"#).soon,
        Self.stored("offset", .guest, #"{"offsetMs":40}"#, "offsetMs", "40"),
        Self.stored("rotation", .host, #"{"rotation":90}"#, "rotation", "90"),
    ]

    private static let relays = [
        Self(
            "relay put", "PUT", "/v1/sources/1001/relays/r1", CommandedRoomFile.relay("relay-1"), changes: Self.relay
        ) { $0["1001.relays"] == "r1" && $0["file.relays"]?.contains("relay-1") == true },
        Self(
            "relay to another room", "PUT", "/v1/sources/1001/relays/r1", CommandedRoomFile.relay("relay-2"),
            changes: Self.relay
        ) { $0["1001.relays"] == "r1" && $0["file.relays"]?.contains("relay-2") == true },
        Self(
            "second relay put", "PUT", "/v1/sources/1001/relays/r2", CommandedRoomFile.relay("relay-3"),
            changes: Self.relay
        ) { $0["1001.relays"] == "r1 r2" },
        Self("relay removed", "DELETE", "/v1/sources/1001/relays/r2", changes: Self.relay) {
            $0["1001.relays"] == "r1"
        },
    ]

    private static let relay = ["1001.relays", "file.relays"]

    private static let documents = [
        Self(
            "title", "PATCH", "/v1/room", #"{"room":{"title":"Final"},"revision":8}"#, changes: ["title", "document"]
        ) { $0["title"] == "Final" },
        Self(
            "document with several members", "PATCH", "/v1/room",
            #"{"room":{"title":"Second"},"idle":{"maxIdleSeconds":900},"ext":{"x":[1]},"revision":9}"#,
            changes: ["title", "document"]
        ) { $0["title"] == "Second" && $0["document"]?.contains(#""maxIdleSeconds":900"#) == true },
        Self(
            "source added", "PATCH", "/v1/room", { #"{"sources":\#($0.sources(late: "first-key")),"revision":10}"# },
            changes: ["3003.", "document"]
        ) { $0["3003.isRefused"] == "false" },
        Self(
            "key renewed", "PATCH", "/v1/room", { #"{"sources":\#($0.sources(late: "second-key")),"revision":11}"# },
            changes: ["document"]
        ) { $0["document"]?.hasPrefix(#"{"revision":11,"#) == true },
        Self("kick of the added source", "POST", "/v1/sources/3003:kick", changes: ["3003.isRefused"]) {
            $0["3003.isRefused"] == "true"
        },
        Self(
            "kick lifted", "POST", "/v1/sources/3003:kick", #"{"refuseSeconds":0}"#, changes: ["3003.isRefused"]
        ) { $0["3003.isRefused"] == "false" },
    ]

    private static let replacements = [
        Self(
            "output put", "PATCH", "/v1/room", { #"{"outputs":\#($0.outputs(pushes: true)),"revision":13}"# },
            changes: ["document"]
        ) { $0["document"]?.contains("cdn") == true },
        Self(
            "output removed", "PATCH", "/v1/room", { #"{"outputs":\#($0.outputs()),"revision":14}"# },
            changes: ["document"]
        ) { $0["document"]?.contains("cdn") == false },
        Self(
            "document put", "PUT", "/v1/room", { $0.pipeline(title: "Whole", members: #""revision": 20,"#) },
            changes: ["title", "document", "3003."]
        ) { $0["title"] == "Whole" && $0["3003.volume"] == nil },
        Self.source("volume with an idempotency key", .guest, ["volume": "90"]).soon.keyed("key-1"),
    ]
}
