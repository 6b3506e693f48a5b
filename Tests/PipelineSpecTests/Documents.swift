import Glibc
import PipelineSpec

/// Documents that the tests read.
enum Documents {
    /// A valid room, one subject per line.
    static let room = """
        {
          "room": { "roomId": "88231" },
          "control": { "listen": "127.0.0.1:0" },
          "sources": [
            { "uid": "1001", "streamKey": "hunter2a" },
            { "uid": "2002", "streamKey": "hunter2b" }
          ],
          "canvas": { "width": 1280, "height": 720, "fps": 30 },
          "scenes": [
            { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
            { "sceneId": "pk", "panes": [
              { "uid": "1001", "width": 640, "height": 720 },
              { "uid": "2002", "x": 640, "width": 640, "height": 720 } ] }
          ],
          "renditions": [ { "name": "720p", "width": 1280, "height": 720, "video": { "bitrate": 2500000 } } ],
          "outputs": [ { "path": "out" } ]
        }
        """

    /// Documents that together use every key of the schema, most of them with other values than the defaults.
    static let full = [
        """
        {
          "$schema": "./schema.json", "apiVersion": "tandem/v1", "revision": 7,
          "room": { "roomId": "88231", "title": "t" },
          "clock": "live", "durationSeconds": 1.5,
          "control": { "listen": "0.0.0.0:9000", "tokenFile": "/run/token", "readTokenFile": "/run/reader",
            "openReads": true, "maxRequestsPerSecond": 500, "allowOrigins": ["https://console.example"], "compat": ["nertc", "agora"],
            "secretsDirectory": "/run/given", "imagesDirectory": "/srv/images", "mediaDirectory": "/srv/media", "stateDirectory": "/var/lib/tandem",
            "egress": { "allowedHosts": ["127.0.0.0/8", "cdn.example:*"] },
            "events": [
            { "type": "webhook", "url": "https://hooks.example/pk", "types": ["source.*", "room.closed"], "timeoutMs": 2000,
              "secretEnv": "HOOK_SECRET" }, { "type": "webhook", "urlEnv": "HOOK_URL" } ] },
          "ingest": { "rtmp": { "listen": "127.0.0.1:1936", "app": "pk", "chunkSize": 8192, "onDuplicate": "reject",
            "firstPacketTimeoutMs": 10000, "idleTimeoutMs": 60000, "reconnectGraceMs": 5000, "maxConnections": 8,
            "handshakeTimeoutMs": 4000, "publishTimeoutMs": 9000, "maxConnectionsPerAddress": 4, "maxMessageBytes": 100000,
            "maxPartialBytes": 200000, "maxPartialMessages": 4, "maxChunkStreams": 16, "maxAmfDepth": 8 },
            "rtmps": { "listen": "127.0.0.1:1937", "tls": { "certificate": "a.crt", "key": "a.key" } },
            "srt": { "listen": "127.0.0.1:9001", "latencyMs": 200, "passphraseEnv": "WORD", "pbkeylen": 24 },
            "webrtc": { "listen": "127.0.0.1:8890", "udp": "127.0.0.1:8190", "publicAddresses": ["192.0.2.1", "2001:db8::1"],
              "publicAddressesEnv": "NODE_IP",
              "tls": { "certificate": "a.crt", "key": "a.key" }, "allowOrigins": ["https://studio.example"],
              "maxBitrate": 3000000,
              "iceServers": [ { "url": "turn:turn.example:3478", "username": "u", "credentialEnv": "TURN" } ] },
            "proxies": ["10.0.0.1"],
            "pull": { "allowedHosts": ["cdn.example"] }, "codecs": ["h264", "g711a", "opus"],
            "auth": { "type": "tencent", "secretEnv": "SIGNING", "maxSkewSeconds": 5, "validSeconds": 60, "singleUse": true },
            "onPublish": { "url": "https://hooks.example/pk?t=1", "form": "ome", "timeoutMs": 900, "onFailure": "allow",
              "secretEnv": "HOOK" },
            "allowedAddresses": ["10.0.0.0/8", "2001:db8::1"] },
          "sources": [
            { "uid": 1001, "streamType": "main", "name": "anchorA", "type": "rtmp", "streamKey": "hunter2a", "volume": 90,
              "jitterBufferMs": 300, "maxJitterBufferMs": 2000, "maxDriftPpm": 300, "stallMs": 900, "rotation": 90,
              "onNoVideo": "leavePane", "offsetMs": -40, "background": true, "fadeMs": 500, "audioTracks": [{ "track": 1, "volume": 50 }], "wallClock": "ignore", "metadata": true,
              "expected": { "width": 720, "height": 1280, "fps": 25, "variableFrameRate": true, "videoBitrate": 1000000,
                "keyFrameIntervalSeconds": 4, "audioSampleRate": 44100, "audioBitrate": 96000 },
              "onLost": { "holdMs": 1000, "stalledHoldMs": 3000, "placeholderImage": "away.png", "then": "fallbackScene", "fallbackScene": "solo" },
              "audio": { "noiseSuppression": "model", "noiseModel": "voice.rnnn", "autoGain": "speech" },
              "decode": { "codecs": ["h264", "g711u"], "threads": 2, "damaged": "hold" } },
            { "uid": "1001", "streamType": "sub", "streamKeyEnv": "KEY" },
            { "uid": "2002", "streamKeyFile": "/run/key", "record": { "directory": "sources", "partSeconds": 4, "video": false,
              "active": false } },
            { "uid": "2003", "streamKeys": ["hunter2c", "hunter2d"], "record": { "audio": false } },
            { "uid": "3003", "type": "file", "path": "a.mp4", "loop": true },
            { "uid": "4004", "type": "rtmp-pull", "url": "rtmp://cdn.example/live/x", "relays": [
              { "relayId": "r1", "url": "rtmp://b.example/live/y" }, { "relayId": "r2", "urlEnv": "ROOM_B" } ] },
            { "uid": "5005", "type": "rtmp-pull", "urlEnv": "PULL_URL" }
          ],
          "canvas": { "width": 640, "height": 360, "fps": 25, "backgroundColor": "#000000", "policy": "perScene",
            "fonts": ["brand.ttf"],
            "bgImages": [ { "path": "bg.jpg", "x": 2, "y": 2, "width": 100, "height": 100, "zOrder": 1, "alpha": 0.5 } ] },
          "overlays": [ { "name": "rose", "path": "rose.mp4", "alpha": "right", "x": 2, "y": 4, "width": 200, "height": 300,
            "volume": 80 } ],
          "watermarks": [ { "path": "logo.png", "x": "2%", "y": 8, "width": 64, "height": "10%", "zOrder": 99, "alpha": 0.8 } ],
          "scenes": [
            { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
            { "sceneId": "pk", "revision": 7, "canvas": { "width": 640, "height": 320 }, "backgroundColor": 255,
              "bgImages": [ { "path": "pk.jpg", "x": "1%", "y": 2, "width": 100, "height": 100, "zOrder": 2, "alpha": 0.4 } ],
              "images": [ { "path": "vs.png", "x": "45%", "y": 40, "width": "10%", "height": 64, "zOrder": 51, "alpha": 0.9 } ],
              "texts": [ { "textId": "name", "text": "안녕 主播", "x": 20, "y": "90%", "size": 24, "color": "#FFEE00",
                "background": "#000000", "backgroundAlpha": 0.6, "align": "center", "zOrder": 61, "maxWidth": "50%" } ],
              "scoreBars": [ { "scoreId": "pk", "x": 10, "y": 20, "width": "80%", "height": 24, "left": 3, "right": 5,
                "leftColor": "#FF0000", "rightColor": "#0000FF", "zOrder": 62 } ],
              "countdowns": [ { "countdownId": "clock", "seconds": 300, "x": "50%", "y": 4, "size": 20, "color": "#EEEEEE",
                "align": "right", "zOrder": 63 }, { "countdownId": "left", "of": "pk" } ],
              "transition": { "type": "slide", "durationMs": 400, "direction": "up" },
              "audioOverrides": [ { "uid": "2002", "volume": 60 } ], "speakingRing": { "width": 4, "color": "#00FF00" }, "panes": [
              { "uid": "1001", "streamType": "sub", "x": 2, "y": 4, "width": 320, "height": 180, "zOrder": 1, "adaption": "fit",
                "crop": { "x": "5%", "y": "10%", "width": "90%", "height": "33.33%" }, "cornerRadius": 12,
                "border": { "width": 4, "color": "#00FF00" },
                "videoPush": false, "audioPush": false, "volume": 50 } ] }
          ],
          "program": { "scene": "pk", "delayMs": 500 },
          "captions": { "from": "1001", "channels": [{ "instreamId": "CC1", "language": "en", "name": "English" }] },
          "subtitles": [ { "name": "ko", "language": "ko", "label": "한국어", "default": true, "markup": true } ],
          "moderation": { "stills": { "intervalSeconds": 5, "width": 800, "store": "bucket",
            "webhook": { "url": "https://moderation.example/", "timeoutMs": 900, "secretEnv": "MODERATION" } } },
          "pk": { "scene": "pk", "start": "whenReady", "countdownMs": 3000, "countdownScene": "solo", "durationMs": 60000,
            "punishMs": 20000, "punishScene": "solo", "endScene": "solo" },
          "audio": { "sampleRate": 48000, "channels": 2, "bitrate": 96000, "rampMs": 40, "levelIntervalMs": 500, "speaking": true,
                     "lowerMusic": { "uids": ["1001"], "reductionDb": 9, "attackMs": 100, "releaseMs": 900 },
                     "ducking": { "uids": ["2002"], "thresholdDb": -40, "reductionDb": 9, "attackMs": 50,
                                  "releaseMs": 900 } },
          "renditions": [ { "name": "360p", "width": 640, "height": 360, "fps": 25, "video": { "codec": "h264",
            "encoder": "libx264", "encoderFallback": false, "preset": "fast", "profile": "main", "bitrate": 600000, "maxBitrate": 800000,
            "bufferSize": 900000, "bFrames": 2, "lookaheadFrames": 10, "threads": 2 }, "audio": "hi" },
            { "name": "sound", "video": null, "audio": "lo" } ],
          "audioRenditions": [ { "name": "hi", "codec": "aac", "profile": "lc", "bitrate": 128000 }, { "name": "lo" } ],
          "outputs": [
            { "outputId": "h", "type": "hls", "path": "out", "multivariantPlaylist": "all.m3u8", "gopFrames": 50,
              "segmentGops": 1, "partFrames": 25, "windowSeconds": 30, "playlistType": "event", "iFramePlaylists": false, "deleteGraceSeconds": 5, "lowLatency": false,
              "clipPath": "clips",
              "preset": "lowLatency",
              "http": { "listen": "127.0.0.1:8080", "allowOrigins": ["https://example.com"], "maxConnections": 500,
                "embedOrigins": ["https://*.example.com"], "recordingUrl": "https://vod.example/88231/",
                "maxConnectionsPerAddress": 20, "lingerSeconds": 15, "tls": { "certificate": "a.crt", "key": "a.key" },
                "signedUrls": { "secretEnv": "PLAYBACK" }, "flv": true } },
            { "type": "rtmp", "outputId": "cdn", "url": "rtmps://cdn.example/live", "key": "hidden-key", "rendition": "sound",
              "retry": { "initialDelayMs": 500, "maxDelayMs": 8000 }, "stallTimeoutMs": 5000,
              "tls": { "authorities": "ca.pem", "verify": false } },
            { "type": "rtmp", "outputId": "cdn2", "urlEnv": "CDN_URL", "keyEnv": "CDN_KEY" },
            { "type": "rtmp", "outputId": "cdn3", "url": "rtmp://cdn.example/live", "keyFile": "/run/key" },
            { "type": "record", "outputId": "rec", "path": "rec", "renditions": ["sound"], "vodPlaylist": false,
              "active": false },
            { "type": "http", "outputId": "origin", "url": "https://origin.example/88231", "method": "POST",
              "auth": { "type": "basic", "secretEnv": "ORIGIN" }, "retryForMs": 4000, "queueSegments": 8, "onLost": "slate",
              "deletes": false, "authorities": "/run/ca.pem", "lowLatency": false, "segmentFormat": "fmp4" },
            { "type": "s3", "outputId": "bucket", "endpoint": "https://s3.example", "region": "eu-west-1", "bucket": "rooms",
              "prefix": "live/88231/", "pathStyle": false, "accessKeyEnv": "S3_ID", "secretKeyEnv": "S3_SECRET",
              "sessionTokenEnv": "S3_TOKEN", "segmentFormat": "fmp4",
              "retryForMs": 5000, "queueSegments": 4, "onLost": "slate", "deletes": false,
              "authorities": "/run/ca.pem", "lowLatency": false },
            { "type": "image", "outputId": "thumb", "path": "out/thumb.jpg", "intervalSeconds": 5, "width": 320, "height": 180,
              "sources": true, "sprites": { "columns": 4, "rows": 4, "intervalSeconds": 5, "width": 128 } },
            { "type": "hls", "segmentFormat": "ts", "outputId": "old", "path": "out-ts", "multivariantPlaylist": "old.m3u8" },
            { "type": "webrtc", "outputId": "low", "rendition": "sound", "udp": "192.0.2.1:7000", "publicAddresses": ["192.0.2.7"],
              "audioBitrate": 96000, "maxViewers": 20 }
          ],
          "overload": { "maxLagMs": 300 },
          "shutdown": { "endTimeoutMs": 20000 },
          "idle": { "waitForFirstSourceSeconds": 600, "maxIdleSeconds": 90 },
          "sei": { "layout": false, "payloadUuid": "00112233445566778899aabbccddeeff", "intervalMs": 500,
            "followIdr": false, "extraInfo": "hello" },
          "alarms": { "windowMs": 4000, "clearAfterMs": 9000, "gapMs": [40, 200, 700], "fpsPercent": [95, 80, 60],
            "networkPercent": [95, 80, 60], "lossPercent": [3, 6, 12], "bitratePercent": 50, "skewMs": [70, 140, 280], "keyFrameIntervalMs": 5000 },
          "limits": { "maxInputWidth": 1280, "maxInputHeight": 1280, "maxInputFps": 30, "maxSources": 7,
            "maxDiskBytes": 200000000 },
          "ext": { "anything": [1, { "a b": null }] }
        }
        """,
        Self.room.replacing(
            "\"listen\": \"127.0.0.1:0\"",
            with: """
                "tokenEnv": "TOKEN", "readTokenEnv": "READER", "events": [{ "type": "webhook", "url": "http://h", "secretFile": "/run/e" }]
                """
        ).replacing(
            "\"path\": \"out\"",
            with: """
                "path": "out", "http": { "signedUrls": { "secretFile": "/run/p" } }, "encryption": { "method": "AES-128",
                  "rotateEverySegments": 5, "keyUri": "https://keys.example/{track}/{period}", "secretFile": "/run/k" }
                """
        ).replacing(
            "\"control\": {",
            with: """
                "moderation": { "stills": { "webhook": { "urlEnv": "MODERATION_URL", "secretFile": "/run/m" } } },
                "ingest": { "srt": { "passphraseFile": "/run/w" }, "webrtc": { "udp": "127.0.0.1:1",
                  "iceServers": [ { "url": "turn:turn.example", "credentialFile": "/run/turn" } ] }, "auth": { "secretFile": "/run/s" },
                  "onPublish": { "url": "http://hooks.example", "form": "ome", "secretFile": "/run/h" } }, "control": {
                """),
        Self.room.replacing(
            "\"path\": \"out\"", with: "\"path\": \"out\", \"encryption\": { \"secretEnv\": \"KEYS\" }"
        ).replacing("\"name\": \"720p\",", with: "\"name\": \"720p\", \"when\": \"watched\","),
        Self.room.replacing(
            "\"outputs\": [ ",
            with: """
                "outputs": [ { "type": "http", "url": "http://o", "auth": { "type": "bearer", "secretFile": "/run/o" } },
                  { "type": "s3", "endpoint": "http://s3:9000", "bucket": "b", "accessKeyFile": "/run/i", "secretKeyFile": "/run/s",
                    "sessionTokenFile": "/run/t" },
                """),
        Self.offline.replacing(
            "\"clock\": \"offline\"", with: "\"clock\": \"offline\", \"offline\": { \"threads\": 2 }"),
    ]

    /// A valid offline job.
    static let offline = Self.room.replacing(
        "\"streamKey\": \"hunter2a\"", with: "\"type\": \"file\", \"path\": \"a.mp4\""
    )
    .replacing("\"streamKey\": \"hunter2b\"", with: "\"type\": \"file\", \"path\": \"b.mp4\"")
    .replacing("\"control\":", with: "\"clock\": \"offline\", \"control\":")

    /// The path of the repository, found from the path of this file.
    static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen("\(self.root)/\(path)", "rb") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    static func write(_ bytes: [UInt8], to path: String) -> Bool {
        guard let file = fopen("\(self.root)/\(path)", "wb") else { return false }
        defer { fclose(file) }
        return fwrite(bytes, 1, bytes.count, file) == bytes.count
    }
}

extension String {
    /// Returns a copy with every occurrence of `old` replaced by `new`.
    func replacing(_ old: String, with new: String) -> String {
        var parts: [Substring] = []
        var rest = self[...]
        while let range = rest.firstRange(of: old) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return (parts + [rest]).joined(separator: new)
    }
}
