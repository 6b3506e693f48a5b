import MediaTypes

/// A source as its object is read: the parts of its input are put together once all keys are known.
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
        "a publisher or a file", SourceDraft(),
        [
            Field(required: "uid", \.source.id.uid, .uid, "the user's id, a string or an integer"),
            Field(
                "streamType", \.source.id.streamType, .choice, "which of the user's streams: camera or shared screen"),
            Field(optional: "name", \.source.name, .title, "a name for people"),
            Field(
                "type", \.kind, .choice,
                "a publisher (over RTMP, RTMPS or SRT), a media file, or a stream this worker fetches over RTMP or SRT"),
            Field(optional: "streamKey", \.streamKey, .streamKey, "what the publisher must present (rtmp); unique"),
            Field(
                "streamKeys", \.streamKeys, .list(of: .streamKey, 0...8, standIn: ""),
                "several instead, each accepted, so that a new one can be given out before the old one goes"),
            Field(
                optional: "streamKeyEnv", \.streamKeyEnv, .variable,
                "environment variable that holds the stream key instead; several lines: several keys"),
            Field(
                optional: "streamKeyFile", \.streamKeyFile, .path,
                "file that holds the stream key instead, or several, one a line; read again at SIGHUP"),
            Field(optional: "path", \.path, .path, "the media file (file), relative to the working directory"),
            Field("loop", \.loop, .boolean, "start the file again at its end (file)"),
            Field(
                optional: "url", \.url, .pullURL,
                "rtmp://host[:port]/app/name to play (rtmp-pull), srt://host:port?streamid=… to call (srt-pull); its host "
                    + "must be in ingest.pull.allowedHosts"),
            Field(
                optional: "urlEnv", \.urlEnv, .variable,
                "environment variable that holds the URL instead (rtmp-pull, srt-pull)"),
            Field("volume", \.source.volume, .integer(0...200), "gain of its sound in percent"),
            Field(
                "jitterBufferMs", \.source.jitterBufferMs, .integer(0...5000),
                "milliseconds packets are kept before they are due; a publisher's at least 80"),
            Field(
                "maxJitterBufferMs", \.source.maxJitterBufferMs, .integer(0...5000),
                "milliseconds to which a bad network may make the jitter buffer grow"),
            Field(
                "maxDriftPpm", \.source.maxDriftPpm, .integer(0...1000),
                "parts per million its clock may be off by and is followed softly; beyond, the source is re-anchored"),
            Field(
                "stallMs", \.source.stallMs, .integer(100...60_000),
                "milliseconds without a packet until it counts as stalled"),
            Field(
                "offsetMs", \.source.offsetMs, .integer(-10_000...10_000),
                "milliseconds its tracks are shifted; positive is later; earlier as far as its jitter buffer keeps 80"),
            Field(
                "wallClock", \.source.wallClock, .choice,
                "times of day in its stream (SEI, onFI): show it together with other sources that have them, or ignore them"
            ),
            Field(
                "metadata", \.source.metadata, .boolean,
                "whether its publisher's onTextData and onCuePoint go to viewers, ten a second at most, as POST /v1/metadata's events "
                    + "of type source do"),
            Field(
                "rotation", \.source.rotation, .rotation,
                "degrees its pictures are turned clockwise: 0, 90, 180 or 270"),
            Field(
                "onNoVideo", \.source.onNoVideo, .choice,
                "what its pane shows while it sends sound but no pictures: its card, or nothing"),
            Field(
                optional: "expected", \.source.expected, .object(Pipeline.Expected.rule),
                "what the publisher should send: what alarms are measured by; without it, by the best it has sent"),
            Field(
                "onLost", \.source.onLost, .object(Pipeline.OnLost.rule),
                "what becomes of it when its publisher is gone"),
            Field(
                "audioTracks", \.source.audioTracks,
                .list(of: .object(Pipeline.AudioTrack.rule), 0...4, standIn: Pipeline.AudioTrack()),
                "volumes of its audio tracks, where it sends several (app and microphone); others are heard as sent"),
            Field("decode", \.source.decode, .object(Pipeline.Decode.rule), "how it is decoded"),
            Field(
                "relays", \.source.relays,
                .list(
                    of: .object(RelayDraft.rule, finish: RelayDraft.finished), 0...4,
                    standIn: Pipeline.Relay(relayID: "", url: .inline(""))),
                "other rooms its packets go to from the begin; more by control (all but file)"),
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

    /// One of them, or none where keys are signed or a webhook decides.
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
        // An unknown type is a mistake already; what belongs to it cannot be told.
        guard log.isSound("\(path).type") else { return source }
        let keys = self.keyWords.filter { log.isWritten("\(path).\($0)") }
        switch draft.kind {
        case .rtmp:
            for key in keys.dropFirst() {
                log.mistake("\(path).\(key)", "stands beside \(keys[0])", fix: "keep one of them")
            }
            for key in self.fileWords where log.isWritten("\(path).\(key)") {
                log.mistake("\(path).\(key)", "belongs to file sources", fix: "remove it, or add \"type\": \"file\"")
            }
            self.refuse(self.urlWords, "belongs to rtmp-pull sources", "add \"type\": \"rtmp-pull\"", path, &log)
            source.input = .rtmp(streamKeys: draft.secrets)
        case .file:
            if !log.isWritten("\(path).path") {
                log.mistake("\(path).path", "is missing", fix: "add \"path\": the media file")
            }
            for key in keys {
                log.mistake("\(path).\(key)", "belongs to rtmp sources", fix: "remove it, or remove \"type\": \"file\"")
            }
            self.refuse(self.urlWords, "belongs to rtmp-pull sources", "use \"path\"", path, &log)
            self.refuse(["relays"], "belongs to rtmp and rtmp-pull sources", "publish the file there", path, &log)
            source.input = .file(path: draft.path ?? "", loop: draft.loop)
        case .pull:
            self.checkURL(path, &log)
            self.checkScheme(draft, path, &log)
            self.refuse(keys, "belongs to rtmp sources", "remove \"type\": \"rtmp-pull\"", path, &log)
            self.refuse(self.fileWords, "belongs to file sources", "add \"type\": \"file\"", path, &log)
            source.input = .pull(url: draft.urlEnv.map { .env($0) } ?? .inline(draft.url ?? ""))
        case .srtPull:
            self.checkURL(path, &log)
            self.checkScheme(draft, path, &log)
            self.refuse(keys, "belongs to rtmp sources", "remove \"type\": \"srt-pull\"", path, &log)
            self.refuse(self.fileWords, "belongs to file sources", "add \"type\": \"file\"", path, &log)
            source.input = .srtPull(url: draft.urlEnv.map { .env($0) } ?? .inline(draft.url ?? ""))
        }
        return source
    }

    /// A mistake for each of the keys that is written.
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
            Field("fps", \.fps, .integer(1...240), "pictures per second"),
            Field("variableFrameRate", \.variableFrameRate, .boolean, "whether a still screen may send no pictures"),
            Field("videoBitrate", \.videoBitrate, .integer(1000...100_000_000), "bit/s"),
            Field("keyFrameIntervalSeconds", \.keyFrameIntervalSeconds, .integer(1...60), "seconds between key frames"),
            Field("audioSampleRate", \.audioSampleRate, .integer(8000...96_000), "samples per second"),
            Field("audioBitrate", \.audioBitrate, .integer(1000...1_000_000), "bit/s"),
        ])
}

