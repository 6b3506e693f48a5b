import MediaTypes

extension Pipeline {
    /// The rule for the whole pipeline file.
    static let rule = ObjectRule(
        "one room: its sources, what is composed from them, and its outputs",
        Pipeline(room: Room(roomID: ""), sources: [], scenes: [], outputs: []),
        [
            Field(note: "$schema", "URL or path of this schema for editors; ignored by the program"),
            Field("apiVersion", always: Pipeline.apiVersion, isRequired: false, "version of this format"),
            Field(
                optional: "revision", \.revision, .integer(0...9_007_199_254_740_991),
                "version number of this file: a running room refuses older versions (PUT /v1/room)"),
            Field(required: "room", \.room, .object(Room.rule), "id and title of the room"),
            Field(
                "clock", \.clock, .choice,
                "what paces the program: the machine's clock (live), or the data of file sources (offline)"),
            Field(
                optional: "durationSeconds", \.durationMs, .seconds(upTo: 2_592_000),
                "program time in seconds after which the room ends"),
            Field("control", \.control, .object(Control.rule, finish: Control.checked), "the operators' listener"),
            Field(
                "ingest", \.ingest, .object(Ingest.rule, finish: Ingest.checked), "listeners and rules for publishers"),
            Field(
                required: "sources", \.sources,
                .list(
                    of: .object(SourceDraft.rule, finish: SourceDraft.finished), 1...128,
                    standIn: SourceDraft.rule.prototype.source),
                "the publishers, pull sources and files; the pair of uid and streamType is unique"),
            Field("canvas", \.canvas, .object(Canvas.rule), "the frame that all sources are composed into"),
            Field(
                required: "scenes", \.scenes,
                .list(
                    of: .object(SceneDraft.rule, finish: SceneDraft.finished), 1...256,
                    standIn: SceneDraft.rule.prototype.scene),
                "layouts with their audio; sceneId is unique"),
            Field(
                "watermarks", \.watermarks,
                .list(of: .object(StillImage.watermark), 0...8, standIn: StillImage.standIn),
                "images on top of every scene"),
            Field(
                "overlays", \.overlays,
                .list(of: .object(Overlay.rule), 0...Overlay.limit, standIn: Overlay.rule.prototype),
                "animations with transparency, such as gifts, that commands play over the program (POST /v1/overlays/NAME:play)"
            ),
            Field("program", \.program, .object(Program.rule), "the first scene on air, and the delay of the program"),
            Field(
                optional: "pk", \.pk, .object(PK.rule),
                "the phases of a PK; started by a command or when all its sources are live"),
            Field("audio", \.audio, .object(Audio.rule), "the audio that all sources are mixed into"),
            Field(
                "renditions", \.renditions,
                .list(
                    of: .object(RenditionDraft.rule, finish: RenditionDraft.finished), 1...16,
                    standIn: RenditionDraft.rule.prototype.rendition),
                "the renditions (encoding ladder); default 720p, 480p, 360p and 240p in the canvas's aspect ratio, none larger than the canvas, and audioOnly",
                derived: true),
            Field(
                "audioRenditions", \.audioRenditions,
                .list(of: .object(AudioRendition.rule), 1...8, standIn: AudioRendition(name: "", bitrate: 128_000)),
                "the encodings of the audio, each in its own group; default one, \"audio\", at audio.bitrate",
                derived: true),
            Field(
                required: "outputs", \.outputs, .list(of: Output.rule, 1...16, standIn: .raw(RawOutput(path: ""))),
                "destinations of the media; at most one of type hls with fmp4 segments"),
        ] + Self.watchedFields)

    /// Fields about monitoring and limits.
    private static let watchedFields: [Field<Pipeline>] = [
        Field(
            optional: "sei", \.sei, .object(SEI.rule),
            "SEI messages in the video of every rendition: the layout, and a text"),
        Field(
            optional: "captions", \.captions, .object(Captions.rule),
            "closed captions (CEA-608 and CEA-708) of the sources in the video of every rendition"),
        Field(
            "subtitles", \.subtitles,
            .list(
                of: .object(SubtitleRendition.rule), 0...SubtitleRendition.limit,
                standIn: SubtitleRendition.rule.prototype),
            "subtitle renditions (WebVTT) of the HLS output, whose cues come by POST /v1/subtitles/NAME:cue"),
        Field(
            optional: "moderation", \.moderation, .object(Moderation.rule),
            "stills of the sources for a moderation service, whose answers may cover, mute or kick a source"),
        Field("alarms", \.alarms, .object(Alarms.rule), "thresholds of alarms about the quality of sources"),
        Field("limits", \.limits, .object(Limits.rule), "limits of the room and its sources"),
        Field(
            "overload", \.overload, .object(Overload.rule),
            "when a live room starts to reduce its work because its machine is overloaded"),
        Field("offline", \.offline, .object(Offline.rule), "settings of a job with the clock offline"),
        Field("shutdown", \.shutdown, .object(Shutdown.rule), "time limit for ending the room"),
        Field("idle", \.idle, .object(Idle.rule), "when a live room without publishers ends on its own"),
        Field(free: "ext", "any content; ignored by the program"),
    ]
}

