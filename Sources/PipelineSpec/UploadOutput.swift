import MediaTypes

/// Settings common to all uploads of the room's HLS.
package struct StoreRules: Sendable, Hashable {
    /// What the uploaded playlists contain for a segment that could not be uploaded in time.
    package enum Restamp: String, Sendable, CaseIterable {
        /// An `EXT-X-GAP` tag.
        case gap
        /// A slate segment (still image and silence) of the same duration.
        case slate
    }

    /// Milliseconds from a segment's publication until the upload gives up (100…600,000); `nil`: the target duration,
    /// or the segment's duration if that is longer.
    package var retryForMs: Int?
    /// Maximum number of segments that wait for upload (1…1,000); the segments of all tracks with the same number count
    /// as one. If there are more, the oldest become gaps. Default 16.
    package var queueSegments = 16
    /// What playlists contain for a segment that could not be uploaded in time. Default ``Restamp/gap``.
    package var onLost = Restamp.gap
    /// Whether uploaded objects are deleted when players no longer need them. Default true.
    package var deletes = true
    /// PEM file of the certificate authorities to trust; `nil`: those of the system.
    package var authorities: String?

    package init() {}
}

/// Uploads the room's HLS to an HTTP server with PUT or POST.
package struct HTTPOutput: Sendable, Hashable {
    package enum Method: String, Sendable, CaseIterable {
        case put = "PUT"
        case post = "POST"
    }

    /// Credentials for the server.
    package struct Credentials: Sendable, Hashable {
        package enum Kind: String, Sendable, CaseIterable {
            /// Bearer authentication (RFC 6750): the secret is the token.
            case bearer
            /// Basic authentication (RFC 7617): the secret is `user:password`.
            case basic
        }

        package var type = Kind.bearer
        /// The token, or `user:password`. Never ``Secret/inline(_:)``.
        package var secret: Secret?

        package init() {}
    }

    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `http`.
    package var outputID = "http"
    /// URL below which objects are stored: `http://…` or `https://…`.
    package var url: String
    package var method = Method.put
    /// Credentials for the server; `nil`: requests have none.
    package var credentials: Credentials?
    package var store = StoreRules()
}

/// Uploads the room's HLS to a bucket of an S3-compatible service.
package struct S3Output: Sendable, Hashable {
    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `s3`.
    package var outputID = "s3"
    /// Address of the service: `http://host:port` or `https://host`.
    package var endpoint: String
    /// Region used in signatures. Default `us-east-1`.
    package var region = "us-east-1"
    package var bucket: String
    /// Prefix of every object name; empty, or ending with a slash. Default empty.
    package var prefix = ""
    /// Whether the bucket is part of the URL path; otherwise it is part of the host name. Default true.
    package var pathStyle = true
    package var accessKey: Secret?
    package var secretKey: Secret?
    /// Session token of temporary credentials; `nil` for permanent ones.
    package var sessionToken: Secret?
    package var store = StoreRules()
}

extension Output {
    /// Whether the output uploads to another server and writes no files.
    var isElsewhere: Bool {
        switch self {
        case .http, .s3: true
        default: false
        }
    }
}

extension Pipeline {
    /// The HTTP and S3 outputs in file order.
    package var uploads: [Output] { self.outputs.filter(\.isElsewhere) }
}

extension HTTPOutput.Credentials {
    static let rule = ObjectRule(
        "credentials for the server", Self(),
        [
            Field(required: "type", \.type, .choice, "bearer: a token; basic: user:password"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the token, or user:password"),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds the token, or user:password, instead"),
        ])
}

extension HTTPOutput {
    static let rule = ObjectRule(
        "uploads the room's HLS to an HTTP server, without low latency", HTTPOutput(url: ""),
        [
            Field("type", always: "http", isRequired: true, "the kind of output"),
            .outputID(\.outputID),
            Field(
                "segmentFormat", always: "fmp4", isRequired: false,
                "fragmented MP4; MPEG-TS is available only at the viewers' listener and in its output's directory"
            ),
            Field(
                required: "url", \.url, .placeURL, "http or https URL below which objects are stored, without a query"),
            Field("method", \.method, .choice, "HTTP method of uploads: PUT or POST"),
            Field(optional: "auth", \.credentials, .object(Credentials.rule), "credentials for the server"),
        ] + StoreRules.fields.map { $0.within(\.store) })
}

