import MediaTypes

extension Pipeline {
    /// The document: what stands at its top.
    static let rule = ObjectRule(
        "one room: who comes in, what is composed, what goes out",
        Pipeline(room: Room(roomID: ""), sources: [], scenes: [], outputs: []),
        [
            Field(note: "$schema", "URL or path of this schema, for editors; not looked at"),
            Field("apiVersion", always: Pipeline.apiVersion, isRequired: false, "version of this format"),
            Field(
                optional: "revision", \.revision, .integer(0...9_007_199_254_740_991),
                "which version of the file this is: a running room takes none that is older (PUT /v1/room)"),
            Field(required: "room", \.room, .object(Room.rule), "which room this is"),
            Field(
                "clock", \.clock, .choice, "what paces the program: the machine's clock, or the data of file sources"),
            Field(
                optional: "durationSeconds", \.durationMs, .seconds(upTo: 2_592_000),
                "end the room after so many seconds of program time"),
            Field("control", \.control, .object(Control.rule, finish: Control.checked), "the operators' listener"),
            Field("ingest", \.ingest, .object(Ingest.rule), "how media comes in"),
            Field(
                required: "sources", \.sources,
                .list(
                    of: .object(SourceDraft.rule, finish: SourceDraft.finished), 1...128,
                    standIn: SourceDraft.rule.prototype.source),
                "the publishers and files; uid with streamType is unique"),
            Field("canvas", \.canvas, .object(Canvas.rule), "the one picture everything is composed into"),
            Field(
                required: "scenes", \.scenes,
                .list(
                    of: .object(SceneDraft.rule, finish: SceneDraft.finished), 1...256,
                    standIn: SceneDraft.rule.prototype.scene),
                "layouts and their sound; sceneId is unique"),
            Field(
                "watermarks", \.watermarks,
                .list(of: .object(StillImage.watermark), 0...8, standIn: StillImage.standIn), "images on every scene"),
            Field("program", \.program, .object(Program.rule), "what is on air first"),
            Field(
                optional: "pk", \.pk, .object(PK.rule), "the phases of a PK; started by command or when all are there"),
            Field("audio", \.audio, .object(Audio.rule), "the one sound everything is mixed into"),
            Field(
                "renditions", \.renditions,
                .list(
                    of: .object(RenditionDraft.rule, finish: RenditionDraft.finished), 1...16,
                    standIn: RenditionDraft.rule.prototype.rendition),
                "the ladder; default 720p, 480p, 360p and 240p in the shape of the canvas, none larger than it, and audioOnly",
                derived: true),
            Field(
                "audioRenditions", \.audioRenditions,
                .list(of: .object(AudioRendition.rule), 1...8, standIn: AudioRendition(name: "", bitrate: 128_000)),
                "the codings of the sound, each a group of its own; default one, \"audio\", at audio.bitrate",
                derived: true),
            Field(
                required: "outputs", \.outputs, .list(of: Output.rule, 1...16, standIn: .raw(RawOutput(path: ""))),
                "where the media goes; at most one is hls"),
        ] + Self.watchedFields)

    /// What is watched, and what is refused.
    private static let watchedFields: [Field<Pipeline>] = [
        Field(
            optional: "sei", \.sei, .object(SEI.rule),
            "what the coded pictures of every rendition say of the program: who lies where, and a text"),
        Field("alarms", \.alarms, .object(Alarms.rule), "when it is told that a source comes in badly"),
        Field("limits", \.limits, .object(Limits.rule), "what the room refuses to take on"),
        Field(
            "overload", \.overload, .object(Overload.rule),
            "when a live room begins to leave things out because its machine cannot keep up"),
        Field("shutdown", \.shutdown, .object(Shutdown.rule), "how long the end of the room may take"),
        Field("idle", \.idle, .object(Idle.rule), "when a live room that nobody publishes to is over by itself"),
        Field(free: "ext", "anything; not looked at"),
    ]
}

