import MediaTypes

extension Output {
    /// The rule for an output: `type` selects the kind, and `segmentFormat` selects MPEG-TS.
    static let rule = ValueRule<Output>(
        schema: [
            JSONMember(
                "oneOf",
                .array(
                    [
                        HLSOutput.rule.schema, TransportOutput.rule.schema, RawOutput.rule.schema,
                        RecordOutput.rule.schema, HTTPOutput.rule.schema, S3Output.rule.schema, ImageOutput.rule.schema,
                        RTMPOutput.rule.schema, WebRTCOutput.rule.schema,
                    ].map { .object($0) }))
        ],
        read: { node, path, log in
            let type = node[key: "type"] ?? node[misspelt: "type"]
            switch type?.string {
            case "raw": return RawOutput.rule.read(node, path, &log).map { .raw($0) }
            case "record": return RecordOutput.rule.read(node, path, &log).map { .record($0) }
            case "http": return HTTPOutput.rule.read(node, path, &log).map { .http($0) }
            case "s3": return S3Output.rule.read(node, path, &log).map { .s3($0) }
            case "image": return ImageOutput.rule.read(node, path, &log).map { .image($0) }
            case "rtmp": return RTMPOutput.rule.read(node, path, &log).map { .rtmp($0) }
            case "webrtc": return WebRTCOutput.rule.read(node, path, &log).map { .webRTC($0) }
            case let word where type == nil || word == "hls":
                return (node[key: "segmentFormat"] ?? node[misspelt: "segmentFormat"])?.string == "ts"
                    ? TransportOutput.rule.read(node, path, &log).map { .transport($0) }
                    : HLSOutput.rule.read(node, path, &log).map { .hls($0) }
            case let word:
                log.note("\(path).type", at: type?.position ?? .none)
                log.mistake(
                    "\(path).type",
                    word.map { "\(SpecText.quoted($0)) is not an output type" }
                        ?? "is \(type?.kind ?? "null"), not a string",
                    fix: "write \"hls\", \"raw\", \"record\", \"rtmp\", \"webrtc\", \"http\", \"s3\" or \"image\"")
                return nil
            }
        })
}

extension JSONNode {
    /// The value of the first member whose key is probably a misspelling of `key`; `nil` if there is none.
    fileprivate subscript(misspelt key: String) -> JSONNode? {
        guard case .object(let members) = self.content else { return nil }
        return members.first { SpecText.nearest(to: $0.key, among: [key]) != nil }?.value
    }
}

extension RawOutput {
    static let rule = ObjectRule(
        "the composed video before encoding, as YUV4MPEG2", RawOutput(path: ""),
        [
            Field("type", always: "raw", isRequired: true, "the kind of output"),
            .outputID(\.outputID),
            Field(
                required: "path", \.path,
                .text("a path that ends in .y4m", pattern: "^[^\\u0000]+\\.y4m$") { text in
                    text.utf8.count <= 4096 && text.hasSuffix(".y4m") && !text.utf8.contains(0)
                }, "path of a .y4m file, relative to the working directory"),
        ])
}

extension HLSOutput {
    static let rule = ObjectRule(
        "the renditions as HLS", HLSOutput(path: ""),
        [
            Field("type", always: "hls", isRequired: false, "the kind of output"),
            Field(
                "segmentFormat", always: "fmp4", isRequired: false,
                "fragmented MP4; \"ts\" declares an MPEG-TS output instead, which needs an hls output with fmp4"),
            .outputID(\.outputID),
            Field(required: "path", \.path, .path, "directory, relative to the working directory"),
            Field(
                "multivariantPlaylist", \.multivariantPlaylist, Self.playlistName,
                "file name of the multivariant playlist"),
            Field(
                "gopFrames", \.gopFrames, .integer(1...600),
                "frames from one key frame (IDR) to the next, a multiple of partFrames; default 32 at 30 fps, in proportion at other rates",
                derived: true),
            Field("segmentGops", \.segmentGops, .integer(1...30), "GOPs in a segment"),
            Field(
                "partFrames", \.partFrames, .integer(1...600),
                "frames in a part; default 16 at 30 fps, in proportion at other rates",
                derived: true),
            Field(
                "lowLatency", \.lowLatency, .boolean,
                "whether the viewers' listener offers parts and blocking reload (low-latency HLS); playlists in the directory never do; default true, false if the clock is offline",
                derived: true),
            Field(
                "preset", \.preset, .choice, "preset of renditions without their own, except those of a webrtc output"),
            Field(
                "windowSeconds", \.windowSeconds,
                .integer(3...86_400, beyond: "use a record output to keep older segments"),
                "seconds that viewers can seek back, at least three target durations; above 600, the live playlists list the last 60 s, and the playlists NAME-dvr.m3u8 list everything and are written every 30 s"
            ),
            Field(
                "playlistType", \.playlistType, .choice,
                "live: a sliding window; event: all segments since the start; default live, event if the clock is offline",
                derived: true),
            Field(
                "iFramePlaylists", \.iFramePlaylists, .boolean,
                "whether every video rendition has an I-frame playlist, so that players can show frames while seeking; default true for an event playlist that is not encrypted, false otherwise",
                derived: true),
            Field(
                "deleteGraceSeconds", \.deleteGraceSeconds, .integer(0...86_400),
                "seconds that a segment stays on disk after it was removed from all playlists, in addition to its own duration; at least one target duration"
            ),
            Field("http", \.http, .object(HTTP.rule), "the viewers' listener"),
            Field(
                optional: "clipPath", \.clipPath, .path,
                "directory of clips, relative to the working directory; default the directory clips in path; for an encrypted output, whose clips are not encrypted, clips in the record output's path"
            ),
            Field(
                optional: "encryption", \.encryption, .object(HLSEncryption.rule),
                "encryption of segments and parts; default none"),
        ])
}

