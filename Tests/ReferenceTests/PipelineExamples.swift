import MediaTypes

/// Examples of keys that no pipeline of the project has, and that have no default. They are checked against the schema.
enum PipelineExamples {
    /// An example for one path; it has precedence over everything else.
    static func of(_ key: PipelineReference.Key) -> JSONNode? {
        switch key.path {
        case "captions.from": "onAir"
        case "captions.channels[].instreamId": "CC1"
        case "captions.channels[].name": "English"
        case "control.events[].url": "https://app.example/hooks/tandem"
        case "control.egress.allowedHosts": self.list("public", "relay.internal:1935")
        case "ingest.onPublish.url": "https://app.example/hooks/publish"
        case "ingest.pull.allowedHosts": self.list("media.example:1935")
        case "ingest.proxies": self.list("10.0.0.0/8")
        case "ingest.allowedAddresses": self.list("203.0.113.0/24")
        case "ingest.webrtc.iceServers[].url": "stun:stun.example:3478"
        case "ingest.webrtc.iceServers[].username": "room"
        case "ingest.webrtc.publicAddressesEnv": "NODE_IP"
        case "ingest.webrtc.maxBitrate": 4_000_000
        case "ingest.webrtc.iceServers[].credentialFile": "/run/secrets/turn-password"
        case "offline.threads": 2
        case "overlays[].name": "rose"
        case "overlays[].path": "gifts/rose.mp4"
        case "overlays[].alpha": "right"
        case "sources[].audio.noiseModel": "models/voice.rnnn"
        case "sources[].url": "rtmp://media.example/live/KEY"
        case "sources[].relays[].url": "rtmp://other.example/live/KEY"
        case "outputs[http].url": "https://origin.example/88231"
        case "outputs[image].path": "out/88231/still.jpg"
        case "outputs[record].path": "rec/88231"
        case "ext": .object([JSONMember("owner", "studio")])
        case "outputs[rtmp].url": "rtmps://cdn.example/live"
        case "outputs[webrtc].publicAddresses": self.list("192.0.2.1")
        default: nil
        }
    }

    private static func list(_ elements: JSONNode...) -> JSONNode { .array(elements) }

    private static let values: [String: JSONNode] = [
        "$schema": "schema.json", "revision": 7, "durationSeconds": 3600, "url": "https://app.example/",
        "secretsDirectory": "/run/secrets/room", "imagesDirectory": "/srv/images", "stateDirectory": "/var/lib/tandem",
        "certificate": "tls/room.crt", "key": "tls/room.key", "holdMs": 2000, "stalledHoldMs": 5000,
        "placeholderImage": "images/away.png", "track": 1, "relayId": "to-other-room", "volume": 80, "width": 640,
        "height": 360, "backgroundColor": "#101820", "color": "#FFFFFF", "path": "images/back.png", "maxWidth": 400,
        "countdownScene": "pk", "punishScene": "pk", "endScene": "solo", "uids": .array(["1001"]), "fps": 15,
        "bufferSize": 2_750_000, "bFrames": 0, "lookaheadFrames": 5, "audio": "aac", "name": "low", "bitrate": 64_000,
        "maxConnections": 1000, "maxConnectionsPerAddress": 50, "lingerSeconds": 30, "clipPath": "clips/88231",
        "keyUri": "https://keys.example/{track}/{period}", "recordingUrl": "https://vod.example/88231/",
        "retryForMs": 8000, "authorities": "tls/ca.pem",
        "endpoint": "https://s3.example", "bucket": "rooms", "rendition": "720p", "maxDiskBytes": 20_000_000_000,
        "streamKeys": .array(["a_7fd1", "a_9c02"]), "streamKeyFile": "keys/1001",
        "tokenFile": "/run/secrets/command-token",
        "readTokenFile": "/run/secrets/read-token", "secretFile": "/run/secrets/secret",
        "passphraseFile": "/run/secrets/passphrase", "accessKeyFile": "/run/secrets/s3-id",
        "secretKeyFile": "/run/secrets/s3-secret", "sessionTokenFile": "/run/secrets/s3-session",
        "keyFile": "/run/secrets/cdn-key", "store": "s3", "language": "en", "x": 40, "y": 40,
    ]

    /// An example for every key of a name.
    static func named(_ name: String) -> JSONNode? {
        if let value = self.values[name] { return value }
        guard name.hasSuffix("Env") else { return nil }
        // `streamKeyEnv` is `STREAM_KEY`.
        let words = name.dropLast(3).map { $0.isUppercase ? "_\($0)" : "\($0)" }
        return .string("ROOM_" + words.joined().uppercased())
    }

    /// Why a value is not allowed by a schema; nil if it is allowed.
    static func fault(of value: JSONNode, in schema: JSONNode) -> String? {
        if let options = (schema[key: "anyOf"] ?? schema[key: "oneOf"])?.array,
            options.contains(where: { $0[key: "type"] != nil || $0[key: "const"] != nil })
        {
            return options.contains { self.fault(of: value, in: $0) == nil } ? nil : "fits no alternative"
        }
        if let constant = schema[key: "const"], constant.text() != value.text() { return "is not \(constant.text())" }
        if let words = schema[key: "enum"]?.array, !words.contains(where: { $0.text() == value.text() }) {
            return "is none of the words"
        }
        let type = schema[key: "type"]?.string
        switch (value.content, type) {
        case (_, nil), (.boolean, "boolean"), (.object, "object"), (.null, "null"), (.number, "number"): break
        case (.integer(let number), "integer"), (.integer(let number), "number"):
            if let least = schema[key: "minimum"]?.integer, number < least { return "is below \(least)" }
            if let most = schema[key: "maximum"]?.integer, number > most { return "is above \(most)" }
        case (.string(let text), "string"):
            guard let pattern = schema[key: "pattern"]?.string else { break }
            // Swift's syntax of a code point is another one.
            guard let regex = try? Regex(pattern.replacing("\\u0000", with: "\\x00")) else { return "bad pattern" }
            if (try? regex.firstMatch(in: text)) == nil { return "does not match \(pattern)" }
        case (.array(let elements), "array"):
            if let least = schema[key: "minItems"]?.integer, elements.count < least { return "is too short" }
            if let most = schema[key: "maxItems"]?.integer, elements.count > most { return "is too long" }
            return elements.lazy.compactMap { self.fault(of: $0, in: schema[key: "items"] ?? .object([])) }.first
        default: return "is \(value.kind), not of type \(type ?? "")"
        }
        return nil
    }
}