extension Pipeline.Room {
    static let rule = ObjectRule(
        "which room this is", Pipeline.Room(roomID: ""),
        [
            Field(
                required: "roomId", \.roomID, .name(64, marks: "_.-"),
                "the room's id: 1 to 64 letters, digits, _ . or -"),
            Field(optional: "title", \.title, .title, "a title for people"),
        ])
}

extension Pipeline.Control {
    static let rule = ObjectRule(
        "the operators' listener", Pipeline.Control(),
        [
            Field("listen", \.listen, .address(unix: true), "host:port or unix:/path of the control API; port 0: any"),
            Field(
                optional: "tokenFile", \.token.file, .path,
                "file that holds the bearer token; required unless listen is loopback or a Unix socket"),
            Field(optional: "tokenEnv", \.token.variable, .variable, "environment variable that holds it instead"),
            Field(
                optional: "readTokenFile", \.readToken.file, .path,
                "file that holds a second token, whose holders may look and not command"),
            Field(
                optional: "readTokenEnv", \.readToken.variable, .variable, "environment variable that holds it instead"),
            Field(
                "events", \.events,
                .list(of: .object(EventSink.rule, finish: EventSink.checked), 0...4, standIn: EventSink()),
                "who is sent the room's events; they are on standard output and at GET /v1/events in any case"),
            Field(
                "openReads", \.openReads, .boolean,
                "what only reads needs no token, nor does the page at /; commands do in any case"),
            Field(
                "maxRequestsPerSecond", \.maxRequestsPerSecond, .integer(10...100_000),
                "requests a second that are answered; more are told to come later (429), health endpoints excepted; those with the token, with the read token and without one have each a budget of this size"
            ),
            Field(
                "allowOrigins", \.allowOrigins,
                .list(
                    of: .text(
                        "an origin such as https://console.example.com", pattern: "^https?://[^/\\s*]+$",
                        accepts: HLSOutput.HTTP.isPageOrigin),
                    0...64, standIn: ""),
                "origins whose pages may use this API from a browser; none: only the page at /"),
            Field(
                optional: "secretsDirectory", \.secretsDirectory, .path,
                "directory whose files requests may name in members such as keyFile; without it only files that this file names"
            ),
            Field(
                optional: "imagesDirectory", \.imagesDirectory, .path,
                "directory whose files requests may name as images; without it only images that this file names"),
            Field(
                optional: "stateDirectory", \.stateDirectory, .path,
                "directory of ROOMID.commands.json, in which a successor finds what was commanded; default commands.json in the HLS output's directory"
            ),
            Field("egress", \.egress, .object(Egress.rule), "where requests may make the room connect to"),
            Field(
                "compat", \.compat, .list(of: .choice, 0...4, standIn: .flipflop),
                "vocabularies of other products whose names and codes events bear as well, under compat"),
        ])

    static func checked(_ control: Pipeline.Control, _ path: String, _ log: inout SpecLog) -> Pipeline.Control {
        let hasToken = log.isWritten("\(path).tokenFile") || log.isWritten("\(path).tokenEnv")
        if log.isWritten("\(path).tokenFile"), log.isWritten("\(path).tokenEnv") {
            log.mistake("\(path).tokenEnv", "stands beside tokenFile", fix: "keep one of the two")
        }
        if log.isWritten("\(path).readTokenFile"), log.isWritten("\(path).readTokenEnv") {
            log.mistake("\(path).readTokenEnv", "stands beside readTokenFile", fix: "keep one of the two")
        }
        if control.readToken != nil, !hasToken {
            log.mistake(
                "\(path).\(log.isWritten("\(path).readTokenFile") ? "readTokenFile" : "readTokenEnv")",
                "stands without a token for those who command", fix: "add \"tokenEnv\" or \"tokenFile\"")
        }
        if !control.listen.isLoopback, !hasToken {
            log.mistake(
                "\(path).listen", "\(control.listen) is open to other machines, and no token guards it",
                fix: "add \"tokenEnv\" or \"tokenFile\", or listen on 127.0.0.1 or unix:/path")
        }
        return control
    }
}

