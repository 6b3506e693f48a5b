import MediaTypes

/// A bucket of an S3-compatible service, with credentials.
package struct S3Bucket: UploadTarget, Hashable, CustomReflectable {
    /// URL scheme of the endpoint, `http` or `https`.
    private let scheme: String
    /// Host name, with the port unless it is the scheme's default, and with the bucket name in virtual-host style.
    private let host: String
    /// Path of the bucket, percent-encoded, with a trailing slash.
    private let root: String
    /// Path of the objects, including their prefix; percent-encoded, with a trailing slash.
    private let path: String
    private let signature: SignatureV4
    private let sessionToken: String?

    /// Makes a bucket.
    ///
    /// - Parameters:
    ///   - endpoint: `http://host:port` or `https://host`.
    ///   - prefix: Prefix of every object's name; empty or with a trailing slash.
    ///   - pathStyle: Whether the bucket is part of the path; otherwise it is part of the host name.
    ///   - sessionToken: Session token of temporary keys, which is signed and sent with each request.
    package init(
        endpoint: String, region: String, bucket: String, prefix: String = "", pathStyle: Bool = true,
        accessKey: String, secretKey: String, sessionToken: String? = nil
    ) {
        self.sessionToken = sessionToken
        let isPlain = endpoint.hasPrefix("http://")
        self.scheme = isPlain ? "http" : "https"
        var host = String(endpoint.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" })
        let usual = isPlain ? ":80" : ":443"
        if host.hasSuffix(usual) { host.removeLast(usual.utf8.count) }
        self.host = pathStyle ? host : "\(bucket).\(host)"
        self.root = PercentEncoding.encode(pathStyle ? "/\(bucket)/" : "/", keeping: [UInt8(ascii: "/")])
        self.path = self.root + PercentEncoding.encode(prefix, keeping: [UInt8(ascii: "/")])
        self.signature = SignatureV4(accessKey: accessKey, secretKey: secretKey, region: region, service: "s3")
    }

    package var shown: String { "\(self.scheme)://\(self.host)" }

    /// Keeps the secret out of debug output.
    package var customMirror: Mirror { Mirror(self, children: ["bucket": "\(self.shown)\(self.path)"]) }

    package func request(
        _ head: ObjectRequest, at now: Int64
    ) -> (url: String, fields: [(name: String, value: String)]) {
        self.signed(head, self.path + PercentEncoding.encode(head.name), [], at: now)
    }

    /// Returns a signed request for a page of the object list.
    ///
    /// Spec: Amazon S3 API, ListObjectsV2.
    /// - Parameters:
    ///   - prefix: Prefix of the names to list.
    ///   - token: Continuation token of the previous page, ``ObjectPage/next``; `nil` for the first page.
    package func list(
        prefix: String, token: String?, at now: Int64
    ) -> (url: String, fields: [(name: String, value: String)]) {
        // The bucket's own path has no trailing slash.
        let path = self.root.utf8.count > 1 ? String(self.root.dropLast()) : self.root
        let query = [("list-type", "2"), ("prefix", prefix)] + (token.map { [("continuation-token", $0)] } ?? [])
        return self.signed(
            ObjectRequest(method: "GET", name: ""), path, query.map { (name: $0.0, value: $0.1) }, at: now)
    }

    /// Returns the URL and the header fields of a signed request.
    ///
    /// - Parameters:
    ///   - path: Percent-encoded path.
    ///   - query: Names and values that are not percent-encoded yet.
    private func signed(
        _ head: ObjectRequest, _ path: String, _ query: [(name: String, value: String)], at now: Int64
    ) -> (url: String, fields: [(name: String, value: String)]) {
        let time = SignatureV4.date(now)
        let hash = SignatureV4.hash(head.body)
        // The HTTP client adds the same host field itself.
        var own: [(name: String, value: String)] = [("x-amz-content-sha256", hash), ("x-amz-date", time)]
        if let token = self.sessionToken { own.append(("x-amz-security-token", token)) }
        let authorization = self.signature.authorization(
            method: head.method, path: path, query: query, fields: head.fields + own + [("host", self.host)],
            payloadHash: hash,
            time: time)
        let parameters = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        let question = parameters.isEmpty ? "" : "?\(parameters.joined(separator: "&"))"
        return ("\(self.shown)\(path)\(question)", head.fields + own + [("authorization", authorization)])
    }

    /// Describes a failed response: its status with the service's error code, such as `SignatureDoesNotMatch`,
    /// `NoSuchBucket` or `RequestTimeTooSkewed`.
    package func reason(status: Int, _ body: [UInt8]) -> String {
        "status \(status)" + (Self.code(in: body).map { " \($0)" } ?? "")
    }

    /// Number of bytes at the beginning of a response in which the error code is searched.
    private static let codePlace = 4_096
    /// Maximum length of an error code.
    private static let longestCode = 64

    /// Returns the error code of a response; `nil` if it has none. Spec: Amazon S3 API, "REST error responses":
    /// `<Error><Code>…</Code>…`.
    private static func code(in body: [UInt8]) -> String? {
        let text = String(decoding: body.prefix(Self.codePlace), as: UTF8.self)
        guard let start = text.firstRange(of: "<Code>")?.upperBound else { return nil }
        let word = text[start...].prefix { $0.isASCII && $0.isLetter }
        guard (1...Self.longestCode).contains(word.utf8.count), text[word.endIndex...].hasPrefix("</Code>") else {
            return nil
        }
        return String(word)
    }
}