extension Pipeline.Room {
    static let rule = ObjectRule(
        "id and title of the room", Pipeline.Room(roomID: ""),
        [
            Field(
                required: "roomId", \.roomID, .id,
                "the room's id: 1 to 64 letters, digits, _ . or -"),
            Field(optional: "title", \.title, .title, "a title to display"),
        ])
}

extension Pipeline.Control {
    static let rule = ObjectRule(
        "the operators' listener", Pipeline.Control(),
        [
            Field(
                "listen", \.listen, .address(unix: true),
                "host:port or unix:/path of the control API; port 0: any free port"),
            Field(
                optional: "tokenFile", \.token.file, .path,
                "file that holds the bearer token; required unless listen is loopback or a Unix socket"),
            Field(
                optional: "tokenEnv", \.token.variable, .variable, "environment variable that holds the token instead"),
            Field(
                optional: "readTokenFile", \.readToken.file, .path,
                "file that holds a second bearer token, which allows reads but no commands"),
            Field(
                optional: "readTokenEnv", \.readToken.variable, .variable,
                "environment variable that holds the token instead"),
            Field(
                "events", \.events,
                .list(of: .object(EventSink.rule, finish: EventSink.checked), 0...4, standIn: EventSink()),
                "receivers of the room's events, in addition to standard output and GET /v1/events"),
            Field(
                "openReads", \.openReads, .boolean,
                "whether reads need no token, except those of the document, the log lines, files of clips and the program's audio; commands always do"
            ),
            Field(
                "maxRequestsPerSecond", \.maxRequestsPerSecond, .integer(10...100_000),
                "rate limit in requests per second; further requests get status 429, except those of the health endpoints; requests with the token, with the read token and without a token have separate limits of this size"
            ),
            Field(
                "allowOrigins", \.allowOrigins,
                .list(
                    of: .text(
                        "an origin such as https://console.example.com", pattern: "^https?://[^/\\s*]+$",
                        accepts: HLSOutput.HTTP.isPageOrigin),
                    0...64, standIn: ""),
                "origins of web pages that may use this API (CORS); default only the page at /"),
            Field(
                optional: "secretsDirectory", \.secretsDirectory, .path,
                "directory whose files API requests may name in members such as keyFile; default only files that this file names"
            ),
            Field(
                optional: "imagesDirectory", \.imagesDirectory, .path,
                "directory whose files API requests may name as images; default only images that this file names"),
            Field(
                optional: "mediaDirectory", \.mediaDirectory, .path,
                "directory whose files API requests may name as file sources, overlays and noise models; default only files that this file names as such"
            ),
            Field(
                optional: "stateDirectory", \.stateDirectory, .path,
                "directory of ROOMID.commands.json, in which a successor worker finds earlier commands; default commands.json in the HLS output's directory"
            ),
            Field("egress", \.egress, .object(Egress.rule), "servers that API requests may make the room connect to"),
            Field(
                "compat", \.compat, .list(of: .choice, 0...4, standIn: .flipflop),
                "vocabularies of other products whose names and codes are added to events, in the member compat"),
        ])

    static func checked(_ control: Pipeline.Control, _ path: String, _ log: inout SpecLog) -> Pipeline.Control {
        let hasToken = log.isWritten("\(path).tokenFile") || log.isWritten("\(path).tokenEnv")
        if log.isWritten("\(path).tokenFile"), log.isWritten("\(path).tokenEnv") {
            log.mistake("\(path).tokenEnv", "cannot be combined with tokenFile", fix: "remove one of the two")
        }
        if log.isWritten("\(path).readTokenFile"), log.isWritten("\(path).readTokenEnv") {
            log.mistake("\(path).readTokenEnv", "cannot be combined with readTokenFile", fix: "remove one of the two")
        }
        if control.readToken != nil, !hasToken {
            log.mistake(
                "\(path).\(log.isWritten("\(path).readTokenFile") ? "readTokenFile" : "readTokenEnv")",
                "is set without a token for commands", fix: "add \"tokenEnv\" or \"tokenFile\"")
        }
        if !control.listen.isLoopback, !hasToken {
            log.mistake(
                "\(path).listen", "\(control.listen) can be reached from other machines, but there is no token",
                fix: "add \"tokenEnv\" or \"tokenFile\", or listen on 127.0.0.1 or unix:/path")
        }
        return control
    }
}

