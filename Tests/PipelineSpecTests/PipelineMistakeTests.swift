import PipelineSpec
import Testing

@Suite("The pipeline file: all errors at once, with location and remedy")
struct PipelineMistakeTests {
    /// Replaces `old` in the valid room by `new`, in which `^` marks where the error must be reported.
    struct Case: Sendable, CustomTestStringConvertible {
        let old: String
        let new: String
        let path: String
        let what: String
        let fix: String
        var testDescription: String { "\(self.path): \(self.what)" }

        init(_ old: String, _ new: String, _ path: String, _ what: String, _ fix: String) {
            (self.old, self.new, self.path, self.what, self.fix) = (old, new, path, what, fix)
        }
    }

    static let pane = #"{ "uid": "1001", "width": 640, "height": 720 }"#
    static let rendition = #""width": 1280, "height": 720, "video""#
    static let output = #"{ "path": "out" }"#

    static let structure: [Case] = [
        Case(
            #""canvas": {"#, #"^"canvsa": {"#, "canvsa", #"unknown key "canvsa""#, #"did you mean "canvas"?"#),
        Case(
            #""fps": 30"#, #"^"frames": 30"#, "canvas.frames", #"unknown key "frames""#,
            "remove it; known here: width, height, fps, backgroundColor, policy, bgImages, fonts"),
        Case(
            #""fps": 30"#, #"^"a b": 30"#, #"canvas["a b"]"#, #"unknown key "a b""#,
            "remove it; known here: width, height, fps, backgroundColor, policy, bgImages, fonts"),
        Case(
            #""fps": 30"#, #""fps": ^"30""#, "canvas.fps", "is a string, not an integer",
            "write an integer from 1 to 60"),
        Case(
            #""fps": 30"#, #""fps": ^29.97"#, "canvas.fps", "29.97 is not a whole number",
            "write 30: whole numbers from 1 to 60 are possible; publishers may send other rates, such as 29.97"),
        Case(
            #""fps": 30"#, #""fps": ^0.2"#, "canvas.fps", "is a number with a fraction, not an integer",
            "write an integer from 1 to 60"),
        Case(#""fps": 30"#, #""fps": ^61"#, "canvas.fps", "61 is out of range", "write an integer from 1 to 60"),
        Case(
            #""fps": 30"#, #""fps": 30, "backgroundColor": ^"red""#, "canvas.backgroundColor", #""red" is not a color"#,
            "write \"#RRGGBB\", or the integer R*65536 + G*256 + B"),
        Case(
            #"{ "width": 1280, "height": 720, "fps": 30 }"#, "^[]", "canvas", "is an array, not an object",
            "write { … }: the frame that all sources are composed into"),
        Case(
            #"{ "roomId": "88231" }"#, "^{}", "room.roomId", "is missing",
            #"add "roomId": the room's id: 1 to 64 letters, digits, _ . or -"#),
        Case(
            #""88231""#, #"^"a/b""#, "room.roomId", #""a/b" is not valid"#,
            "write 1 to 64 letters, digits or any of _.-"),
        Case(
            #""88231""#, #"^"..""#, "room.roomId", #"".." would name another directory in a path"#,
            "add a letter or a digit"),
        Case(
            #""88231""#, "^88231", "room.roomId", "is an integer, not a string",
            "write 1 to 64 letters, digits or any of _.-"),
        Case(
            #""room": {"#, #""alarms": { "gapMs": ^[50, 800, 300] }, "room": {"#, "alarms.gapMs",
            "alert 1, 2 and 3 are out of order", "write rising numbers, alert 1 first"),
        Case(
            #""room": {"#, #""alarms": { "gapMs": ^[50, 800] }, "room": {"#, "alarms.gapMs", "has 2 elements",
            "write 3 elements"),
        Case(
            #""room": {"#, #""alarms": { "fpsPercent": ^[50, 75, 90] }, "room": {"#, "alarms.fpsPercent",
            "alert 1, 2 and 3 are out of order", "write falling numbers, alert 1 first"),
        Case(
            #""room": {"#, #""clock": ^"ofline", "room": {"#, "clock", #""ofline" is not allowed here"#,
            #"did you mean "offline"?"#),
        Case(
            #""room": {"#, #""apiVersion": ^"tandem/v2", "room": {"#, "apiVersion", #""tandem/v2" is not allowed here"#,
            #"write "tandem/v1", or remove the key"#),
        Case(
            #""room": {"#, #""durationSeconds": ^0, "room": {"#, "durationSeconds", "0 is out of range",
            "write a number of seconds from 0.001 to 2,592,000"),
        Case(
            #""room": {"#, #""audio": {"ducking": {"uids": ["1001", ^"2020"]}}, "room": {"#, "audio.ducking.uids[1]",
            #"there is no source with uid "2020""#, #"did you mean "2002"?"#),
        Case(
            #""room": {"#, #""audio": {"sampleRate": ^44100}, "room": {"#, "audio.sampleRate", "44100 is out of range",
            "write 48000, or remove the key"),
        Case(#""room": {"#, #""ext": ^[], "room": {"#, "ext", "is an array, not an object", "write { … }"),
        Case(
            #""room": {"#, #""ingest": {"rtmp": {"listen": ^"unix:/x"}}, "room": {"#, "ingest.rtmp.listen",
            #""unix:/x" is not an address to listen on"#, "write host:port, port 0 for any free port"),
        Case(
            #""room": {"#, #""limits": {"maxSources": 1}, "room": {"#, "sources",
            "has 2 elements, and limits.maxSources is 1", "remove some, or raise limits.maxSources"),
        Case(
            #""fps": 30"#, #""fps": 30, ^"fps": 30"#, "canvas.fps", "duplicate key, first on line 8, column 45",
            "keep one of the two"),
    ]

    /// A misspelt key is one mistake, also if the right key is required, or if the value has further consequences.
    static let misspelt: [Case] = [
        Case(#""room": {"#, #"^"rooom": {"#, "rooom", #"unknown key "rooom""#, #"did you mean "room"?"#),
        Case(#""scenes": ["#, #"^"scnes": ["#, "scnes", #"unknown key "scnes""#, #"did you mean "scenes"?"#),
        Case(#""outputs": ["#, #"^"outpust": ["#, "outpust", #"unknown key "outpust""#, #"did you mean "outputs"?"#),
        Case(
            #""roomId": "88231""#, #"^"roomID": "88231""#, "room.roomID", #"unknown key "roomID""#,
            #"did you mean "roomId"?"#),
        Case(
            #""uid": "2002", "streamKey""#, #""uid": "2002", ^"stream_key""#, "sources[1].stream_key",
            #"unknown key "stream_key""#, #"did you mean "streamKey"?"#),
        Case(
            #"{ "uid": "2002", "streamKey""#, #"{ ^"uuid": "2002", "streamKey""#, "sources[1].uuid",
            #"unknown key "uuid""#, #"did you mean "uid"?"#),
        Case(
            Self.rendition, #"^"widht": 1280, "height": 720, "video""#, "renditions[0].widht", #"unknown key "widht""#,
            #"did you mean "width"?"#),
        Case(
            #""layout": "solo", "uids""#, #""layout": "solo", ^"uid""#, "scenes[0].uid", #"unknown key "uid""#,
            #"did you mean "uids"?"#),
        Case(
            #""sceneId": "solo", "layout""#, #""sceneId": "solo", ^"layuot""#, "scenes[0].layuot",
            #"unknown key "layuot""#, #"did you mean "layout"?"#),
        Case(
            Self.output, #"{ "path": "out" }, { ^"tpye": "record", "path": "rec" }"#, "outputs[1].tpye",
            #"unknown key "tpye""#, #"did you mean "type"?"#),
        Case(
            #""fps": 30"#, #"^"fpss": "fast""#, "canvas.fpss", #"unknown key "fpss""#, #"did you mean "fps"?"#),
        Case(
            #""bitrate": 2500000"#, #"^"bitrat": 2500"#, "renditions[0].video.bitrat", #"unknown key "bitrat""#,
            #"did you mean "bitrate"?"#),
    ]

    static let sources: [Case] = [
        Case(
            #""uid": "2002", "streamKey""#, #""uid": "2002", "volume": ^201, "streamKey""#, "sources[1].volume",
            "201 is out of range", "write an integer from 0 to 200"),
        Case(
            #"{ "uid": "2002", "streamKey": "hunter2b" }"#, #"^{ "uid": "2002" }"#, "sources[1].streamKey",
            "is missing", #"add "streamKey", "streamKeyEnv" or "streamKeyFile": what the publisher must present"#),
        Case(
            #""streamKey": "hunter2b""#, #""streamKey": "hunter2b", "streamKeyEnv": ^"K""#, "sources[1].streamKeyEnv",
            "cannot be combined with streamKey", "remove one of them"),
        Case(
            #""streamKey": "hunter2b""#, #""streamKey": ^"hunter2a""#, "sources[1].streamKey",
            "is the same as that of sources[0]", "give each source a stream key of its own"),
        Case(
            #""streamKey": "hunter2b""#, #""streamKey": ^"hunter2b/x""#, "sources[1].streamKey",
            "the text is not valid", "write 1 to 256 printable ASCII characters without space, /, ?, # and &"),
        Case(
            #""streamKey": "hunter2b""#, #""streamKey": "hunter2b", "loop": ^true"#, "sources[1].loop",
            "applies only to file sources", #"remove it, or add "type": "file""#),
        Case(
            #""streamKey": "hunter2b""#, #""type": "file", "path": "x", "streamKey": ^"hunter2b""#,
            "sources[1].streamKey", "applies only to rtmp sources", #"remove it, or remove "type": "file""#),
        Case(
            #"{ "uid": "2002", "streamKey": "hunter2b" }"#, #"^{ "uid": "2002", "type": "file" }"#, "sources[1].path",
            "is missing", #"add "path": the media file"#),
        Case(
            #"{ "uid": "2002", "streamKey": "hunter2b" }"#,
            #"{ "uid": "2002", "streamKey": "hunter2b" }, { "uid": ^2002, "streamKey": "c" }"#, "sources[2].uid",
            #""2002" with streamType main is already used by sources[1]"#,
            #"use another uid, or "streamType": "sub" for a second stream of that user"#),
        Case(
            #"{ "uid": "2002", "streamKey": "hunter2b" }"#,
            #"{ "uid": "2002", "streamKey": "hunter2b" }, { "uid": ^18446744073709551615, "streamKey": "c" }"#,
            "sources[2].uid", "is a number too large to be exact, not a user id",
            "write 1 to 128 bytes in quotes, or an integer"),
    ]

    static let secrets: [Case] = [
        Case(
            #""streamKey": "hunter2b""#, #""streamKeyEnv": ^"MY KEY""#, "sources[1].streamKeyEnv",
            "the text is not valid",
            "write letters, digits and _, not beginning with a digit"),
        Case(
            #""streamKey": "hunter2b""#, #""streamKey": ^[1]"#, "sources[1].streamKey", "is an array, not a string",
            "write 1 to 256 printable ASCII characters without space, /, ?, # and &"),
    ]

    static let scenes: [Case] = [
        Case(
            #""sceneId": "pk""#, #""sceneId": ^"solo""#, "scenes[1].sceneId", #""solo" is already used by scenes[0]"#,
            "use another id"),
        Case(
            #"["1001"]"#, #"[^"1002"]"#, "scenes[0].uids[0]", #"there is no source with uid "1002""#,
            #"did you mean "1001"?"#),
        Case(
            #"["1001"]"#, #"[^"zz"]"#, "scenes[0].uids[0]", #"there is no source with uid "zz""#,
            #"use "1001" or "2002""#),
        Case(
            #"["1001"]"#, #"^["1001", "2002"]"#, "scenes[0].uids", "solo takes 1 user, but 2 are given",
            "name 1, or use sideBySide"),
        Case(#"["1001"]"#, "^[]", "scenes[0].uids", "has 0 elements", "add at least 1"),
        Case(
            #""layout": "solo", "uids": ["1001"]"#, #""layout": "grid", "uids": ["1001", ^"1001"]"#,
            "scenes[0].uids[1]", #""1001" is listed twice"#, "name each user once"),
        Case(
            #""layout": "solo", "uids": ["1001"]"#, #""layout": ^"side", "uids": ["1001"]"#, "scenes[0].layout",
            #""side" is not allowed here"#,
            #"write "solo", "sideBySide", "topBottom", "pip", "grid", "hostAndGuests" or "auto""#),
        Case(
            #"{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }"#, #"^{ "sceneId": "solo", "layout": "solo" }"#,
            "scenes[0].uids", "is missing", #"add "uids": the users the layout shows"#),
        Case(
            #"{ "sceneId": "solo", "layout": "solo", "uids": ["1001"] }"#, #"^{ "sceneId": "solo" }"#,
            "scenes[0].panes", "is missing, and there is no layout either",
            #"write either "layout" with "uids", or "panes""#),
        Case(
            #""sceneId": "pk","#, #""sceneId": "pk", "layout": ^"solo","#, "scenes[1].layout",
            "cannot be combined with panes",
            #"write either "layout" with "uids", or "panes""#),
        Case(
            Self.pane, #"{ "uid": "1001", "width": ^1282, "height": 720 }"#, "scenes[1].panes[0].width",
            "the pane ends at x = 1282, outside the canvas of 1280x720", "lower width to 1280, or x"),
        Case(
            Self.pane, #"{ "uid": "1001", "y": 100, "width": 640, "height": ^720 }"#, "scenes[1].panes[0].height",
            "the pane ends at y = 820, outside the canvas of 1280x720", "lower height to 620, or y"),
        Case(
            Self.pane, #"{ "uid": "1001", "x": ^1280, "width": 640, "height": 720 }"#, "scenes[1].panes[0].x",
            "the pane ends at x = 1920, outside the canvas of 1280x720", "lower x below 1280, the canvas's width"),
        Case(
            Self.pane, #"{ "uid": "1001", "width": 640, "height": 720, "zOrder": ^101 }"#, "scenes[1].panes[0].zOrder",
            "101 is out of range", "write an integer from 0 to 100"),
        Case(
            Self.pane, #"{ "uid": "1001", "width": 640, "height": 720, "streamType": ^"sub" }"#,
            "scenes[1].panes[0].streamType", #"uid "1001" has no sub stream, only main"#,
            #"add that source, or use a pane with "streamType": "main""#),
        Case(
            #"{ "uid": "2002", "x": 640"#, #"{ "uid": ^"1001", "x": 640"#, "scenes[1].panes[1].uid",
            "1001 already has pane [0]", "show each source once in a scene"),
        Case(
            #""sceneId": "solo","#, #""sceneId": "solo", "audioOverrides": [{"uid": ^"3", "volume": 1}],"#,
            "scenes[0].audioOverrides[0].uid", #"there is no source with uid "3""#, #"use "1001" or "2002""#),
        Case(
            #""sceneId": "solo","#, #""sceneId": "solo", "audioOverrides": [^{"uid": "1001"}],"#,
            "scenes[0].audioOverrides[0].volume", "is missing", #"add "volume": gain in percent"#),
        Case(
            #""room": {"#, #""program": {"scene": ^"sollo"}, "room": {"#, "program.scene",
            #"unknown scene "sollo""#, #"did you mean "solo"?"#),
    ]

    static let outputs: [Case] = [
        Case(
            #""bitrate": 2500000"#, #""bitrate": ^2500"#, "renditions[0].video.bitrate", "2500 is out of range",
            "did you mean 2500000? It is a number of bits, not of kilobits"),
        Case(
            #""bitrate": 2500000"#, #""bitrate": ^12"#, "renditions[0].video.bitrate", "12 is out of range",
            "write an integer from 50,000 to 50,000,000"),
        Case(
            #""room": {"#, #""audio": {"bitrate": ^128}, "room": {"#, "audio.bitrate", "128 is out of range",
            "did you mean 128000? It is a number of bits, not of kilobits"),
        Case(
            Self.rendition, #""width": 1280, "height": ^722, "video""#, "renditions[0].height",
            "1280x722 is larger than the canvas, 1280x720", "use at most the canvas's size, or enlarge the canvas"),
        Case(
            Self.rendition, #""width": 640, "height": ^640, "video""#, "renditions[0].height",
            "640x640 has another aspect ratio than the canvas, 1280x720", "use 640x360 or 1138x640"),
        Case(
            Self.rendition, #""width": 640, "height": ^361, "video""#, "renditions[0].height", "361 is odd",
            "use an even number: 360 or 362"),
        Case(
            Self.rendition, #""width": 1280, "height": 720, "fps": ^25, "video""#, "renditions[0].fps",
            "25 is neither the canvas's 30 nor half of it", "write 30 or 15, or remove the key"),
        Case(
            #""bitrate": 2500000"#, #""bitrate": 2500000, "maxBitrate": ^2000000"#, "renditions[0].video.maxBitrate",
            "2,000,000 is below the bitrate, 2,500,000",
            "write at least 2500000, or remove it for the default of 2750000"),
        Case(
            #""bitrate": 2500000"#, #""bitrate": 2500000, "profile": "baseline", "bFrames": ^1"#,
            "renditions[0].video.bFrames", "the baseline profile has no B-frames", "write 0, or use the main profile"),
        Case(
            #""bitrate": 2500000"#, #""bitrate": 2500000, "preset": ^"veryfats""#, "renditions[0].video.preset",
            #""veryfats" is not allowed here"#, #"did you mean "veryfast"?"#),
        Case(
            #"} } ],"#, #"} }, { "name": ^"720p", "width": 640, "height": 360 } ],"#, "renditions[1].name",
            #""720p" is already used by renditions[0]"#, "use another name"),
        Case(
            Self.output, #"{ "path": "out", "gopFrames": ^40, "partFrames": 16 }"#, "outputs[0].gopFrames",
            "40 frames are not a whole number of parts of 16 frames", #"write 32 or 48, or "partFrames": 20"#),
        Case(
            Self.output, #"{ "path": "out", "windowSeconds": ^5 }"#, "outputs[0].windowSeconds",
            "5 s is less than three target durations of 2 s", "write at least 6, or make segments shorter"),
        Case(
            Self.output, #"{ "path": "out", "windowSeconds": ^604800 }"#, "outputs[0].windowSeconds",
            "604800 is out of range", "write an integer from 3 to 86,400; use a record output to keep older segments"),
        Case(
            Self.output, #"{ "path": "out", "type": ^"dash" }"#, "outputs[0].type", #""dash" is not an output type"#,
            #"write "hls", "raw", "record", "rtmp", "webrtc", "http", "s3" or "image""#),
        Case(
            Self.output, #"{ "path": "out" }, ^{ "outputId": "b", "path": "b" }"#, "outputs[1]",
            "a room can have only one hls output, and outputs[0] is one", "remove one of the two"),
        Case(
            Self.output, #"{ "path": "out", "outputId": "raw" }, ^{ "type": "raw", "path": "b.y4m" }"#,
            "outputs[1].outputId", #""raw" is already used by outputs[0]"#, #"add another "outputId""#),
        Case(
            Self.output, #"{ "path": "out", "type": "raw" }"#.replacing(#""out""#, with: #"^"out""#), "outputs[0].path",
            #""out" is not valid"#, "write a path that ends in .y4m"),
        Case(
            Self.output, #"{ "path": "out", "multivariantPlaylist": ^"../x.m3u8" }"#, "outputs[0].multivariantPlaylist",
            #""../x.m3u8" is not valid"#, "write a file name that ends in .m3u8"),
        Case(
            Self.output, #"{ "path": "out", "multivariantPlaylist": ^".x.m3u8" }"#, "outputs[0].multivariantPlaylist",
            #"".x.m3u8" is not valid"#, "write a file name that ends in .m3u8"),
        Case(
            Self.output, #"{ "path": "out", "multivariantPlaylist": ^"720p.m3u8" }"#, "outputs[0].multivariantPlaylist",
            #""720p.m3u8" is the playlist of a rendition"#, "use another file name"),
        Case(
            Self.output, #"{ "path": "out", "iFramePlaylists": true, "multivariantPlaylist": ^"720p-iframes.m3u8" }"#,
            "outputs[0].multivariantPlaylist", #""720p-iframes.m3u8" is the playlist of a rendition"#,
            "use another file name"),
        Case(
            Self.output,
            #"{ "path": "out" }, { "segmentFormat": "ts", "path": "ts", "multivariantPlaylist": ^"audio.m3u8" }"#,
            "outputs[1].multivariantPlaylist", #""audio.m3u8" is the playlist of a rendition"#, "use another file name"),
        Case(
            Self.output, #"{ "path": "out" }, { "segmentFormat": "ts", "path": ^"./out/" }"#, "outputs[1].path",
            "outputs[0] already writes to this path", "use another path"),
        Case(
            Self.output, #"{ "path": "o", "http": {"allowOrigins": [^"example.com"]} }"#,
            "outputs[0].http.allowOrigins[0]", #""example.com" is not valid"#,
            #"write "*", or an origin such as https://example.com"#),
        Case(
            Self.output, #"{ "path": "o", "http": {"embedOrigins": [^"https://a.example;script-src"]} }"#,
            "outputs[0].http.embedOrigins[0]", #""https://a.example;script-src" is not valid"#,
            #"write "*", or an origin with a host name such as https://example.com or https://*.example.com"#),
        Case(
            Self.output, #"{ "path": "o", "http": {"embedOrigins": ["https://*.a:*", ^"https://a.*.example"]} }"#,
            "outputs[0].http.embedOrigins[1]", #""https://a.*.example" is not valid"#,
            #"write "*", or an origin with a host name such as https://example.com or https://*.example.com"#),
        Case(
            Self.output, #"{ "path": "o", "http": {"embedOrigins": [^"https://[2001:db8::1]:8443"]} }"#,
            "outputs[0].http.embedOrigins[0]", #""https://[2001:db8::1]:8443" is not valid"#,
            #"write "*", or an origin with a host name such as https://example.com or https://*.example.com"#),
        Case(
            Self.output, #"{ "path": "o", "http": {"recordingUrl": ^"vod/88231"} }"#, "outputs[0].http.recordingUrl",
            #""vod/88231" is not valid"#,
            "write an http or https URL of at most 2048 bytes without spaces and quotes"),
        Case(
            Self.output, #"^{}"#, "outputs[0].path", "is missing",
            #"add "path": directory, relative to the working directory"#),
        Case(
            #""listen": "127.0.0.1:0""#, #""listen": ^"0.0.0.0:9000""#, "control.listen",
            "0.0.0.0:9000 can be reached from other machines, but there is no token",
            #"add "tokenEnv" or "tokenFile", or listen on 127.0.0.1 or unix:/path"#),
        Case(
            #""listen": "127.0.0.1:0""#, #""tokenEnv": ^"T", "tokenFile": "/t""#, "control.tokenEnv",
            "cannot be combined with tokenFile", "remove one of the two"),
        Case(
            #""listen": "127.0.0.1:0""#, #""listen": ^"127.0.0.1:1935""#, "control.listen",
            "ingest.rtmp.listen, 0.0.0.0:1935, already uses this port", "use another port"),
        Case(
            #""listen": "127.0.0.1:0""#, #""events": [^{ "type": "webhook" }]"#, "control.events[0].url", "is missing",
            #"add "url" or "urlEnv": the URL that receives the events"#),
        Case(
            #""listen": "127.0.0.1:0""#, #""events": [{ "type": "webhook", "url": "http://h", "urlEnv": ^"U" }]"#,
            "control.events[0].urlEnv", "cannot be combined with url", "remove one of the two"),
        Case(
            #""listen": "127.0.0.1:0""#, #""readTokenEnv": ^"T""#, "control.readTokenEnv",
            "is set without a token for commands", #"add "tokenEnv" or "tokenFile""#),
    ]

    @Test(
        "each mistake in a valid room gives one error with its path, position, what is wrong and what to do",
        arguments: [
            Self.structure, Self.misspelt, Self.sources, Self.secrets, Self.scenes, Self.outputs, SceneMistakes.all,
        ].flatMap { $0 })
    func placeAndRemedy(of example: Case) throws {
        let marked = Documents.room.replacing(example.old, with: example.new)
        try #require(marked != Documents.room, "the room does not contain \(example.old)")
        let text = marked.replacing("^", with: "")
        let report = Pipeline.parse(text)
        #expect(report.pipeline == nil)
        #expect(report.mistakes.count == 1, "\(report.text(file: "f"))")
        let mistake = try #require(report.mistakes.first)
        #expect(mistake.path == example.path)
        #expect(mistake.what == example.what)
        #expect(mistake.fix == example.fix)
        if let mark = marked.firstIndex(of: "^") {
            let lines = marked[..<mark].split(separator: "\n", omittingEmptySubsequences: false)
            #expect(mistake.line == lines.count)
            #expect(mistake.column == (lines.last?.unicodeScalars.count ?? 0) + 1)
        }
        #expect(!report.text(file: "f").contains("hunter2"))
    }

    @Test("mistakes in the parts of a value with a misspelt key are reported as well")
    func inMisspelt() {
        let report = Pipeline.parse(
            Documents.room.replacing(#""scenes": ["#, with: #""scnes": ["#)
                .replacing(#""width": 640, "height": 720 }"#, with: #""width": "x", "height": 720 }"#))
        #expect(
            report.mistakes.map(\.path) == ["scnes", "scenes[1].panes[0].width", "scenes[1].panes[1].width"],
            "\(report.text(file: "f"))")
    }

    @Test("an offline room accepts only files as sources, and a looping file only if the room has a duration")
    func offline() {
        let report = Pipeline.parse(
            Documents.room.replacing(#""streamKey": "hunter2b""#, with: #""type": "file", "path": "b", "loop": true"#),
            overrides: [.init(path: "clock", value: "offline")])
        #expect(report.mistakes.map(\.path) == ["sources[0]", "sources[1].loop"])
        #expect(report.mistakes.map(\.line) == [5, 6])
        let ended = Pipeline.parse(
            Documents.room.replacing(#""streamKey": "hunter2b""#, with: #""type": "file", "path": "b", "loop": true"#),
            overrides: [.init(path: "clock", value: "offline"), .init(path: "durationSeconds", value: "2")])
        #expect(ended.mistakes.map(\.path) == ["sources[0]"])
    }

    @Test("a raw output has one size, so it is refused for a canvas that changes with the scene")
    func rawNeedsOneSize() throws {
        let text = Documents.room.replacing(
            #"{ "path": "out" }"#, with: #"{ "path": "out" }, { "type": "raw", "path": "a.y4m" }"#)
        #expect(try Pipeline.parse(text).result.get().raws.map(\.path) == ["a.y4m"])
        let report = Pipeline.parse(text, overrides: [.init(path: "canvas.policy", value: "perScene")])
        #expect(report.mistakes.map(\.path) == ["outputs[1].type"])
    }

    @Test("several errors of a pipeline file are reported together, in file order, each once")
    func allAtOnce() {
        let report = Pipeline.parse(
            """
            {
              "room": { "roomId": "" },
              "sources": [ { "uid": "1" }, 7, { "uid": "3", "streamKey": "k", "volume": -1, "colour": 1 } ],
              "canvas": { "width": "wide", "fps": 0 },
              "scenes": [ { "sceneId": "a", "layout": "solo", "uids": ["9"] }, { "panes": [ { "uid": "3", "x": 9999 } ] } ],
              "program": { "scene": "b" },
              "renditions": [],
              "outputs": [ { "type": "raw" } ],
              "extra": {}
            }
            """)
        #expect(
            report.mistakes.map { "\($0.line) \($0.path)" } == [
                "2 room.roomId", "3 sources[0].streamKey", "3 sources[1]", "3 sources[2].volume", "3 sources[2].colour",
                "4 canvas.width", "4 canvas.fps", "5 scenes[1].sceneId", "5 scenes[1].panes[0].width",
                "5 scenes[1].panes[0].height",
                "5 scenes[1].panes[0].x", "6 program.scene", "7 renditions", "8 outputs[0].path", "9 extra",
            ])
        #expect(report.text(file: "x.json").hasSuffix("x.json: 15 mistakes\n"))
    }

    @Test(
        "a pipeline file of `{}` is reported with all missing members; one with an array or empty text gives one error")
    func missingEverything() {
        #expect(Pipeline.parse("{}").mistakes.map(\.path) == ["room", "sources", "scenes", "outputs"])
        #expect(Pipeline.parse("[]").mistakes.map(\.what) == ["is an array, not an object"])
        #expect(Pipeline.parse("").mistakes.map(\.what) == ["the text is empty"])
    }

    @Test("the error report of a pipeline file has file, line, column, path and fix of each error, as text and as JSON")
    func reportForms() {
        let report = Pipeline.parse(Documents.room.replacing(#""fps": 30"#, with: #""fsp": 30"#))
        #expect(
            report.text(file: "rooms/a.json") == """
                rooms/a.json:8:45: canvas.fsp: unknown key "fsp". Fix: did you mean "fps"?
                rooms/a.json: 1 mistake

                """)
        #expect(
            report.json(file: "a.json").text()
                == #"{"file":"a.json","valid":false,"mistakes":[{"path":"canvas.fsp","line":8,"column":45,"#
                + #""what":"unknown key \"fsp\"","fix":"did you mean \"fps\"?"}],"warnings":[]}"#)
        #expect(Pipeline.parse(Documents.room).text(file: "f") == "")
        #expect(
            Pipeline.parse(Documents.room).json(file: "f").text()
                == #"{"file":"f","valid":true,"mistakes":[],"warnings":[]}"#)
    }
}
