import MediaTypes
import Testing
import Upload

/// The examples of Amazon's own pages.
@Suite("AWS Signature Version 4 in the Authorization header: the published examples")
struct SignatureV4Tests {
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// From "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
    private static let s3 = SignatureV4(
        accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1",
        service: "s3")

    private static func signature(_ authorization: String) -> String {
        String(authorization.split(separator: "=").last ?? "")
    }

    @Test("the signature equals Amazon's example for GET of an object with a range")
    func get() {
        let value = Self.s3.authorization(
            method: "GET", path: "/test.txt",
            fields: [
                ("host", "examplebucket.s3.amazonaws.com"), ("range", "bytes=0-9"),
                ("x-amz-content-sha256", Self.empty), ("x-amz-date", "20130524T000000Z"),
            ], payloadHash: Self.empty, time: "20130524T000000Z")
        #expect(
            value == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test("the signature equals Amazon's example for PUT of an object whose name must be percent-encoded")
    func put() {
        let body = Array("Welcome to Amazon S3.".utf8)
        let hash = SignatureV4.hash(body)
        #expect(hash == "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
        let value = Self.s3.authorization(
            method: "PUT", path: PercentEncoding.encode("/test$file.text", keeping: [UInt8(ascii: "/")]),
            fields: [
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"), ("date", "Fri, 24 May 2013 00:00:00 GMT"),
                ("host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", hash),
                ("x-amz-date", "20130524T000000Z"),
            ], payloadHash: hash, time: "20130524T000000Z")
        #expect(Self.signature(value) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test(
        "the signatures equal Amazon's examples for GET with a query parameter without value, and with two parameters",
        arguments: [
            ([("lifecycle", "")], "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            (
                [("prefix", "J"), ("max-keys", "2")],
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ])
    func queries(query: [(String, String)], signature: String) {
        let value = Self.s3.authorization(
            method: "GET", path: "/", query: query.map { (name: $0.0, value: $0.1) },
            fields: [
                ("host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", Self.empty),
                ("x-amz-date", "20130524T000000Z"),
            ], payloadHash: Self.empty, time: "20130524T000000Z")
        #expect(Self.signature(value) == signature)
    }

    @Test("the signature equals that of get-vanilla in Amazon's test suite")
    func vanilla() {
        let signer = SignatureV4(
            accessKey: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: "us-east-1",
            service: "service")
        let value = signer.authorization(
            method: "GET", path: "/",
            fields: [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")], payloadHash: Self.empty,
            time: "20150830T123600Z")
        #expect(Self.signature(value) == "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
    }

    @Test(
        "x-amz-date is written in UTC, leap years included",
        arguments: [
            (0, "19700101T000000Z"), (951_782_399, "20000228T235959Z"), (951_782_400, "20000229T000000Z"),
            (1_369_353_600, "20130524T000000Z"), (1_440_938_160, "20150830T123600Z"),
            (4_102_444_799, "20991231T235959Z"), (4_107_542_400, "21000301T000000Z"),
        ])
    func dates(seconds: Int64, text: String) { #expect(SignatureV4.date(seconds) == text) }

    @Test("an S3 URL has the bucket in the path or the host name, without a default port; no secret is in a dump")
    func places() {
        func bucket(_ endpoint: String, pathStyle: Bool) -> S3Bucket {
            S3Bucket(
                endpoint: endpoint, region: "eu-west-1", bucket: "rooms", prefix: "88231/", pathStyle: pathStyle,
                accessKey: "ID", secretKey: "hunter2hunter2")
        }
        let head = ObjectRequest(method: "PUT", name: "v-1-0.m4s", fields: [("content-type", "video/mp4")], body: [1])
        let inPath = bucket("http://127.0.0.1:9000", pathStyle: true).request(head, at: 0)
        #expect(inPath.url == "http://127.0.0.1:9000/rooms/88231/v-1-0.m4s")
        let inHost = bucket("https://s3.example:443/", pathStyle: false).request(head, at: 0)
        #expect(inHost.url == "https://rooms.s3.example/88231/v-1-0.m4s")
        let authorization = inHost.fields.first { $0.name == "authorization" }?.value ?? ""
        #expect(authorization.contains("SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date"))
        var text = ""
        dump(bucket("https://s3.example", pathStyle: true), to: &text)
        #expect(!text.contains("hunter2") && !text.isEmpty)
    }

    @Test("an S3 session token is sent and signed with a request, and is in no dump")
    func sessionToken() {
        let bucket = S3Bucket(
            endpoint: "https://s3.example", region: "r", bucket: "b", accessKey: "ID", secretKey: "secret",
            sessionToken: "hunter2-token")
        let fields = bucket.request(ObjectRequest(method: "PUT", name: "a.m4s", body: [1]), at: 0).fields
        #expect(fields.first { $0.name == "x-amz-security-token" }?.value == "hunter2-token")
        let signed = fields.first { $0.name == "authorization" }?.value ?? ""
        #expect(signed.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"))
        var text = ""
        dump(bucket, to: &text)
        #expect(!text.contains("hunter2"))
    }

    @Test(
        "the reported reason has an S3 error's <Code> only if it is 1 to 64 ASCII letters near the start, and no other text",
        arguments: [
            (
                "<?xml version='1.0'?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>m</Message></Error>",
                "status 403 SignatureDoesNotMatch"
            ),
            ("<Error><Message>m</Message><Code>NoSuchBucket</Code></Error>", "status 403 NoSuchBucket"),
            ("", "status 403"), ("<Error><Code>", "status 403"), ("<Error><Code></Code></Error>", "status 403"),
            ("<Error><Code>a secret, or so</Code></Error>", "status 403"),
            ("<Error><Code>\(String(repeating: "A", count: 65))</Code></Error>", "status 403"),
            ("\(String(repeating: " ", count: 5_000))<Error><Code>NoSuchKey</Code></Error>", "status 403"),
            ("<Error><Code>\u{e9}</Code>", "status 403"),
        ])
    func reasons(body: String, reason: String) {
        let bucket = S3Bucket(endpoint: "https://s3", region: "r", bucket: "b", accessKey: "a", secretKey: "s")
        #expect(bucket.reason(status: 403, Array(body.utf8)) == reason)
        #expect(bucket.reason(status: 403, [0x3c, 0x43, 0xff, 0xfe]) == "status 403")
        #expect(HTTPOrigin(url: "https://o").reason(status: 403, Array(body.utf8)) == "status 403")
    }

    @Test(
        "an object of a plain HTTP store is requested below its URL with its Authorization, which dump() does not show")
    func origin() {
        let target = HTTPOrigin(url: "https://u@o.example/live", authorization: "Bearer hunter2")
        let request = target.request(ObjectRequest(method: "PUT", name: "a.m3u8"), at: 0)
        #expect(request.url == "https://u@o.example/live/a.m3u8")
        #expect(request.fields.contains { $0 == ("authorization", "Bearer hunter2") })
        #expect(target.shown == "https://o.example")
        var text = ""
        dump(target, to: &text)
        #expect(!text.contains("hunter2"))
    }

    @Test("two stores, HTTP or S3, are the same only if their URLs and credentials are equal")
    func sameStore() {
        func bucket(_ secret: String, session: String? = nil) -> S3Bucket {
            S3Bucket(
                endpoint: "https://s3", region: "r", bucket: "b", accessKey: "a", secretKey: secret,
                sessionToken: session)
        }
        let origin = HTTPOrigin(url: "https://o", authorization: "Bearer 1")
        #expect(origin.isSame(as: HTTPOrigin(url: "https://o/", authorization: "Bearer 1")))
        #expect(!origin.isSame(as: HTTPOrigin(url: "https://o", authorization: "Bearer 2")))
        #expect(!origin.isSame(as: bucket("s")) && bucket("s").isSame(as: bucket("s")))
        #expect(!bucket("s").isSame(as: bucket("t")) && !bucket("s").isSame(as: bucket("s", session: "t")))
    }
}