extension Pipeline.Ingest {
    static let rule = ObjectRule(
        "listeners and rules for publishers", Pipeline.Ingest(),
        [
            Field("rtmp", \.rtmp, .object(Pipeline.RTMP.rule), "the RTMP listener"),
            Field(
                optional: "rtmps", \.rtmps, .object(Pipeline.RTMPS.rule),
                "a listener for RTMP over TLS, with the app, keys and limits of rtmp"),
            Field(
                optional: "srt", \.srt, .object(Pipeline.SRT.rule, finish: Pipeline.SRT.checked),
                "a listener for MPEG-TS over SRT, with the keys, admission and timeouts of rtmp; the stream id is the key"
            ),
            Field(
                optional: "webrtc", \.webRTC, .object(Pipeline.WebRTC.rule),
                "a listener for WebRTC publishers (WHIP), with the app, keys, admission and timeouts of rtmp"),
            Field(
                "proxies", \.proxies, .list(of: .addressRange, 0...64, standIn: .standIn),
                "addresses of proxies in front of this worker: their RTMP connections must begin with a PROXY header (v1 or v2), all others must not. Their HTTP connections to webrtc may begin with it, or name the client in X-Forwarded-For"
            ),
            Field(
                optional: "auth", \.auth, .object(Pipeline.Auth.rule, finish: Pipeline.Auth.checked),
                "stream keys that an external service signs; a source then needs no streamKey, since the URL contains its uid"
            ),
            Field(
                optional: "onPublish", \.onPublish,
                .object(Pipeline.OnPublish.rule, finish: Pipeline.OnPublish.checked),
                "a webhook that decides about each publisher; a source then needs no streamKey, since the URL contains its uid"
            ),
            Field(
                "allowedAddresses", \.allowedAddresses, .list(of: .addressRange, 0...256, standIn: .standIn),
                "addresses and ranges that publishers may connect from; an empty list means any"),
            Field(
                "pull", \.pull, .object(Pipeline.Pull.rule),
                "rules for sources that this worker pulls from other servers"),
            Field(
                "codecs", \.codecs, .list(of: .choice, 1...32, standIn: .h264),
                "codecs that publishers may send; for any other, the publisher is rejected with the codec's name. With webrtc, the default also has vp8, vp9 and opus"
            ),
        ])
}

extension Pipeline.RTMP {
    static let rule = ObjectRule(
        "the RTMP listener", Pipeline.RTMP(),
        [
            Field(
                "listen", \.listen, .nullable(.address(unix: false)),
                "host:port; port 0: any free port; null: no listener, which needs rtmps, srt or webrtc"
            ),
            Field("app", \.app, .id, "application name in the publish URL"),
            Field("chunkSize", \.chunkSize, .integer(128...65_536), "chunk size that the worker announces, in bytes"),
            Field(
                "onDuplicate", \.onDuplicate, .choice,
                "what happens to a second publisher with a stream key in use: it takes over, or is rejected"),
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
                "milliseconds that a lost publisher has to reconnect before its source counts as gone"),
            Field(
                "maxConnections", \.maxConnections, .integer(1...1024),
                "maximum number of concurrent connections; if there are more, one that does not publish is closed"),
            Field(
                "maxConnectionsPerAddress", \.maxConnectionsPerAddress, .integer(1...1024),
                "maximum number of concurrent connections from one address (one /64 of IPv6) that do not publish; if there are more, those without progress for half a second are closed, the longest inactive first"
            ),
            Field(
                "maxMessageBytes", \.maxMessageBytes, .integer(65_536...16_777_215),
                "largest audio or video message, in bytes"),
            Field(
                "maxPartialBytes", \.maxPartialBytes, .integer(65_536...67_108_864),
                "maximum size of a connection's incomplete messages together, in bytes"),
            Field(
                "maxPartialMessages", \.maxPartialMessages, .integer(2...8),
                "maximum number of incomplete messages of a connection"),
            Field(
                "maxChunkStreams", \.maxChunkStreams, .integer(4...1024),
                "maximum number of chunk streams of a connection"),
            Field(
                "maxAmfDepth", \.maxAmfDepth, .integer(4...64),
                "maximum nesting depth of objects in commands and metadata"),
        ])
}

extension Pipeline.Canvas {
    /// What applies to frame rates with a fraction, for messages.
    static let rateNote = "publishers may send other rates, such as 29.97"

