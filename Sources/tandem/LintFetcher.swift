import AsyncHTTPClient
import HLSLint
import MediaTypes
import NIOCore
import NIOHTTP1
import Threading

/// Carries out the linter's requests, over HTTP or from local files.
struct LintFetcher: Sendable {
    /// Maximum size of an object in bytes: more than a segment of one minute at 100 Mbit/s.
    private static let largestObject = 768 << 20
    /// Timeout of a request. It is longer than a server may block a request: three target durations of ten seconds, and
    /// a margin.
    private static let longestWait: TimeAmount = .seconds(40)

    let client: HTTPClient
    private let clock = SystemClock()

    init(client: HTTPClient) { self.client = client }

    /// Configuration of the ``HTTPClient``: redirects are not followed, because playlists must not have any; gzip is
    /// accepted, as players do.
    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.decompression = .enabled(limit: .size(Self.largestObject))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.timeout.connect = .seconds(5)
        // With retries, the pool would wait for up to seconds before it connects to a server that has just come back.
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    func fetch(_ request: LintRequest) async -> LintReply {
        let sentAt = self.clock.now()
        var reply =
            Location.isRemote(request.url)
            ? await self.remote(request, sentAt) : self.local(request, sentAt)
        reply.receivedAt = self.clock.now()
        return reply
    }

    private func remote(_ request: LintRequest, _ sentAt: Int64) async -> LintReply {
        var head = HTTPClientRequest(url: request.url)
        head.method = request.isHead ? .HEAD : .GET
        head.headers.add(name: "user-agent", value: "tandem-lint-hls/\(TandemVersion.number)")
        if let range = request.range {
            head.headers.add(name: "range", value: "bytes=\(range.start)-\(range.start &+ max(1, range.count) &- 1)")
        } else {
            head.headers.add(name: "accept-encoding", value: "gzip")
        }
        do {
            let response = try await self.client.execute(head, timeout: Self.longestWait)
            var headers: [String: String] = [:]
            for (name, value) in response.headers { headers[name.lowercased()] = value }
            let body = request.isHead ? ByteBuffer() : try await response.body.collect(upTo: Self.largestObject)
            return LintReply(
                status: Int(response.status.code), headers: headers, body: Array(body.readableBytesView),
                sentAt: sentAt, receivedAt: sentAt)
        } catch {
            return LintReply(status: 0, failure: ConnectionText.of(error), sentAt: sentAt, receivedAt: sentAt)
        }
    }

    private func local(_ request: LintRequest, _ sentAt: Int64) -> LintReply {
        do {
            var bytes = try FileBytes.read(request.url, limit: Self.largestObject)
            if let range = request.range {
                let start = Int(clamping: min(range.start, Int64(bytes.count)))
                bytes = Array(bytes[start...].prefix(Int(clamping: range.count)))
            }
            return LintReply(status: 200, body: bytes, sentAt: sentAt, receivedAt: sentAt, isLocal: true)
        } catch {
            let what =
                switch error {
                case .missing(let what), .unreadable(let what): what
                }
            return LintReply(status: 404, failure: what, sentAt: sentAt, receivedAt: sentAt, isLocal: true)
        }
    }
}