extension Pipeline.OnLost {
    static let rule = ObjectRule(
        "what becomes of the scene when its publisher is gone or sends nothing", Pipeline.OnLost(),
        [
            Field(
                optional: "holdMs", \.holdMs, .integer(0...600_000),
                "milliseconds its last picture stays; without it 2000, or 1000 with then: fallbackScene"),
            Field(
                optional: "stalledHoldMs", \.stalledHoldMs, .integer(0...600_000),
                "milliseconds the last picture stays of a publisher that is connected and sends nothing; without it holdMs, or no "
                    + "limit with expected.variableFrameRate"),
            Field(
                optional: "placeholderImage", \.placeholderImage, .imagePath,
                "image shown after that, relative to the working directory; without one a card with its name"),
            Field(
                "then", \.then, .choice,
                "when its last picture was held: the pane shows the placeholder, or leaves, or fallbackScene is on air, "
                    + "until the source is back"),
            Field(
                "fallbackScene", \.fallbackScene, .nullable(.name(64, marks: "_.-")),
                "sceneId, for then: fallbackScene; taken if the scene on air shows the source"),
        ])
}

extension Pipeline.Decode {
    static let rule = ObjectRule(
        "how a source is decoded", Pipeline.Decode(),
        [
            Field(
                "threads", \.threads, .integer(1...16), "decoder threads; each beyond the first adds a picture of delay"
            ),
            Field(
                "damaged", \.damaged, .choice,
                "pictures that arrived damaged: show them mended, or hold the last good one until the next key picture"
            ),
            Field(
                "codecs", \.codecs, .list(of: .choice, 0...32, standIn: .h264),
                "what its publisher may send instead of what ingest.codecs lists"),
        ])
}
