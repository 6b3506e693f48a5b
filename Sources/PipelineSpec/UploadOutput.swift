import MediaTypes

/// How another store of the room's HLS is filled.
package struct StoreRules: Sendable, Hashable {
    /// What stands in the store's playlists for a segment that could not be uploaded in time.
    package enum Restamp: String, Sendable, CaseIterable {
        /// `EXT-X-GAP`.
        case gap
        /// Slate of the same length.
        case slate
    }

    /// Milliseconds from a segment's publication until it is given up (100…600,000); `nil`: as long as a segment is.
    package var retryForMs: Int?
    /// Segments that wait at most (1…1,000). Default 16.
    package var queueSegments = 16
    /// Default ``Restamp/gap``.
    package var onLost = Restamp.gap
    /// Objects are deleted once no player can need them. Default true.
    package var deletes = true
    /// PEM file of the authorities that may have signed the server's certificate; `nil`: the system's.
    package var authorities: String?

    package init() {}
}

/// The room's HLS at a server that takes PUT or POST.
package struct HTTPOutput: Sendable, Hashable {
    package enum Method: String, Sendable, CaseIterable {
        case put = "PUT"
        case post = "POST"
    }

    /// How the server knows us.
    package struct Credentials: Sendable, Hashable {
        package enum Kind: String, Sendable, CaseIterable {
            /// RFC 6750: the secret is the token.
            case bearer
            /// RFC 7617: the secret is `user:password`.
            case basic
        }

        package var type = Kind.bearer
        /// Never ``Secret/inline(_:)``.
        package var secret: Secret?

        package init() {}
    }

    /// `[A-Za-z0-9_.-]{1,64}`. Default `http`.
    package var outputID = "http"
    /// `http://…` or `https://…`: objects go below it.
    package var url: String
    package var method = Method.put
    /// `nil`: none.
    package var credentials: Credentials?
    package var store = StoreRules()

    package init(url: String) { self.url = url }
}

/// The room's HLS in a bucket of a service that speaks the S3 protocol.
package struct S3Output: Sendable, Hashable {
    /// `[A-Za-z0-9_.-]{1,64}`. Default `s3`.
    package var outputID = "s3"
    /// `http://host:port` or `https://host`.
    package var endpoint: String
    /// Default `us-east-1`.
    package var region = "us-east-1"
    package var bucket: String
    /// Before every name; empty or with its last slash. Default empty.
    package var prefix = ""
    /// The bucket stands in the path, otherwise before the host's name. Default true.
    package var pathStyle = true
    package var accessKey: Secret?
    package var secretKey: Secret?
    /// Of keys that are good for a time; `nil`: they are good for ever.
    package var sessionToken: Secret?
    package var store = StoreRules()

    package init(endpoint: String, bucket: String) {
        self.endpoint = endpoint
        self.bucket = bucket
    }
}

extension Output {
    /// It writes nothing on this machine.
    var isElsewhere: Bool {
        switch self {
        case .http, .s3: true
        default: false
        }
    }
}

extension Pipeline {
    /// The stores elsewhere, in file order.
    package var uploads: [Output] { self.outputs.filter(\.isElsewhere) }
}

extension HTTPOutput.Credentials {
    static let rule = ObjectRule(
        "how the server knows this room", Self(),
        [
            Field(required: "type", \.type, .choice, "bearer: a token; basic: user:password"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the token, or user:password"),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds it instead"),
        ])
}

extension HTTPOutput {
    static let rule = ObjectRule(
        "the room's HLS at a server that takes PUT or POST, as plain playlists", HTTPOutput(url: ""),
        [
            Field("type", always: "http", isRequired: true, "the kind of output"),
            Field(
                "outputId", \.outputID, .name(64, marks: "_.-"), "the output's id: 1 to 64 letters, digits, _ . or -"),
            Field(
                "segmentFormat", always: "fmp4", isRequired: false,
                "fragmented MP4; an output of transport streams is there at the viewers' listener and in its directory alone"
            ),
            Field(required: "url", \.url, .placeURL, "http or https URL below which objects go, without query"),
            Field("method", \.method, .choice, "what objects are sent with: PUT or POST"),
            Field(optional: "auth", \.credentials, .object(Credentials.rule), "how the server knows this room"),
            Field(
                optional: "retryForMs", \.store.retryForMs, .integer(100...600_000), StoreRules.retryMeaning),
            Field("queueSegments", \.store.queueSegments, .integer(1...1_000), StoreRules.queueMeaning),
            Field("onLost", \.store.onLost, .choice, StoreRules.lostMeaning),
            Field("deletes", \.store.deletes, .boolean, StoreRules.deletesMeaning),
            Field(
                neverOn: "lowLatency", because: StoreRules.noLowLatency, fix: StoreRules.lowLatencyFix,
                StoreRules.lowLatencyMeaning),
            Field(optional: "authorities", \.store.authorities, .path, StoreRules.authoritiesMeaning),
        ])
}

