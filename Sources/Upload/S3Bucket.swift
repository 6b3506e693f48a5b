/// A bucket of a service that speaks Amazon's S3 protocol.
package struct S3Bucket: UploadTarget {
    /// `http` or `https`.
    private let scheme: String
    /// With the port where it is not the scheme's own, and the bucket where it is part of the name.
    private let host: String
    /// Ends in a slash, percent-encoded.
    private let path: String
    private let signature: SignatureV4

    /// - Parameters:
    ///   - endpoint: `http://host:port` or `https://host`.
    ///   - prefix: Before every object's name; empty or with its last slash.
    ///   - pathStyle: The bucket stands in the path, otherwise before the host's name.
    package init(
        endpoint: String, region: String, bucket: String, prefix: String = "", pathStyle: Bool = true,
        accessKey: String, secretKey: String
    ) {
        let isPlain = endpoint.hasPrefix("http://")
        self.scheme = isPlain ? "http" : "https"
        var host = String(endpoint.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" })
        let usual = isPlain ? ":80" : ":443"
        if host.hasSuffix(usual) { host.removeLast(usual.utf8.count) }
        self.host = pathStyle ? host : "\(bucket).\(host)"
        self.path = SignatureV4.encoded(pathStyle ? "/\(bucket)/\(prefix)" : "/\(prefix)", slashes: true)
        self.signature = SignatureV4(accessKey: accessKey, secretKey: secretKey, region: region, service: "s3")
    }

    package var shown: String { "\(self.scheme)://\(self.host)" }

    package func request(
        _ head: UploadHead, at now: Int64
    ) -> (url: String, fields: [(name: String, value: String)]) {
        let path = self.path + SignatureV4.encoded(head.name)
        let time = SignatureV4.date(now)
        let hash = SignatureV4.hash(head.body)
        // The client says the host itself, the same.
        let own = [("x-amz-content-sha256", hash), ("x-amz-date", time)]
        let authorization = self.signature.authorization(
            method: head.method, path: path, fields: head.fields + own + [("host", self.host)], payloadHash: hash,
            time: time)
        return ("\(self.shown)\(path)", head.fields + own + [("authorization", authorization)])
    }
}