    static let rule = ObjectRule(
        "the frame that all sources are composed into", Pipeline.Canvas(),
        [
            Field("width", \.width, .evened(64...1920), "width in pixels; odd is lowered to even"),
            Field("height", \.height, .evened(64...1920), "height in pixels; odd is lowered to even"),
            Field("fps", \.fps, .frameRate(1...60, note: Self.rateNote), "frames per second"),
            Field("backgroundColor", \.backgroundColor, .color, "color behind and around the panes"),
            Field(
                "policy", \.policy, .choice,
                "fixed: one size for all scenes; perScene: each scene can have its own size, with a discontinuity at each change"
            ),
            Field(
                "bgImages", \.bgImages,
                .list(of: .object(StillImage.background), 0...6, standIn: StillImage.standIn),
                "images behind the panes of every scene without its own bgImages"),
            Field(
                "fonts", \.fonts, .list(of: .path, 0...8, standIn: ""),
                "TrueType or OpenType files for texts; for each character they are tried in this order, then the system's fonts"
            ),
        ])
}

extension Pipeline.Audio {
    static let rule = ObjectRule(
        "the audio that all sources are mixed into", Pipeline.Audio(),
        [
            Field(
                "sampleRate", \.sampleRate, .integer(48_000...48_000),
                "samples per second; always 48000: sources with other rates are resampled"),
            Field(
                "channels", \.channels, .integer(2...2), "number of channels; always 2: mono sources are played on both"
            ),
            Field("bitrate", \.bitrate, .bits(32_000...320_000), "AAC bit rate in bit/s"),
            Field("rampMs", \.rampMs, .integer(0...1000), "duration of a change of volume in milliseconds"),
            Field(
                "levelIntervalMs", \.levelIntervalMs, .integer(0...60_000),
                "milliseconds between two audio.levels events; 0: none"),
            Field(
                "speaking", \.speaking, .boolean,
                "whether audio.speaking events tell when a source begins and stops speaking, and scenes can draw a ring around its pane"
            ),
            Field(
                optional: "ducking", \.ducking, .object(Pipeline.Ducking.rule),
                "lowers the volume of all others while one of the listed users speaks; for music, use lowerMusic"),
            Field(
                optional: "lowerMusic", \.lowerMusic, .object(Pipeline.LowerMusic.rule),
                "lowers the volume of music while other sources speak, detected as for audio.speaking"),
        ])
}

extension Pipeline.LowerMusic {
    static let rule = ObjectRule(
        "lowers the volume of music while other sources speak", Pipeline.LowerMusic(),
        [
            Field(
                "uids", \.uids, .list(of: .uid, 0...16, standIn: ""),
                "the users who are lowered; default the sources with background"),
            Field("reductionDb", \.reductionDb, .integer(1...60), "decibels by which they are lowered"),
            Field("attackMs", \.attackMs, .integer(5...2000), "milliseconds in which they are lowered"),
            Field("releaseMs", \.releaseMs, .integer(20...10_000), "milliseconds in which they are raised again"),
        ])
}

extension Pipeline.Ducking {
    static let rule = ObjectRule(
        "lowers the volume of all others while one of the listed users speaks", Pipeline.Ducking(),
        [
            Field(
                required: "uids", \.uids, .list(of: .uid, 1...8, standIn: ""),
                "the users whose speech lowers the others"),
            Field(
                "thresholdDb", \.thresholdDb, .integer(-70...(-10)),
                "loudness in LUFS above which a user counts as speaking"),
            Field("reductionDb", \.reductionDb, .integer(1...60), "decibels by which the others are lowered"),
            Field("attackMs", \.attackMs, .integer(5...2000), "milliseconds in which the others are lowered"),
            Field("releaseMs", \.releaseMs, .integer(20...10_000), "milliseconds in which the others are raised again"),
        ])
}

extension Pipeline.Program {
    static let rule = ObjectRule(
        "the first scene on air, and the delay of the program", Pipeline.Program(scene: ""),
        [
            Field("scene", \.scene, .id, "sceneId; default the first scene", derived: true),
            Field(
                "delayMs", \.delayMs, .integer(0...10_000),
                "milliseconds by which the media of publishers and pull sources is shown later, so that moderators can act before viewers see it; commands and relays are not delayed"
            ),
        ])
}

extension Pipeline.Limits {
    static let rule = ObjectRule(
        "limits of the room and its sources", Pipeline.Limits(),
        [
            Field(
                "maxInputWidth", \.maxInputWidth, .integer(16...8192), "maximum video width of a source in pixels"),
            Field(
                "maxInputHeight", \.maxInputHeight, .integer(16...8192), "maximum video height of a source in pixels"
            ),
            Field(
                "maxInputFps", \.maxInputFps, .integer(1...240),
                "maximum frame rate of a source in frames per second"),
            Field("maxSources", \.maxSources, .integer(1...128), "maximum number of sources"),
            Field(
                optional: "maxDiskBytes", \.maxDiskBytes, .integer((1 << 20)...(1 << 50)),
                "maximum size in bytes of the room's segments, recordings, clips and stills together; default the space in their file systems"
            ),
        ])
}
