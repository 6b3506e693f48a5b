import HTTPListener
package import Logging
package import MediaTypes
import NIOCore

/// Answers an orchestrator's probes, and nothing else: the operator's listener of a worker that has no room any more.
package final class ProbeServer: Sendable {
    private let listener: HTTPListener

    private init(_ listener: HTTPListener) { self.listener = listener }

    /// `http://127.0.0.1:41234`, or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }

    /// - Parameter health: What the probes are answered by. Called on the listener's thread; does not block.
    /// - Throws: ``MediaError/Code/bindFailed``.
    package static func start(
        listen: ListenAddress, logger: Logger, health: @escaping @Sendable () -> HealthReport
    ) async throws(MediaError) -> ProbeServer {
        let limits = HTTPListenerLimits(
            connections: ControlServer.connections, bodyBytes: 4 << 10, crowd: ControlServer.crowd)
        let listener = try await HTTPListener.start(
            listen: listen, limits: limits, group: nil, place: "control", logger: logger
        ) { request, answer in
            let route = ControlRoute(of: request)
            guard let route, route.isProbe else { return answer(.problem(Self.over)) }
            guard route.methods.contains(request.head.method) else {
                return answer(ControlResponder.wrongMethod(request.head.method, route))
            }
            answer(ControlResponder.probe(route, health()))
        }
        return ProbeServer(listener)
    }

    private static let over = ControlFailure.roomExited(
        "the room is over, and this worker finishes what it left behind", fix: "ask its successor, or GET /livez")

    /// Takes no more connections, and closes those there are.
    package func stop() async { await self.listener.stop(within: .seconds(1)) }
}
