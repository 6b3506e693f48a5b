package import PublishAuth
import AsyncHTTPClient
import Egress
import MediaTypes
import NIOCore
import NIOHTTP1
package import RTMP
import Threading

/// Asks a webhook whether a publisher may publish.
///
/// There is one attempt: encoders wait at most three seconds, so a second attempt would come too late. Redirects are
/// not followed, because the body holds a stream key.
package struct PublishWebhookClient: Sendable {
    package enum OnFailure: Sendable, Hashable {
        case deny
        case allow
    }

    /// The result of a webhook request.
    package struct Verdict: Sendable, Hashable {
        /// Why the publisher is refused; nil: the publisher is accepted.
        package var refusal: PublishRefusal?
        /// What went wrong, for the operator; nil: the webhook has decided.
        package var failure: String?
    }

    /// Maximum number of bytes read of a response body.
    private static let largestAnswer = 64 << 10
    /// Nanoseconds to read a response body after the status has already decided. Usually the body arrives with the
    /// head; a response that was read to the end leaves its connection reusable.
    private static let courtesy: Int64 = 100_000_000

    package var hook: PublishWebhook
    /// `http://…` or `https://…`. Never logged: it may hold a token.
    package var url: String
    /// Time limit in nanoseconds for the whole request, from the DNS lookup to the last byte of the response.
    package var timeout: Int64
    package var onFailure: OnFailure

    package init(hook: PublishWebhook, url: String, timeout: Int64 = 2_500_000_000, onFailure: OnFailure = .deny) {
        self.hook = hook
        self.url = url
        self.timeout = timeout
        self.onFailure = onFailure
    }

    static func client() -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        configuration.timeout.connect = .milliseconds(2500)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func verdict(on facts: PublishFacts, _ client: HTTPClient) async -> Verdict {
        switch await self.answer(to: facts, client) {
        case .allowed: return Verdict()
        case .refused(let reason):
            let told = reason.map { PublishRefusal(code: PublishRefusal.denied.code, text: $0) }
            return Verdict(refusal: told ?? .denied)
        case .failed(let failure):
            return Verdict(refusal: self.onFailure == .allow ? nil : .undecided, failure: failure)
        }
    }

    private func answer(to facts: PublishFacts, _ client: HTTPClient) async -> PublishWebhook.Answer {
        let question = self.hook.request(for: facts)
        var request = HTTPClientRequest(url: self.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: question.contentType)
        request.headers.add(name: "user-agent", value: TandemVersion.userAgent)
        for (name, value) in question.fields { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: question.body))
        let clock = SystemClock()
        let began = clock.now()
        do {
            let response = try await client.execute(request, timeout: .nanoseconds(self.timeout))
            let content = response.body
            let status = Int(response.status.code)
            let said = self.hook.answer(status: status)
            // The timeout of `execute` ends with the head.
            let rest = self.timeout - (clock.now() - began)
            let left = said == nil ? rest : min(rest, Self.courtesy)
            let reading = await Deadline.run(within: left) { () -> Result<ByteBuffer, any Error> in
                do { return .success(try await content.collect(upTo: Self.largestAnswer)) } catch {
                    return .failure(error)
                }
            }
            // A decision by status stands even if the body is too long or breaks off.
            if let said { return said }
            guard let body = try reading?.get() else { return .failed("deadlineExceeded") }
            return self.hook.answer(status: status, body: Array(body.readableBytesView))
        } catch let error as HTTPClientError {
            // The short description is the name of the case; it holds no part of the URL.
            return .failed(error.shortDescription)
        } catch {
            return .failed(ConnectionFailure.text(error) ?? "no connection: \(type(of: error))")
        }
    }
}
