import AsyncHTTPClient
import Egress
import MediaTypes
import NIOCore
import NIOHTTP1
import Threading

/// Sends stills to a moderation webhook, and reads its answers. Requests are signed like those of ``EventDelivery``.
/// Redirects are not followed.
package struct StillPost: Sendable {
    /// The result of a request.
    package enum Outcome: Sendable, Hashable {
        case answered(ModerationAnswer)
        /// No usable answer, for this reason: another status than 2xx, no connection, a timeout, or an unknown body.
        case failed(String)
    }

    private var webhook: Webhook
    private let client: HTTPClient
    private let clock = SystemClock()

    package init(_ webhook: Webhook) {
        self.webhook = webhook
        self.client = .forWebhooks()
    }

    /// Uses another URL, timeout and secrets from the next still on. The connections stay.
    package mutating func renew(_ webhook: Webhook) { self.webhook = webhook }

    /// Sends a still once.
    package func send(_ still: SourceStillEvent) async -> Outcome {
        let timestamp = SystemClock.wallClock() / 1_000_000_000
        var request = HTTPClientRequest(url: self.webhook.url)
        request.method = .POST
        request.headers = HTTPHeaders([
            ("content-type", CloudEvent.contentType), ("user-agent", TandemVersion.userAgent), ("webhook-id", still.id),
            ("webhook-timestamp", "\(timestamp)"),
        ])
        if let signature = self.webhook.signature.field(id: still.id, timestamp: timestamp, body: still.body) {
            request.headers.add(name: "webhook-signature", value: signature)
        }
        request.body = .bytes(ByteBuffer(bytes: still.body))
        let began = self.clock.now()
        do {
            let response = try await self.client.execute(request, timeout: .nanoseconds(self.webhook.timeout))
            // The timeout of `execute` ends with the head; the body gets the rest of the time.
            let (status, content) = (Int(response.status.code), response.body)
            let rest = self.webhook.timeout &- (self.clock.now() &- began)
            let reading = await Deadline.run(within: rest) { () -> [UInt8]? in
                guard let body = try? await content.collect(upTo: ModerationAnswer.largest) else { return nil }
                return Array(body.readableBytesView)
            }
            guard (200..<300).contains(status) else { return .failed("status \(status)") }
            guard let read = reading else { return .failed("the answer did not arrive in time") }
            guard let body = read else { return .failed("the answer is longer than 16 KiB, or breaks off") }
            guard let answer = ModerationAnswer(body) else { return .failed("the answer is not a known JSON object") }
            return .answered(answer)
        } catch let error as HTTPClientError {
            // Its description contains the case, and no part of the URL.
            return .failed(error.shortDescription)
        } catch {
            return .failed(ConnectionFailure.text(error) ?? "no connection: \(type(of: error))")
        }
    }

    /// Closes the connections. Requests in progress fail.
    package func close() async { try? await self.client.shutdown() }
}
