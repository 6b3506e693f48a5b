import MediaTypes

/// A bucket of a service with Amazon's S3 protocol.
package struct S3Bucket: UploadTarget, Hashable, CustomReflectable {
    /// `http` or `https`.
    private let scheme: String
    /// Includes the port unless it is the scheme's default, and the bucket name in virtual-host style.
    private let host: String
    /// Percent-encoded, with a trailing slash.
    private let path: String
    private let signature: SignatureV4
    private let sessionToken: String?

    /// - Parameters:
    ///   - endpoint: `http://host:port` or `https://host`.
    ///   - prefix: Prefix of every object's name; empty or with a trailing slash.
    ///   - pathStyle: The bucket is part of the path; otherwise it is part of the host name.
    ///   - sessionToken: Session token of temporary keys; signed and sent with each request.
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
        self.path = PercentEncoding.encode(
            pathStyle ? "/\(bucket)/\(prefix)" : "/\(prefix)", keeping: [UInt8(ascii: "/")])
        self.signature = SignatureV4(accessKey: accessKey, secretKey: secretKey, region: region, service: "s3")
    }

    package var shown: String { "\(self.scheme)://\(self.host)" }

    /// Keeps the secret out of dumps.
    package var customMirror: Mirror { Mirror(self, children: ["bucket": "\(self.shown)\(self.path)"]) }

    package func request(
        _ head: ObjectRequest, at now: Int64
    ) -> (url: String, fields: [(name: String, value: String)]) {
        let path = self.path + PercentEncoding.encode(head.name)
        let time = SignatureV4.date(now)
        let hash = SignatureV4.hash(head.body)
        // The HTTP client adds the same host field itself.
        var own: [(name: String, value: String)] = [("x-amz-content-sha256", hash), ("x-amz-date", time)]
        if let token = self.sessionToken { own.append(("x-amz-security-token", token)) }
        let authorization = self.signature.authorization(
            method: head.method, path: path, fields: head.fields + own + [("host", self.host)], payloadHash: hash,
            time: time)
        return ("\(self.shown)\(path)", head.fields + own + [("authorization", authorization)])
    }

    /// The status with the service's error code, such as `SignatureDoesNotMatch`, `NoSuchBucket` or
    /// `RequestTimeTooSkewed`.
    package func reason(status: Int, _ body: [UInt8]) -> String {
        "status \(status)" + (Self.code(in: body).map { " \($0)" } ?? "")
    }

    /// Bytes of a response in which the error code is searched, and the longest code.
    private static let codePlace = 4_096
    private static let longestCode = 64

    /// Spec: Amazon S3 API, "REST error responses": `<Error><Code>…</Code>…`.
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