extension Pipeline.Ingest {
    static let rule = ObjectRule(
        "how media comes in", Pipeline.Ingest(),
        [
            Field("rtmp", \.rtmp, .object(Pipeline.RTMP.rule), "the RTMP listener"),
            Field(
                optional: "rtmps", \.rtmps, .object(Pipeline.RTMPS.rule),
                "RTMP over TLS as well, with the app, keys and limits of rtmp"),
            Field(
                optional: "srt", \.srt, .object(Pipeline.SRT.rule, finish: Pipeline.SRT.checked),
                "MPEG-TS over SRT as well, with the keys, admission and time-outs of rtmp: the stream id is the key"),
            Field(
                "proxies", \.proxies, .list(of: .addressRange, 0...64, standIn: .standIn),
                "proxies in front of this worker: connections from there begin with a PROXY header (v1 or v2), no others"
            ),
            Field(
                optional: "auth", \.auth, .object(Pipeline.Auth.rule, finish: Pipeline.Auth.checked),
                "keys that somebody else signs; a source may then go without a streamKey: its uid stands in the URL"),
            Field(
                optional: "onPublish", \.onPublish,
                .object(Pipeline.OnPublish.rule, finish: Pipeline.OnPublish.checked),
                "a webhook asked about each publisher; a source without a streamKey is then named by its uid in the URL"
            ),
            Field(
                "allowedAddresses", \.allowedAddresses, .list(of: .addressRange, 0...256, standIn: .standIn),
                "addresses and ranges publishers may come from; none: any"),
            Field("pull", \.pull, .object(Pipeline.Pull.rule), "fetching sources from other servers"),
            Field(
                "codecs", \.codecs, .list(of: .choice, 1...32, standIn: .h264),
                "what publishers may send; anything else is refused with its name"),
        ])
}

extension Pipeline.RTMP {
    static let rule = ObjectRule(
        "the RTMP listener", Pipeline.RTMP(),
        [
            Field(
                "listen", \.listen, .nullable(.address(unix: false)), "host:port; port 0: any; null: only rtmps listens"
            ),
            Field("app", \.app, .name(64, marks: "_.-"), "application name in the publish URL"),
            Field("chunkSize", \.chunkSize, .integer(128...65_536), "chunk size we announce, in bytes"),
            Field(
                "onDuplicate", \.onDuplicate, .choice,
                "a second publisher with a stream key in use: it takes over, or is rejected"),
            Field(
                "handshakeTimeoutMs", \.handshakeTimeoutMs, .integer(500...60_000),
                "milliseconds from the connection to the end of its handshake, TLS included"),
            Field(
                "publishTimeoutMs", \.publishTimeoutMs, .integer(1000...60_000),
                "milliseconds from the connection, or from the end of a publication, to publish"),
            Field(
                "firstPacketTimeoutMs", \.firstPacketTimeoutMs, .integer(1000...600_000),
                "milliseconds from publish to the first media packet"),
            Field(
                "idleTimeoutMs", \.idleTimeoutMs, .integer(1000...3_600_000),
                "milliseconds without any packet after which a connection is closed"),
            Field(
                "reconnectGraceMs", \.reconnectGraceMs, .integer(0...600_000),
                "milliseconds a lost publisher has to come back before its source counts as gone"),
            Field(
                "maxConnections", \.maxConnections, .integer(1...1024),
                "most connections at once; one more closes one that does not publish"),
            Field(
                "maxConnectionsPerAddress", \.maxConnectionsPerAddress, .integer(1...1024),
                "most connections at once from one address (one /64 of IPv6) that do not publish and stand still; one more closes one"
            ),
            Field(
                "maxMessageBytes", \.maxMessageBytes, .integer(65_536...16_777_215),
                "largest audio or video message, in bytes"),
            Field(
                "maxPartialBytes", \.maxPartialBytes, .integer(65_536...67_108_864),
                "most bytes of a connection's incomplete messages"),
            Field(
                "maxPartialMessages", \.maxPartialMessages, .integer(2...8), "most incomplete messages of a connection"),
            Field("maxChunkStreams", \.maxChunkStreams, .integer(4...1024), "most chunk streams of a connection"),
            Field(
                "maxAmfDepth", \.maxAmfDepth, .integer(4...64),
                "deepest nesting of objects in commands and metadata"),
        ])
}

