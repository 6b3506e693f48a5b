import AsyncHTTPClient
import Egress
package import MediaTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Threading

/// A client that lists, reads and deletes objects of an S3 bucket, one request at a time. It is for tools; a room's own
/// uploads use ``Uploader``.
package struct BucketClient: Sendable {
    /// Returns a bucket whose object names all begin with `prefix`.
    package typealias Place = @Sendable (_ prefix: String) -> S3Bucket

    /// Timeout in nanoseconds of a request until the response's body has arrived.
    private static let timeout: Int64 = 20_000_000_000
    /// Maximum number of attempts for a request.
    private static let attempts = 3
    /// Connect timeout in nanoseconds.
    private static let connectTimeout: Int64 = 5_000_000_000
    /// Maximum size of a response in bytes: enough for a page of a thousand objects, and for a playlist.
    private static let longestAnswer = 16 << 20

    private let place: Place
    private let client: HTTPClient
    private let pause: Duration
    /// Returns the seconds since the Unix epoch.
    private let now: @Sendable () -> Int64

    /// Makes a client, calls `body` with it, and closes its connections.
    ///
    /// - Parameters:
    ///   - authorities: PEM file with the CA certificates to verify the server; `nil`: the system's.
    ///   - pause: Wait before a failed request is retried; doubled before the last attempt.
    ///   - now: Returns the seconds since the Unix epoch.
    package static func with<R>(
        authorities: String?, pause: Duration = .milliseconds(500), now: @escaping @Sendable () -> Int64,
        place: @escaping Place,
        _ body: (BucketClient) async throws -> R
    ) async throws -> R {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authorities { tls.trustRoots = .file(authorities) }
        tls.shutdownTimeout = .seconds(1)
        configuration.tlsConfiguration = tls
        configuration.timeout.connect = .nanoseconds(Self.connectTimeout)
        // `BucketClient` retries failed requests itself.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(BucketClient(place: place, client: client, pause: pause, now: now))
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Lists a page of the objects whose full names begin with `prefix`. Services limit a page to a thousand objects.
    ///
    /// - Parameter token: ``ObjectPage/next`` of the page before; `nil` for the first page.
    /// - Throws: ``MediaTypes/MediaError/Code/unavailable`` if the service does not respond, refuses the request, or does
    ///   not return a complete page.
    package func page(prefix: String, after token: String?) async throws(MediaError) -> ObjectPage {
        let (status, body) = try await self.send("GET") { $0.list(prefix: prefix, token: token, at: $1) }
        guard status == 200 else { throw self.refused(status, body) }
        guard let page = ObjectPage(xml: body) else { throw self.failure("did not return an object list") }
        return page
    }

    /// Reads an object; `nil` if it does not exist.
    ///
    /// - Parameters:
    ///   - prefix: Prefix of the object's name, empty or with a trailing slash.
    ///   - name: The rest of the object's name, without a slash.
    package func read(_ name: String, prefix: String) async throws(MediaError) -> [UInt8]? {
        let (status, body) = try await self.send("GET", prefix) {
            $0.request(ObjectRequest(method: "GET", name: name), at: $1)
        }
        if status == 404 { return nil }
        guard status == 200 else { throw self.refused(status, body) }
        return body
    }

    /// Deletes an object; succeeds if the object does not exist.
    package func delete(_ name: String, prefix: String) async throws(MediaError) {
        let (status, body) = try await self.send("DELETE", prefix) {
            $0.request(ObjectRequest(method: "DELETE", name: name), at: $1)
        }
        guard (200..<300).contains(status) || status == 404 else { throw self.refused(status, body) }
    }

    private func send(
        _ method: String, _ prefix: String = "",
        _ make: (S3Bucket, Int64) -> (url: String, fields: [(name: String, value: String)])
    ) async throws(MediaError) -> (status: Int, body: [UInt8]) {
        let clock = SystemClock()
        var problem = ""
        for attempt in 1...Self.attempts {
            let (url, fields) = make(self.place(prefix), self.now())
            var request = HTTPClientRequest(url: url)
            request.method = HTTPMethod(rawValue: method)
            for field in fields { request.headers.add(name: field.name, value: field.value) }
            request.headers.add(name: "user-agent", value: TandemVersion.userAgent)
            let began = clock.now()
            do {
                let response = try await self.client.execute(request, timeout: .nanoseconds(Self.timeout))
                // The timeout of `execute` only covers the head; the body gets the rest of the time.
                let answer = response.body
                let body = await Deadline.run(within: Self.timeout &- (clock.now() &- began)) {
                    try? await answer.collect(upTo: Self.longestAnswer)
                }
                guard let body = body ?? nil else { throw HTTPClientError.readTimeout }
                // Status 5xx means that the service is busy; all requests can be repeated safely.
                if response.status.code < 500 || attempt == Self.attempts {
                    return (Int(response.status.code), Array(body.readableBytesView))
                }
            } catch let error as HTTPClientError {
                problem = error.shortDescription
            } catch {
                problem = ConnectionFailure.text(error) ?? "no connection"
            }
            if attempt < Self.attempts { try? await Task.sleep(for: self.pause * attempt) }
        }
        throw self.failure("does not answer: \(problem)")
    }

    private func refused(_ status: Int, _ body: [UInt8]) -> MediaError {
        self.failure("refused a request: \(self.place("").reason(status: status, body))")
    }

    private func failure(_ what: String) -> MediaError {
        MediaError(
            .unavailable, "\(self.place("").shown) \(what)", at: "bucket",
            fix: "check endpoint, region, bucket and keys; the keys must be allowed to list, read and delete")
    }
}
