import MediaTypes

/// A source while its JSON object is being parsed; the source's input is built after all keys are read.
struct SourceDraft: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        case rtmp, file
        case pull = "rtmp-pull"
        case srtPull = "srt-pull"
    }

    var source = Pipeline.Source(SourceID(""), .rtmp(streamKeys: []))
    var kind = Kind.rtmp
    var streamKey: String?
    var streamKeys: [String] = []
    var streamKeyEnv: String?
    var streamKeyFile: String?
    var path: String?
    var loop = false
    var url: String?
    var urlEnv: String?

    private static let keyWords = ["streamKey", "streamKeys", "streamKeyEnv", "streamKeyFile"]
    private static let fileWords = ["path", "loop"]

    static let rule = ObjectRule(
        "a source of media: a publisher, a file or a pull source", SourceDraft(),
        [
            Field(required: "uid", \.source.id.uid, .uid, "the user's id, a string or an integer"),
            Field(
                "streamType", \.source.id.streamType, .choice,
                "which of the user's streams: main (camera) or sub (shared screen)"),
            Field(optional: "name", \.source.name, .title, "a name to display"),
            Field(
                "type", \.kind, .choice,
                "rtmp: a publisher (over RTMP, RTMPS, SRT or WHIP); file: a media file; rtmp-pull, srt-pull: a stream that this worker pulls over RTMP or SRT"
            ),
            Field(
                optional: "streamKey", \.streamKey, .streamKey,
                "for type rtmp: stream key that the publisher must present; unique"),
            Field(
                "streamKeys", \.streamKeys, .list(of: .streamKey, 0...8, standIn: ""),
                "several accepted stream keys instead, so that a new key can be distributed before the old one is removed",
                derived: true),
            Field(
                optional: "streamKeyEnv", \.streamKeyEnv, .variable,
                "environment variable that holds the stream key instead; each line is an accepted key"),
            Field(
                optional: "streamKeyFile", \.streamKeyFile, .path,
                "file that holds the stream key instead; each line is an accepted key; read again when it changes"),
            Field(
                optional: "path", \.path, .path,
                "for type file: path of the media file, relative to the working directory"),
            Field("loop", \.loop, .boolean, "for type file: whether the file starts again at its end"),
            Field(
                optional: "url", \.url, .pullURL,
                "for type rtmp-pull: rtmp://host[:port]/app/name to play; for type srt-pull: srt://host:port?streamid=… to "
                    + "call; its host must be in ingest.pull.allowedHosts"),
            Field(
                optional: "urlEnv", \.urlEnv, .variable,
                "for types rtmp-pull and srt-pull: environment variable that holds the URL instead"),
            Field("volume", \.source.volume, .integer(0...200), "gain of its audio in percent"),
            Field(
                "background", \.source.background, .boolean,
                "whether its audio is heard in every scene, also without a pane, as background music is; layout auto leaves it out, and it never counts as speaking"
            ),
            Field(
                "fadeMs", \.source.fadeMs, .integer(0...30_000),
                "milliseconds in which its audio fades in when it begins to be heard, and out when it is removed or no longer heard; 0: audio.rampMs"
            ),
            Field(
                "jitterBufferMs", \.source.jitterBufferMs, .integer(0...5000),
                "length of the jitter buffer in milliseconds; at least 80 for a publisher"),
            Field(
                "maxJitterBufferMs", \.source.maxJitterBufferMs, .integer(0...5000),
                "maximum length that the jitter buffer may grow to on a bad network, in milliseconds"),
            Field(
                "maxDriftPpm", \.source.maxDriftPpm, .integer(0...1000),
                "maximum clock drift in parts per million that is corrected gradually; with more drift, the source is re-anchored"
            ),
            Field(
                "stallMs", \.source.stallMs, .integer(100...60_000),
                "milliseconds without a packet after which the source counts as stalled; at least 3000 with expected.variableFrameRate"
            ),
            Field(
                "offsetMs", \.source.offsetMs, .integer(-10_000...10_000),
                "shift of its tracks in milliseconds; positive means later; a negative shift must leave 80 ms of its jitter buffer"
            ),
            Field(
                "wallClock", \.source.wallClock, .choice,
                "wall-clock timestamps in its stream (SEI, onFI): use them to synchronize it with other sources that have them, or ignore them"
            ),
            Field(
                "metadata", \.source.metadata, .boolean,
                "whether its publisher's onTextData and onCuePoint messages are forwarded to viewers, at most ten per second, in the same way as metadata of POST /v1/metadata, with type source"
            ),
            Field(
                "rotation", \.source.rotation, .rotation,
                "clockwise rotation of its video in degrees: 0, 90, 180 or 270"),
            Field(
                "onNoVideo", \.source.onNoVideo, .choice,
                "what its pane shows until its first video frame, for example while it sends only audio: placeholder: its image or card; leavePane: the pane is removed"
            ),
            Field(
                optional: "expected", \.source.expected, .object(Pipeline.Expected.rule),
                "what the publisher should send; alarms compare its frame rate and video bit rate with it; without it, they compare the frame rate with the best that the publication has reached"
            ),
            Field(
                "onLost", \.source.onLost, .object(Pipeline.OnLost.rule),
                "what happens when its publisher is lost"),
            Field(
                "audioTracks", \.source.audioTracks,
                .list(of: .object(Pipeline.AudioTrack.rule), 0...4, standIn: Pipeline.AudioTrack()),
                "volumes of its audio tracks if it sends several (app and microphone); tracks that are not listed keep their volume"
            ),
            Field(
                "audio", \.source.audio, .object(Pipeline.SourceAudio.rule),
                "what is done with its audio before it is mixed"),
            Field("decode", \.source.decode, .object(Pipeline.Decode.rule), "how it is decoded"),
            Field(
                "relays", \.source.relays,
                .list(
                    of: .object(RelayDraft.rule, finish: RelayDraft.finished), 0...4,
                    standIn: Pipeline.Relay(relayID: "", url: .inline(""))),
                "other rooms that receive its packets from the start; the control API can add more (not for file)"),
            Field(
                "record", \.source.record, .sourceRecord,
                "its own recording, as its publisher sends it: true, or an object with settings (not for file)"),
        ], keywords: [JSONMember("if", isType("file")), JSONMember("then", needs(["path"])), JSONMember("else", other)])

    private static let other: JSONNode = .object([
        JSONMember("if", .object([JSONMember("anyOf", .array([isType("rtmp-pull"), isType("srt-pull")]))])),
        JSONMember("then", .object([needsURL])), JSONMember("else", needsKey),
    ])

    private static func isType(_ word: String) -> JSONNode {
        .object([
            JSONMember("properties", .object([JSONMember("type", .object([JSONMember("const", .string(word))]))])),
            JSONMember("required", .array(["type"])),
        ])
    }

    /// Schema keywords: at most one of the members for a stream key. ``PipelineRules`` checks that there is one unless
    /// keys are signed or a webhook decides.
    private static let needsKey: JSONNode = .object([
        JSONMember(
            "oneOf",
            .array(
                keyWords.map { needs([$0]) } + [
                    .object([
                        JSONMember("not", .object([JSONMember("anyOf", .array(keyWords.map { needs([$0]) }))]))
                    ])
                ]))
    ])

    private static func needs(_ keys: [String]) -> JSONNode {
        .object([JSONMember("required", .array(keys.map { .string($0) }))])
    }

    static func finished(_ draft: SourceDraft, _ path: String, _ log: inout SpecLog) -> Pipeline.Source {
        var source = draft.source
        // An invalid type is already reported, and without the type it is unknown which keys are allowed.
        guard log.isValid("\(path).type") else { return source }
        self.checkRecord(of: source, path, &log)
        self.checkAudio(of: source, path, &log)
        let keys = self.keyWords.filter { log.isWritten("\(path).\($0)") }
        switch draft.kind {
        case .rtmp:
            for key in keys.dropFirst() {
                log.mistake("\(path).\(key)", "cannot be combined with \(keys[0])", fix: "remove one of them")
            }
            for key in self.fileWords where log.isWritten("\(path).\(key)") {
                log.mistake(
                    "\(path).\(key)", "applies only to file sources", fix: "remove it, or add \"type\": \"file\"")
            }
            self.refuse(
                self.urlWords, "applies only to rtmp-pull and srt-pull sources", "add \"type\": \"rtmp-pull\"", path,
                &log)
            source.input = .rtmp(streamKeys: draft.secrets)
        case .file:
            if !log.isWritten("\(path).path") {
                log.mistake("\(path).path", "is missing", fix: "add \"path\": the media file")
            }
            for key in keys {
                log.mistake(
                    "\(path).\(key)", "applies only to rtmp sources", fix: "remove it, or remove \"type\": \"file\"")
            }
            self.refuse(self.urlWords, "applies only to rtmp-pull and srt-pull sources", "use \"path\"", path, &log)
            self.refuse(["relays"], "applies only to rtmp and pull sources", "publish the file there", path, &log)
            self.refuse(["record"], "applies only to rtmp and pull sources", "copy the file", path, &log)
            source.input = .file(path: draft.path ?? "", loop: draft.loop)
        case .pull:
            self.checkURL(path, &log)
            self.checkScheme(draft, path, &log)
            self.refuse(keys, "applies only to rtmp sources", "remove \"type\": \"rtmp-pull\"", path, &log)
            self.refuse(self.fileWords, "applies only to file sources", "add \"type\": \"file\"", path, &log)
            source.input = .pull(url: draft.urlEnv.map { .env($0) } ?? .inline(draft.url ?? ""))
        case .srtPull:
            self.checkURL(path, &log, form: "srt://host:port")
            self.checkScheme(draft, path, &log)
            self.refuse(keys, "applies only to rtmp sources", "remove \"type\": \"srt-pull\"", path, &log)
            self.refuse(self.fileWords, "applies only to file sources", "add \"type\": \"file\"", path, &log)
            source.input = .srtPull(url: draft.urlEnv.map { .env($0) } ?? .inline(draft.url ?? ""))
        }
        return source
    }

    /// Reports a mistake for each of the keys that the document contains.
    private static func refuse(
        _ keys: [String], _ what: String, _ otherwise: String, _ path: String, _ log: inout SpecLog
    ) {
        for key in keys where log.isWritten("\(path).\(key)") {
            log.mistake("\(path).\(key)", what, fix: "remove it, or \(otherwise)")
        }
    }

    private var secrets: [Secret] {
        if let name = self.streamKeyEnv { return [.env(name)] }
        if let path = self.streamKeyFile { return [.file(path)] }
        return (self.streamKeys + (self.streamKey.map { [$0] } ?? [])).map { .inline($0) }
    }
}

