extension Pipeline {
    /// Settings for stream keys that an external service issues and signs.
    package struct Auth: Sendable, Equatable {
        /// Format of the signed key.
        package enum Kind: String, Sendable, CaseIterable {
            /// `?e=EXPIRY&n=NONCE&s=SIGNATURE`: expiry in Unix seconds; the signature is the base64url (RFC 4648 §5,
            /// with padding or without) of HMAC-SHA256 (RFC 2104) over `rtmp1|ROOM|NAME|EXPIRY|NONCE`.
            case hmac
            /// `?txSecret=DIGEST&txTime=EXPIRY`, the format of Tencent: the expiry is in hexadecimal Unix seconds; the
            /// digest is the hexadecimal MD5 or SHA-256 of secret, name and expiry as written.
            case tencent
            /// `?auth_key=TIME-RAND-UID-DIGEST`, type A of Alibaba: the digest is the hexadecimal MD5 of
            /// `/APP/NAME-TIME-RAND-UID-SECRET`; the key is valid for ``Pipeline/Auth/validSeconds`` from TIME on.
            case alibaba
        }

        /// Format of the signed key. Default ``Kind/hmac``.
        package var type = Kind.hmac
        /// Secrets that keys are signed with, one per line; a key signed with any of them is accepted. Never
        /// ``Secret/inline(_:)``.
        package var secret: Secret?
        /// Allowed clock difference between signer and worker, in seconds (0…3,600): a key is accepted for this long
        /// after its expiry. Default 30.
        package var maxSkewSeconds = 30
        /// How long a key of type alibaba is valid after the time in it, in seconds (1…2,592,000). Default 86,400.
        package var validSeconds = 86_400
        /// Whether a key is valid for only one publication, so that an encoder that reconnects needs a new key. A
        /// successor worker knows which keys were used. Default false.
        package var singleUse = false

        package init() {}
    }
}

extension Pipeline.Auth {
    static let rule = ObjectRule(
        "stream keys that an external service signs", Pipeline.Auth(),
        [
            Field("type", \.type, .choice, "format of the signed key"),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret; with several lines, each line is an accepted secret"),
            Field(
                optional: "secretFile", \.secret.file, .path,
                "file that holds the secret instead; read again when it changes"),
            Field(
                "maxSkewSeconds", \.maxSkewSeconds, .integer(0...3600),
                "allowed clock difference between signer and worker, in seconds"),
            Field(
                "validSeconds", \.validSeconds, .integer(1...2_592_000),
                "seconds that a key is valid after the time it contains (alibaba)"),
            Field(
                "singleUse", \.singleUse, .boolean,
                """
                whether a key is valid for only one publication: an encoder that reconnects needs a new key; a successor \
                worker knows which keys were used
                """),
        ])

    static func checked(_ auth: Pipeline.Auth, _ path: String, _ log: inout SpecLog) -> Pipeline.Auth {
        log.checkSecret("secret", at: path, required: "the secret that signs the keys is")
        return auth
    }
}

extension Pipeline {
    /// A webhook that decides for each publisher whether it may publish.
    package struct OnPublish: Sendable, Equatable {
        /// Format of the request.
        package enum Form: String, Sendable, CaseIterable {
            /// A JSON body with `"action": "on_publish"`; 200 or 201 with the body `0` or `{"code": 0}` admits the
            /// publisher.
            case srs
            /// A form with `call=publish` and the stream's own query; any 2xx admits the publisher.
            case nginx
            /// A JSON body with client and request, signed in `X-OME-Signature` if there is a secret; 200 with the body
            /// `{"allowed": true}` admits the publisher.
            case ome
        }

        /// What happens to a publisher if the webhook fails: no answer in time, status 5xx, or an answer that cannot be
        /// parsed.
        package enum OnFailure: String, Sendable, CaseIterable { case deny, allow }

        /// URL of the webhook, `http://…` or `https://…`.
        package var url = ""
        /// Format of the request. Default ``Form/srs``.
        package var form = Form.srs
        /// Timeout of the request in milliseconds (100…2,500). Encoders give up after 3,000 ms. Default 2,500.
        package var timeoutMs = 2500
        /// What happens to a publisher if the webhook fails. Default ``OnFailure/deny``.
        package var onFailure = OnFailure.deny
        /// Secret for signing requests of ``Form/ome``; `nil`: requests are not signed.
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
                .webhookURL, "URL of the webhook; requests use POST"),
            Field("form", \.form, .choice, "format of the request: that of SRS, nginx-rtmp or OvenMediaEngine"),
            Field(
                "timeoutMs", \.timeoutMs, .integer(100...2500),
                "timeout of the request in milliseconds; encoders give up after 3000"),
            Field(
                "onFailure", \.onFailure, .choice,
                "what happens to the publisher if the webhook does not answer, or answers with status 5xx or an unknown body"
            ),
            Field(
                optional: "secretEnv", \.secret.variable, .variable,
                "environment variable that holds the secret for signing requests (ome)"),
            Field(optional: "secretFile", \.secret.file, .path, "file that holds the secret instead"),
        ])

    static func checked(_ hook: Pipeline.OnPublish, _ path: String, _ log: inout SpecLog) -> Pipeline.OnPublish {
        log.checkSecret("secret", at: path)
        if hook.secret != nil, hook.form != .ome, log.isValid("\(path).form") {
            log.mistake(
                "\(path).form", "is \(hook.form.rawValue), which does not sign requests, but a secret is given",
                fix: "remove the secret, or write \"form\": \"ome\"")
        }
        return hook
    }
}