extension HLSOutput {
    static let playlistName = ValueRule<String>.text(
        "a file name that ends in .m3u8", pattern: "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,58}\\.m3u8$"
    ) { text in
        text.utf8.count <= 64 && text.hasSuffix(".m3u8") && !text.hasPrefix(".") && text.isPlain(marks: "_.-")
    }
}

extension HLSOutput.HTTP {
    static let rule = ObjectRule(
        "the viewers' listener", HLSOutput.HTTP(),
        [
            Field(
                "listen", \.listen, .nullable(.address(unix: false)),
                "host:port, port 0: any free port; null: no listener; default 127.0.0.1:0, null if the clock is offline",
                derived: true
            ),
            Field(
                "allowOrigins", \.allowOrigins,
                .list(
                    of: .text(
                        "\"*\", or an origin such as https://example.com", pattern: "^(\\*|https?://[^/\\s]+)$",
                        accepts: isOrigin),
                    0...64, standIn: ""),
                "origins of web pages that may play the streams (CORS); * means any"),
            Field(
                "embedOrigins", \.embedOrigins,
                .list(
                    of: .text(
                        "\"*\", or an origin with a host name such as https://example.com or https://*.example.com",
                        pattern: "^(\\*|https?://[A-Za-z0-9.:*-]+)$", accepts: isFrameOrigin),
                    0...64, standIn: ""),
                "origins of web pages that may show the viewers' page in a frame; * means any"),
            Field(
                optional: "recordingUrl", \.recordingURL,
                .text(
                    "an http or https URL of at most 2048 bytes without spaces and quotes",
                    pattern: "^https?://[^\\s\"]+$",
                    accepts: { text in
                        guard let rest = text.behindWebScheme else { return false }
                        return (1...2_048).contains(rest.utf8.count) && rest.isVisible && !rest.contains("\"")
                    }),
                "URL of the room's recording, to which the viewers' page links when the room has ended"),
            Field(optional: "tls", \.tls, .object(TLSSettings.rule), "certificate for HTTPS with HTTP/2"),
            Field(
                optional: "signedUrls", \.signedURLs, .object(SignedURLs.rule),
                "admits only viewers whose URL is signed; see tandem sign-url"),
            Field(
                "flv", \.flv, .boolean,
                "whether each rendition is also served as HTTP-FLV and WebSocket-FLV at live/NAME.flv"),
            Field(
                "maxConnections", \.maxConnections, .integer(1...65_535),
                "maximum number of concurrent connections, limited by the number of files that the process can open; further connections wait"
            ),
            Field(
                optional: "maxConnectionsPerAddress", \.maxConnectionsPerAddress, .integer(1...65_535),
                "maximum number of concurrent connections from one address; further ones are closed; default no limit"),
            Field(
                optional: "lingerSeconds", \.lingerSeconds, .integer(0...86_400),
                "seconds that the listener stays open after the room's end; default the window's length, at most 60, if a viewer requested a playlist within the last 30 s, otherwise 3; 0 if the clock is offline"
            ),
        ])

    static func isPageOrigin(_ text: String) -> Bool { !text.contains("*") && Self.isOrigin(text) }

    /// Whether a `frame-ancestors` directive can list the text. Spec: CSP Level 3 §2.3.1 (host-source).
    static func isFrameOrigin(_ text: String) -> Bool {
        guard self.isOrigin(text), let host = text.behindWebScheme else { return text == "*" }
        // An asterisk is the port, or the first label of the name.
        let name = host.hasSuffix(":*") ? host.dropLast(2) : host
        let rest = name.hasPrefix("*.") ? name.dropFirst(2) : name
        // Content security policies have no IPv6 addresses.
        return name == "*" || !rest.isEmpty && rest.isPlain(marks: "-.:")
    }

    /// Whether the text is `*` or a web origin: scheme and authority without a path. Spec: RFC 6454 §6.2.
    static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        guard let host = text.behindWebScheme else { return false }
        return (1...256).contains(host.utf8.count) && host.isVisible && !host.contains { "/\"".contains($0) }
    }
}
