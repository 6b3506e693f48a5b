package import HTTPListener
import NIOCore
import PipelineSpec
import WebRTC
package import WHEP

/// Answers the requests of WebRTC viewers (WHEP) to the playback listener.
package struct WebRTCViewers: Sendable {
    /// Answers a request by calling `answer` once, on any thread.
    package typealias Responder =
        @Sendable (
            _ request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void
        ) -> Void

    let respond: Responder
    /// Returns the number of connected viewers.
    let count: @Sendable () -> Int64

    package init(respond: @escaping Responder, count: @escaping @Sendable () -> Int64 = { 0 }) {
        self.respond = respond
        self.count = count
    }

    /// The viewers of a server.
    package init(_ server: WHEPServer) {
        self.init(
            respond: { request, answer in
                if case .tooLarge = request.body { return answer(ListenerReply(WHEPServer.tooLarge)) }
                let client = request.client.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
                server.respond(to: WHIPRequest(request), client: client) { reply in
                    let reply = ListenerReply(reply)
                    // A reply is written on the event loop of its client.
                    guard let loop = request.client.eventLoop else { return answer(reply) }
                    loop.execute { answer(reply) }
                }
            }, count: { Int64(server.statistics.viewers) })
    }
}