extension Pipeline.Canvas {
    static let rule = ObjectRule(
        "the one picture everything is composed into", Pipeline.Canvas(),
        [
            Field("width", \.width, .evened(64...1920), "width in pixels; odd is lowered to even"),
            Field("height", \.height, .evened(64...1920), "height in pixels; odd is lowered to even"),
            Field("fps", \.fps, .integer(1...60), "pictures per second"),
            Field("backgroundColor", \.backgroundColor, .color, "color behind and around the panes"),
            Field(
                "policy", \.policy, .choice,
                "fixed: one size for all scenes; perScene: that of the scene on air, with a discontinuity"),
            Field(
                "bgImages", \.bgImages,
                .list(of: .object(StillImage.background), 0...6, standIn: StillImage.standIn),
                "images behind the panes of every scene that has none of its own"),
            Field(
                "fonts", \.fonts, .list(of: .path, 0...8, standIn: ""),
                "TrueType or OpenType files for texts, asked for each character in this order, then the system's fonts"
            ),
        ])
}

extension Pipeline.Audio {
    static let rule = ObjectRule(
        "the one sound everything is mixed into", Pipeline.Audio(),
        [
            Field(
                "sampleRate", \.sampleRate, .integer(48_000...48_000),
                "samples per second; only 48000: sources at other rates are resampled"),
            Field("channels", \.channels, .integer(2...2), "only 2: mono sources are heard on both sides"),
            Field("bitrate", \.bitrate, .integer(32_000...320_000), "AAC bit rate in bit/s"),
            Field("rampMs", \.rampMs, .integer(0...1000), "milliseconds over which a volume changes"),
            Field(
                "levelIntervalMs", \.levelIntervalMs, .integer(0...60_000),
                "milliseconds between two audio.levels events; 0: none"),
            Field(
                optional: "ducking", \.ducking, .object(Pipeline.Ducking.rule),
                "turns all others down while one of some users speaks"),
        ])
}

extension Pipeline.Ducking {
    static let rule = ObjectRule(
        "who is heard over the others", Pipeline.Ducking(),
        [
            Field(required: "uids", \.uids, .list(of: .uid, 1...8, standIn: ""), "the users who are heard"),
            Field("thresholdDb", \.thresholdDb, .integer(-70...(-10)), "loudness in LUFS from which on a user speaks"),
            Field("reductionDb", \.reductionDb, .integer(1...60), "decibels the others lose"),
            Field("attackMs", \.attackMs, .integer(5...2000), "milliseconds the others take to go down"),
            Field("releaseMs", \.releaseMs, .integer(20...10_000), "milliseconds the others take to come back"),
        ])
}

extension Pipeline.Program {
    static let rule = ObjectRule(
        "what is on air first", Pipeline.Program(scene: ""),
        [Field("scene", \.scene, .name(64, marks: "_.-"), "sceneId; default the first scene", derived: true)])
}

extension Pipeline.Limits {
    static let rule = ObjectRule(
        "what the room refuses to take on", Pipeline.Limits(),
        [
            Field(
                "maxInputWidth", \.maxInputWidth, .integer(16...8192), "largest picture width of a source, in pixels"),
            Field(
                "maxInputHeight", \.maxInputHeight, .integer(16...8192), "largest picture height of a source, in pixels"
            ),
            Field(
                "maxInputFps", \.maxInputFps, .integer(1...240),
                "largest frame rate of a source, in pictures per second"),
            Field("maxSources", \.maxSources, .integer(1...128), "most sources"),
            Field(
                optional: "maxDiskBytes", \.maxDiskBytes, .integer((1 << 20)...(1 << 50)),
                "bytes the directories of the hls output and of the recording may take together; without it what their "
                    + "file systems have"),
        ])
}