extension S3Output {
    static let rule = ObjectRule(
        "uploads the room's HLS to a bucket of an S3-compatible service, without low latency",
        S3Output(endpoint: "", bucket: ""),
        [
            Field("type", always: "s3", isRequired: true, "the kind of output"),
            .outputID(\.outputID),
            Field(
                "segmentFormat", always: "fmp4", isRequired: false,
                "fragmented MP4; MPEG-TS is available only at the viewers' listener and in its output's directory"
            ),
            Field(required: "endpoint", \.endpoint, .endpoint, "http://host:port or https://host of the service"),
            Field("region", \.region, .name(64, marks: "-_."), "region that requests are signed for"),
            Field(required: "bucket", \.bucket, .name(63, marks: ".-"), "the bucket, which must exist"),
            Field(
                "prefix", \.prefix,
                .text("letters, digits, _ . - and slashes, ending in a slash", pattern: "^([A-Za-z0-9_.-]+/)*$") {
                    text in text.utf8.count <= 512 && text.isPrefix
                }, "prefix of every object name, ending with a slash"),
            Field(
                "pathStyle", \.pathStyle, .boolean,
                "whether the bucket is part of the URL path; otherwise it is part of the host name"),
            Field(
                optional: "accessKeyEnv", \.accessKey.variable, .variable,
                "environment variable that holds the access key"),
            Field(optional: "accessKeyFile", \.accessKey.file, .path, "file that holds the access key instead"),
            Field(
                optional: "secretKeyEnv", \.secretKey.variable, .variable,
                "environment variable that holds the secret key; it signs each request (AWS Signature Version 4)"),
            Field(optional: "secretKeyFile", \.secretKey.file, .path, "file that holds the secret key instead"),
            Field(
                optional: "sessionTokenEnv", \.sessionToken.variable, .variable,
                "environment variable that holds the session token of temporary credentials; read when the room starts"
            ),
            Field(
                optional: "sessionTokenFile", \.sessionToken.file, .path, "file that holds the session token instead"),
        ] + StoreRules.fields.map { $0.within(\.store) })
}

extension StoreRules {
    static let fields: [Field<StoreRules>] = [
        Field(
            optional: "retryForMs", \.retryForMs, .integer(100...600_000),
            "milliseconds for which the upload of a segment is retried; default the target duration, or the segment's duration if that is longer; after that, onLost applies"
        ),
        Field(
            "queueSegments", \.queueSegments, .integer(1...1_000),
            "maximum number of segments that wait for upload; if more are waiting, the oldest one is skipped and becomes a gap"
        ),
        Field(
            "onLost", \.onLost, .choice,
            "what this store's playlists contain for a segment that could not be uploaded in time: gap (EXT-X-GAP), or a slate segment of the same duration"
        ),
        Field("deletes", \.deletes, .boolean, "whether objects are deleted when players can no longer need them"),
        // rfc8216bis Appendix B.1 requires blocking reload from a low-latency server. Without it, a player that plays
        // parts reloads only once per target duration and runs out of media, since it started PART-HOLD-BACK behind the
        // live edge.
        Field(
            neverOn: "lowLatency",
            because:
                "is not possible at a store: it cannot block a playlist reload until a part is available, and players would stall",
            fix: "remove it, and let the CDN pull from the hls output's listener, which supports low latency",
            "always false: low latency needs blocking playlist reload, which a store cannot do"),
        Field(
            optional: "authorities", \.authorities, .path,
            "PEM file of the certificate authorities to trust, relative to the working directory; default the system's"),
    ]
}

extension String {
    /// Whether the text is a prefix of path components without `.` and `..`, ending with a slash.
    fileprivate var isPrefix: Bool {
        guard !self.isEmpty else { return true }
        guard self.hasSuffix("/") else { return false }
        return self.dropLast().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { component in
            !component.isEmpty && component != "." && component != ".." && component.isPlain(marks: "_.-")
        }
    }
}

extension ValueRule where Value == String {
    /// A rule for a URL to which object names can be appended. The URL may contain a token.
    fileprivate static var placeURL: ValueRule {
        self.text("http://host/path or https://host/path", pattern: "^https?://[!-~]+$", isSecret: true) { text in
            guard let rest = text.behindWebScheme, text.utf8.count <= 2048, let first = rest.first else { return false }
            return first != "/" && rest.isVisible && !rest.contains { "?#".contains($0) }
        }
    }

    /// A rule for a URL with only scheme and authority.
    fileprivate static var endpoint: ValueRule {
        self.text("http://host:port or https://host", pattern: "^https?://[A-Za-z0-9.:_\\[\\]-]+/?$") { text in
            guard var rest = text.behindWebScheme, text.utf8.count <= 256 else { return false }
            if rest.hasSuffix("/") { rest.removeLast() }
            return !rest.isEmpty && rest.isPlain(marks: ":[]_-.")
        }
    }
}

extension PipelineRules {
    /// Checks an upload output.
    func checkUpload(_ output: Output, _ path: String, _ log: inout SpecLog) {
        guard let hls = self.pipeline.hls else {
            log.mistake(
                path, "there is no hls output to upload", fix: "add one: { \"path\": \"out\" }")
            return
        }
        if self.pipeline.clock == .offline {
            log.mistake(
                "\(path).type", "an offline room cannot upload, since it produces segments faster than real time",
                fix: "upload the hls output's directory after the room has ended")
        }
        if let encryption = hls.encryption, encryption.keyURI == nil {
            log.mistake(
                path, "players of this store could not get the keys, since only the viewers' listener serves them",
                fix: "add \"keyUri\" to the hls output's encryption")
        }
        switch output {
        case .http(let http): self.check(http, path, &log)
        case .s3(let bucket): self.check(bucket, path, &log)
        default: break
        }
    }

    private func check(_ output: HTTPOutput, _ path: String, _ log: inout SpecLog) {
        guard output.credentials != nil else { return }
        log.checkSecret("secret", at: "\(path).auth", required: "the token, or user:password is")
    }

    private func check(_ output: S3Output, _ path: String, _ log: inout SpecLog) {
        log.checkSecret("accessKey", at: path, required: "the access key is")
        log.checkSecret("secretKey", at: path, required: "the secret key is")
        log.checkSecret("sessionToken", at: path)
    }
}
