import MediaTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing
import Upload

@Suite("Buckets: list, read and delete (Amazon S3 API)")
struct BucketClientTests {
    private static let now: Int64 = 1_800_000_000

    /// An S3 server: it checks signatures, and lists two objects at a time.
    private final class Server: ChannelInboundHandler, Sendable {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        struct State {
            var objects: [String: String] = [:]
            /// Statuses of the next replies, whatever the requests are.
            var failures: [Int] = []
            var requests: [String] = []
            var port = 0
        }

        let state = Mutex(State())
        private let head = Mutex<HTTPRequestHead?>(nil)

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch Self.unwrapInboundIn(data) {
            case .head(let head): self.head.withLock { $0 = head }
            case .body: break
            case .end:
                guard let head = self.head.withLock({ $0 }) else { return }
                let (status, body) = self.state.withLock { Self.answer(head, &$0) }
                let fields: HTTPHeaders = ["content-length": "\(body.utf8.count)"]
                context.write(
                    Self.wrapOutboundOut(
                        .head(
                            HTTPResponseHead(
                                version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: fields))),
                    promise: nil)
                context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
                context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        private static func answer(_ head: HTTPRequestHead, _ state: inout State) -> (Int, String) {
            state.requests.append("\(head.method.rawValue) \(head.uri)")
            if let status = state.failures.first {
                state.failures.removeFirst()
                return (status, "<Error><Code>SlowDown</Code></Error>")
            }
            let parts = head.uri.split(separator: "?", maxSplits: 1)
            let query = parts.dropFirst().first.map(self.items) ?? []
            let path = String(parts[0])
            // Computed from what arrived, not from what the client meant.
            let signer = SignatureV4(accessKey: "ID", secretKey: "hunter2", region: "r", service: "s3")
            let time = head.headers.first(name: "x-amz-date") ?? ""
            let hash = head.headers.first(name: "x-amz-content-sha256") ?? ""
            let fields = ["host", "x-amz-content-sha256", "x-amz-date"].map { ($0, head.headers.first(name: $0) ?? "") }
            let expected = signer.authorization(
                method: head.method.rawValue, path: path, query: query, fields: fields, payloadHash: hash, time: time)
            guard head.headers.first(name: "authorization") == expected, time == "20270115T080000Z" else {
                return (403, "<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code></Error>")
            }
            if path == "/rooms" { return (200, self.page(query, state.objects)) }
            let key = self.decoded(path.dropFirst("/rooms/".count))
            if head.method == .DELETE {
                state.objects[key] = nil
                return (204, "")
            }
            return state.objects[key].map { (200, $0) } ?? (404, "<Error><Code>NoSuchKey</Code></Error>")
        }

        private static func page(_ query: [(name: String, value: String)], _ objects: [String: String]) -> String {
            func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
            guard value("list-type") == "2", let prefix = value("prefix") else { return "?" }
            let after = value("continuation-token").map { String($0.dropFirst("after/".count)) } ?? ""
            let keys = objects.keys.filter { $0.hasPrefix(prefix) && $0 > after }.sorted()
            let rows = keys.prefix(2).map { key in
                let name = key.replacing("&", with: "&amp;").replacing("'", with: "&#39;")
                return "<Contents><Key>\(name)</Key><LastModified>2026-11-27T10:00:00.123Z</LastModified>"
                    + "<ETag>&quot;x&quot;</ETag><Size>\(objects[key]?.utf8.count ?? 0)</Size></Contents>"
            }
            let more =
                keys.count > 2
                ? "<IsTruncated>true</IsTruncated><NextContinuationToken>after/\(keys[1])</NextContinuationToken>"
                : "<IsTruncated>false</IsTruncated>"
            return "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<Name>rooms</Name>\(more)\(rows.joined())</ListBucketResult>"
        }

        private static func items(_ query: Substring) -> [(name: String, value: String)] {
            query.split(separator: "&").map { item in
                let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (self.decoded(pair[0]), self.decoded(pair[1]))
            }
        }

        private static func decoded(_ text: Substring) -> String {
            var bytes: [UInt8] = []
            var rest = Array(text.utf8)[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "%") else {
                    bytes.append(byte)
                    continue
                }
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func with<R>(
        _ server: Server, secret: String = "hunter2", _ body: @Sendable (BucketClient) async throws -> R
    ) async throws -> R {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(server)
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        let result = try await BucketClient.with(
            authorities: nil, pause: .zero, now: { Self.now },
            place: {
                S3Bucket(
                    endpoint: "http://127.0.0.1:\(port)", region: "r", bucket: "rooms", prefix: $0, accessKey: "ID",
                    secretKey: secret)
            }, body)
        try await channel.close()
        return result
    }

    /// The objects of all pages.
    private static func all(_ client: BucketClient, prefix: String) async throws -> [StoredObject] {
        var page = try await client.page(prefix: prefix, after: nil)
        var objects = page.objects
        while let token = page.next {
            page = try await client.page(prefix: prefix, after: token)
            objects += page.objects
        }
        return objects
    }

    private static func failure(_ body: () async throws -> Void) async -> MediaError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? MediaError
        }
    }

