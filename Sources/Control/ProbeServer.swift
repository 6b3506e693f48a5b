import HTTPListener
package import Logging
package import MediaTypes
import NIOCore

/// Answers only an orchestrator's probes: the operators' listener of a worker whose room has ended or has moved to a
/// successor.
package final class ProbeServer: Sendable {
    private let listener: HTTPListener

    private init(_ listener: HTTPListener) { self.listener = listener }

    /// Address of the listener: `http://127.0.0.1:41234`, or `unix:/path`.
    package var boundAddress: String { self.listener.boundAddress }

    /// Opens the listener.
    ///
    /// - Parameter health: Returns the health of the worker for a probe. Called on the listener's thread; must not
    ///   block.
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
        "this worker no longer serves the room; it only completes outputs",
        fix: "send the request to its successor, or use GET /livez")

    /// Accepts no more connections, lets replies in progress finish within a second, and closes the rest.
    package func stop() async { await self.listener.stop(within: .seconds(1)) }
}