extension Pipeline.Expected {
    static let rule = ObjectRule(
        "what a publisher should send", Pipeline.Expected(),
        [
            Field("width", \.width, .integer(16...8192), "width in pixels"),
            Field("height", \.height, .integer(16...8192), "height in pixels"),
            Field(
                "fps", \.fps, .frameRate(1...240, note: "alarms compare the measured rate with it"), "frames per second"
            ),
            Field("variableFrameRate", \.variableFrameRate, .boolean, "whether a static screen may send no frames"),
            Field("videoBitrate", \.videoBitrate, .integer(1000...100_000_000), "video bit rate in bit/s"),
            Field("keyFrameIntervalSeconds", \.keyFrameIntervalSeconds, .integer(1...60), "seconds between key frames"),
            Field("audioSampleRate", \.audioSampleRate, .integer(8000...96_000), "samples per second"),
            Field("audioBitrate", \.audioBitrate, .integer(1000...1_000_000), "audio bit rate in bit/s"),
        ])
}

extension Pipeline.OnLost {
    static let rule = ObjectRule(
        "what the scene does when the source's publisher is lost or sends nothing", Pipeline.OnLost(),
        [
            Field(
                optional: "holdMs", \.holdMs, .integer(0...600_000),
                "milliseconds that the last frame stays; default 2000, or 1000 with then: fallbackScene"),
            Field(
                optional: "stalledHoldMs", \.stalledHoldMs, .integer(0...600_000),
                "milliseconds that the last frame stays if the publisher is connected and sends nothing; default holdMs, or no limit with expected.variableFrameRate"
            ),
            Field(
                optional: "placeholderImage", \.placeholderImage, .imagePath,
                "path of the image shown after that, relative to the working directory; default a card with the source's name"
            ),
            Field(
                "then", \.then, .choice,
                "what happens after holdMs, until the source is back: the pane shows the placeholder, the pane is removed, or fallbackScene goes on air"
            ),
            Field(
                "fallbackScene", \.fallbackScene, .nullable(.id),
                "sceneId for then: fallbackScene; used if the scene on air shows the source"),
        ])
}

extension Pipeline.Decode {
    static let rule = ObjectRule(
        "how a source is decoded", Pipeline.Decode(),
        [
            Field(
                "threads", \.threads, .integer(1...16),
                "decoder threads, which decode the slices of a frame in parallel; no effect on video with one slice per frame"
            ),
            Field(
                "damaged", \.damaged, .choice,
                "damaged frames: show them with concealed errors, or hold the last good frame until the next key frame"
            ),
            Field(
                "codecs", \.codecs, .list(of: .choice, 0...32, standIn: .h264),
                "codecs that its publisher may send, instead of those in ingest.codecs"),
        ])
}