    @Test("all pages of a bucket's listing are read; objects are read and deleted; every request is signed")
    func objects() async throws {
        let server = Server()
        let keys = ["live/a/index.m3u8", "live/a/720p-1-0.m4s", "live/b & c's/방송.m3u8", "live/d/x", "other/e"]
        server.state.withLock { state in for key in keys { state.objects[key] = "bytes of \(key)" } }
        try await Self.with(server) { client in
            let found = try await Self.all(client, prefix: "live/")
            #expect(found.map(\.key) == keys.filter { $0.hasPrefix("live/") }.sorted())
            #expect(found.allSatisfy { $0.modified == 1_795_773_600 && $0.bytes > 0 })
            let bytes = try await client.read("index.m3u8", prefix: "live/a/")
            #expect(bytes == Array("bytes of live/a/index.m3u8".utf8))
            let absent = try await client.read("none.m3u8", prefix: "live/a/")
            #expect(absent == nil)
            try await client.delete("방송.m3u8", prefix: "live/b & c's/")
            try await client.delete("none.m3u8", prefix: "live/a/")
            let everything = try await Self.all(client, prefix: "")
            #expect(everything.count == 4 && !everything.contains { $0.key.contains("방송") })
        }
    }

    @Test(
        "a bucket request is repeated twice after a status of 5xx; the error names the status, S3 code or refused connection"
    )
    func failures() async throws {
        let server = Server()
        server.state.withLock { $0.objects["a/b"] = "x" }
        try await Self.with(server) { client in
            server.state.withLock { $0.failures = [503, 500] }
            let found = try await client.page(prefix: "a/", after: nil)
            #expect(found.objects.count == 1)
            server.state.withLock { $0.failures = [503, 503, 503] }
            let busy = await Self.failure { _ = try await client.page(prefix: "a/", after: nil) }
            #expect(busy?.what.contains("status 503 SlowDown") == true, "\(String(describing: busy))")
        }
        let refused = await Self.failure {
            try await Self.with(server, secret: "wrong") { client in try await client.delete("b", prefix: "a/") }
        }
        #expect(refused?.what.contains("status 403 SignatureDoesNotMatch") == true)
        #expect(server.state.withLock { $0.objects["a/b"] } == "x")
        let silent = await Self.failure {
            try await BucketClient.with(
                authorities: nil, pause: .zero, now: { Self.now },
                place: {
                    S3Bucket(
                        endpoint: "http://127.0.0.1:1", region: "r", bucket: "b", prefix: $0, accessKey: "a",
                        secretKey: "s")
                }
            ) { client in _ = try await client.page(prefix: "", after: nil) }
        }
        #expect(silent?.what.contains("does not answer: connection refused") == true, "\(String(describing: silent))")
    }

    private static let row =
        "<Contents><Key>a/b</Key><LastModified>2026-11-27T10:00:00.000Z</LastModified><Size>3</Size></Contents>"

    @Test(
        "an incomplete or malformed bucket listing gives nil instead of an empty listing",
        arguments: [
            "", "<html></html>", "<Error><Code>NoSuchBucket</Code></Error>", "<ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key></ListBucketResult>",
            "<ListBucketResult>\(row)", "<ListBucketResult><IsTruncated>true</IsTruncated>\(row)</ListBucketResult>",
            "<ListBucketResult>\(row.replacing("<Size>3</Size>", with: ""))</ListBucketResult>",
            "<ListBucketResult>\(row.replacing("<Size>3", with: "<Size>-3"))</ListBucketResult>",
            "<ListBucketResult>\(row.replacing("2026-11-27", with: "yesterday"))</ListBucketResult>",
            "<ListBucketResult>\(row.replacing("a/b", with: ""))</ListBucketResult>",
            "<ListBucketResult>\(row.replacing("a/b", with: "a&unknown;b"))</ListBucketResult>",
            "<ListBucketResult>\(row.replacing("a/b", with: "a&#xD800;b"))</ListBucketResult>",
        ])
    func incomplete(text: String) { #expect(ObjectPage(xml: Array(text.utf8)) == nil) }

    @Test(
        "an empty bucket listing has no objects, XML references in keys are decoded, and a truncated listing has a next page"
    )
    func pages() {
        func page(_ text: String) -> ObjectPage? {
            ObjectPage(xml: Array("<ListBucketResult>\(text)</ListBucketResult>".utf8))
        }
        #expect(page("")?.objects.isEmpty == true && page("")?.next == nil)
        let escaped = page(Self.row.replacing("a/b", with: "a&amp;&lt;&#38;&#x26;&quot;b"))
        #expect(escaped?.objects == [StoredObject(key: "a&<&&\"b", bytes: 3, modified: 1_795_773_600)])
        let more = page("<IsTruncated>true</IsTruncated><NextContinuationToken>a=&amp;</NextContinuationToken>")
        #expect(more?.next == "a=&")
        #expect(ObjectPage(xml: [0x3c, 0xff]) == nil)
    }
}