extension S3Output {
    static let rule = ObjectRule(
        "the room's HLS in a bucket of an S3-compatible service, as plain playlists",
        S3Output(endpoint: "", bucket: ""),
        [
            Field("type", always: "s3", isRequired: true, "the kind of output"),
            Field(
                "outputId", \.outputID, .name(64, marks: "_.-"), "the output's id: 1 to 64 letters, digits, _ . or -"),
            Field(
                "segmentFormat", always: "fmp4", isRequired: false,
                "fragmented MP4; an output of transport streams is there at the viewers' listener and in its directory alone"
            ),
            Field(required: "endpoint", \.endpoint, .endpoint, "http://host:port or https://host of the service"),
            Field("region", \.region, .name(64, marks: "-_."), "the region requests are signed for"),
            Field(required: "bucket", \.bucket, .name(63, marks: ".-"), "the bucket; it must be there"),
            Field(
                "prefix", \.prefix,
                .text("letters, digits, _ . - and slashes, ending in a slash", pattern: "^([A-Za-z0-9_.-]+/)*$") {
                    text in text.utf8.count <= 512 && text.isPrefix
                }, "before every object's name, ending in a slash"),
            Field(
                "pathStyle", \.pathStyle, .boolean,
                "whether the bucket stands in the path; otherwise before the host's name"),
            Field(
                optional: "accessKeyEnv", \.accessKey.variable, .variable,
                "environment variable that holds the access key"),
            Field(optional: "accessKeyFile", \.accessKey.file, .path, "file that holds it instead"),
            Field(
                optional: "secretKeyEnv", \.secretKey.variable, .variable,
                "environment variable that holds the secret key; it signs each request (AWS Signature Version 4)"),
            Field(optional: "secretKeyFile", \.secretKey.file, .path, "file that holds it instead"),
            Field(
                optional: "sessionTokenEnv", \.sessionToken.variable, .variable,
                "environment variable that holds the session token of keys that are good for a time; read when the room starts"
            ),
            Field(optional: "sessionTokenFile", \.sessionToken.file, .path, "file that holds it instead"),
            Field(
                optional: "retryForMs", \.store.retryForMs, .integer(100...600_000), StoreRules.retryMeaning),
            Field("queueSegments", \.store.queueSegments, .integer(1...1_000), StoreRules.queueMeaning),
            Field("onLost", \.store.onLost, .choice, StoreRules.lostMeaning),
            Field("deletes", \.store.deletes, .boolean, StoreRules.deletesMeaning),
            Field(
                neverOn: "lowLatency", because: StoreRules.noLowLatency, fix: StoreRules.lowLatencyFix,
                StoreRules.lowLatencyMeaning),
            Field(optional: "authorities", \.store.authorities, .path, StoreRules.authoritiesMeaning),
        ])
}

extension StoreRules {
    static let retryMeaning =
        "milliseconds a segment is tried for; without it, the target duration, or as long as the segment is if that is longer. Then it "
        + "is what onLost says"
    static let queueMeaning = "segments that wait at most; behind them the oldest is given up as a gap"
    static let lostMeaning =
        "what stands in this store for a segment that could not be sent in time: gap (EXT-X-GAP), or slate of its length"
    static let authoritiesMeaning =
        "PEM file of the authorities that may have signed its certificate, relative to the working directory; without it "
        + "the system's"
    static let deletesMeaning = "whether objects are deleted once no player can need them"
    static let lowLatencyMeaning =
        "stores get plain playlists: none of them holds a reload back until a part is there, as low latency needs"
    /// rfc8216bis Appendix B.1 wants blocking reload of a low-latency server. What plays parts without it reloads once a target
    /// duration and runs dry, for it has begun PART-HOLD-BACK behind the edge.
    static let noLowLatency =
        "is not to be had at a store: it cannot hold a reload back until a part is there, and players without that stall"
    static let lowLatencyFix =
        "leave it out, and let the CDN take the room from the hls output's listener, which has low latency"
}

extension String {
    /// Components between slashes, none of which is a way up.
    fileprivate var isPrefix: Bool {
        guard !self.isEmpty else { return true }
        guard self.hasSuffix("/") else { return false }
        return self.dropLast().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { component in
            !component.isEmpty && component != "." && component != ".."
                && component.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2e, 0x2d: true
                    default: false
                    }
                }
        }
    }
}

extension ValueRule where Value == String {
    /// A URL to which names can be added. It may hold a token.
    fileprivate static var placeURL: ValueRule {
        self.text("http://host/path or https://host/path", pattern: "^https?://[!-~]+$", isSecret: true) { text in
            let rest = ["http://", "https://"].lazy.filter { text.hasPrefix($0) }.first
                .map { text.dropFirst($0.count) }
            guard let rest, text.utf8.count <= 2048, let first = rest.first else { return false }
            return first != "/"
                && rest.utf8.allSatisfy {
                    (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
                }
        }
    }

    /// Scheme and authority.
    fileprivate static var endpoint: ValueRule {
        self.text("http://host:port or https://host", pattern: "^https?://[A-Za-z0-9.:_\\[\\]-]+/?$") { text in
            let rest = ["http://", "https://"].lazy.filter { text.hasPrefix($0) }.first
                .map { text.dropFirst($0.count) }
            guard var rest, text.utf8.count <= 256 else { return false }
            if rest.hasSuffix("/") { rest.removeLast() }
            return !rest.isEmpty
                && rest.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x3a, 0x41...0x5b, 0x61...0x7a, 0x5d, 0x5f, 0x2d, 0x2e: true
                    default: false
                    }
                }
        }
    }
}

extension PipelineRules {
    /// What stores elsewhere need.
    func checkUpload(_ output: Output, _ path: String, _ log: inout SpecLog) {
        guard let hls = self.pipeline.hls else {
            log.mistake(
                path, "there is no hls output whose objects it could take", fix: "add one: { \"path\": \"out\" }")
            return
        }
        if self.pipeline.clock == .offline {
            log.mistake(
                "\(path).type", "an offline room uploads nothing: it makes segments faster than they are played",
                fix: "upload the hls output's directory when the room is over")
        }
        if let encryption = hls.encryption, encryption.keyURI == nil {
            log.mistake(
                path, "players of this store would find no keys: the viewers' listener alone serves them",
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
