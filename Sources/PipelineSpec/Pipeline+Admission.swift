extension Pipeline {
    /// Stream keys that somebody else makes out and signs.
    package struct Auth: Sendable, Equatable {
        /// What the signature is made of.
        package enum Kind: String, Sendable, CaseIterable {
            /// `?e=EXPIRY&n=NONCE&s=SIGNATURE`: expiry in Unix seconds; the signature is the base64url (RFC 4648 §5, with padding
            /// or without) of HMAC-SHA256 (RFC 2104) over `rtmp1|ROOM|NAME|EXPIRY|NONCE`.
            case hmac
            /// `?txSecret=DIGEST&txTime=EXPIRY`: Tencent's. Expiry in hexadecimal Unix seconds; the digest is the hexadecimal MD5
            /// or SHA-256 of secret, name and expiry as written.
            case tencent
            /// `?auth_key=TIME-RAND-UID-DIGEST`: Alibaba's type A. The digest is the hexadecimal MD5 of
            /// `/APP/NAME-TIME-RAND-UID-SECRET`; the key is valid for a configured time from TIME on.
            case alibaba
        }

        /// Default ``Kind/hmac``.
        package var type = Kind.hmac
        /// One secret a line, each accepted. Never ``Secret/inline(_:)``.
        package var secret: Secret?
        /// What the clocks of signer and worker may differ by, in seconds (0…3,600). Default 30.
        package var maxSkewSeconds = 30
        /// How long a key of type alibaba is good, in seconds (1…2,592,000). Default 86,400.
        package var validSeconds = 86_400
        /// A key is good for one publication; an encoder that comes back needs a new one. A worker that takes over knows which were
        /// used. Default false.
        package var singleUse = false

        package init() {}
    }
}

extension Pipeline.Auth {
    static let rule = ObjectRule(
        "keys that somebody else signs", Pipeline.Auth(),
        [
            Field("type", \.type, .choice, "what the signature is made of"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret; several lines: several secrets, each accepted"),
            Field(
                optional: "secretFile", \.secret.file, .path,
                "file that holds the secret instead; read again at SIGHUP"),
            Field(
                "maxSkewSeconds", \.maxSkewSeconds, .integer(0...3600),
                "seconds the clocks of signer and worker may differ by"),
            Field(
                "validSeconds", \.validSeconds, .integer(1...2_592_000),
                "seconds a key is good from the time it bears (alibaba)"),
            Field(
                "singleUse", \.singleUse, .boolean,
                """
                whether a key is good for one publication only: an encoder that comes back needs a new one; a worker that \
                takes over knows which were used
                """),
        ])

    static func checked(_ auth: Pipeline.Auth, _ path: String, _ log: inout SpecLog) -> Pipeline.Auth {
        log.checkSecret("secret", at: path, required: "the secret is that keys are signed with")
        return auth
    }
}

extension Pipeline {
    /// A webhook that says of each publisher whether it may publish.
    package struct OnPublish: Sendable, Equatable {
        /// How it is asked.
        package enum Form: String, Sendable, CaseIterable {
            /// A JSON body with `"action": "on_publish"`; 200 or 201 with the body `0` or `{"code": 0}` admits the publisher.
            case srs
            /// A form with `call=publish` and the stream's own query; any 2xx admits the publisher.
            case nginx
            /// A JSON body with client and request, signed in `X-OME-Signature`; `{"allowed": true}` admits the publisher.
            case ome
        }

        /// What becomes of a publisher when it gives no answer.
        package enum OnFailure: String, Sendable, CaseIterable { case deny, allow }

        /// `http://…` or `https://…`.
        package var url = ""
        /// Default ``Form/srs``.
        package var form = Form.srs
        /// Time it has, in milliseconds (100…2,500): encoders give up after 3,000. Default 2,500.
        package var timeoutMs = 2500
        /// Default ``OnFailure/deny``.
        package var onFailure = OnFailure.deny
        /// Signs what is sent in ``Form/ome``; `nil`: it is not signed.
        package var secret: Secret?

        package init() {}
    }
}

extension Pipeline.OnPublish {
    static let rule = ObjectRule(
        "a webhook that decides on publishers", Pipeline.OnPublish(),
        [
            Field(
                required: "url", \.url,
                .webhookURL, "where it is asked, by POST"),
            Field("form", \.form, .choice, "how it is asked: as SRS, nginx-rtmp or OvenMediaEngine ask"),
            Field(
                "timeoutMs", \.timeoutMs, .integer(100...2500),
                "milliseconds it has to answer; encoders give up after 3000"),
            Field("onFailure", \.onFailure, .choice, "what becomes of the publisher when it gives no answer"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret which signs what is sent (ome)"),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds it instead"),
        ])

    static func checked(_ hook: Pipeline.OnPublish, _ path: String, _ log: inout SpecLog) -> Pipeline.OnPublish {
        log.checkSecret("secret", at: path)
        if hook.secret != nil, hook.form != .ome, log.isSound("\(path).form") {
            log.mistake(
                "\(path).form", "is \(hook.form.rawValue), which signs nothing, and a secret is given",
                fix: "remove the secret, or write \"form\": \"ome\"")
        }
        return hook
    }
}
