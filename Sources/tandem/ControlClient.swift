import ArgumentParser
import AsyncHTTPClient
import MediaTypes
import NIOCore
import NIOHTTP1

/// A client of a room's control API.
struct ControlClient: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]

        var text: String { String(decoding: self.body, as: UTF8.self) }
        var isGood: Bool { (200..<300).contains(self.status) }
    }

    private static let largestAnswer = 64 << 20

    private let base: String
    private let token: String?

    /// Creates a client for the room at `address`.
    ///
    /// - Parameters:
    ///   - address: Address of the control API: `http://HOST:PORT`, `https://…` or `unix:/path`, as in the event
    ///     `room.ready`.
    ///   - tokenFile: File whose first line is the bearer token; `nil`: none is sent.
    /// - Throws: `ValidationError` if `address` has another form or the file cannot be read; `ExitCode` 78 as in
    ///   ``ProcessStart/checkClient()``.
    init(_ address: String, tokenFile: String?) throws {
        try ProcessStart.checkClient()
        if address.hasPrefix("unix:/") {
            self.base = "http+unix://" + PercentEncoding.encode(String(address.dropFirst("unix:".count)))
        } else if address.hasPrefix("http://") || address.hasPrefix("https://") {
            self.base = address.hasSuffix("/") ? String(address.dropLast()) : address
        } else {
            throw ValidationError(
                "\(address) is not an address. Fix: give http://HOST:PORT or unix:/path, \"control\" of the event room.ready"
            )
        }
        guard let tokenFile else {
            self.token = nil
            return
        }
        do {
            let text = String(decoding: try FileBytes.read(tokenFile, limit: 64 << 10), as: UTF8.self)
            self.token = text.split(whereSeparator: \.isNewline).first.map(String.init)
        } catch {
            throw ValidationError("--token-file \(tokenFile) cannot be read. Fix: give the path in control.tokenFile")
        }
    }

    /// Makes an HTTP client that does not retry connections, so that a room that does not run is reported at once.
    private static func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func send(_ method: HTTPMethod, _ path: String, body: String? = nil, seconds: Int64 = 10) async throws -> Answer {
        let client = Self.client()
        do {
            let response = try await client.execute(self.request(method, path, body), timeout: .seconds(seconds))
            let bytes = try await response.body.collect(upTo: Self.largestAnswer)
            try await client.shutdown()
            return Answer(status: Int(response.status.code), body: Array(bytes.readableBytesView))
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Passes the data of server-sent events to `receive` until the room closes the connection.
    func follow(_ path: String, receive: (String) throws -> Void) async throws {
        var request = self.request(.GET, path, nil)
        request.headers.add(name: "accept", value: "text/event-stream")
        let client = Self.client()
        do {
            let response = try await client.execute(request, timeout: .hours(24 * 7))
            guard response.status == .ok else {
                let body = try await response.body.collect(upTo: Self.largestAnswer)
                let text = String(decoding: body.readableBytesView, as: UTF8.self)
                throw ControlRefusal(text: text.isEmpty ? "status \(response.status.code)\n" : text)
            }
            var rest: [UInt8] = []
            for try await chunk in response.body {
                rest += chunk.readableBytesView
                while let end = rest.firstIndex(of: 0x0A) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest.removeFirst(end + 1)
                    if line.hasPrefix("data: ") { try receive(String(line.dropFirst(6))) }
                }
            }
            try await client.shutdown()
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private func request(_ method: HTTPMethod, _ path: String, _ body: String?) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: self.base + path)
        request.method = method
        // The URL of a Unix socket has no host, so the client would not send a Host field. Spec: RFC 9112 §3.2.
        if self.base.hasPrefix("http+unix:") { request.headers.add(name: "host", value: "localhost") }
        request.headers.add(name: "user-agent", value: "tandem-ctl/\(TandemVersion.number)")
        if let token = self.token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        return request
    }
}

/// Thrown if the room refused the request.
struct ControlRefusal: Error {
    /// The body of the reply: one line, usually a problem in JSON.
    let text: String
}
