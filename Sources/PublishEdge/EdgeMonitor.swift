import HTTPListener
import HTTPTypes
package import Logging
package import MediaTypes
import NIOCore
import Synchronization

/// The HTTP listener for an edge's probes and metrics: `/livez`, `/readyz` and `/metrics`.
package final class EdgeMonitor: Sendable {
    private let listener: HTTPListener
    private let isStopping: StopFlag

    /// URL of the listener, such as `http://127.0.0.1:41234`.
    package var boundAddress: String { self.listener.boundAddress }

    private init(_ listener: HTTPListener, _ isStopping: StopFlag) {
        self.listener = listener
        self.isStopping = isStopping
    }

    private final class StopFlag: Sendable { let value = Atomic<Bool>(false) }

    /// - Throws: ``MediaError/Code/bindFailed``.
    package static func start(
        listen: ListenAddress, counters: SharedCounters, logger: Logger
    ) async throws(MediaError) -> EdgeMonitor {
        let flag = StopFlag()
        let listener = try await HTTPListener.start(
            listen: listen, limits: HTTPListenerLimits(connections: 64, bodyBytes: 4 << 10, crowd: 48), group: nil,
            place: "--metrics", logger: logger
        ) { request, answer in
            guard request.head.method == .get || request.head.method == .head else {
                return answer(.plain(.methodNotAllowed, "use GET", fields: [.allow: "GET, HEAD"]))
            }
            switch request.target?.path {
            case "/livez": answer(.plain(.ok, "ok"))
            case "/readyz":
                answer(
                    flag.value.load(ordering: .relaxed)
                        ? .plain(.serviceUnavailable, "stopping") : .plain(.ok, "ok"))
            case "/metrics":
                let text = counters.value.text
                answer(
                    ListenerReply(
                        .ok, fields: [.contentType: "text/plain; version=0.0.4; charset=utf-8"], body: .text(text)))
            default: answer(.plain(.notFound, "this path does not exist; use /livez, /readyz or /metrics"))
            }
        }
        return EdgeMonitor(listener, flag)
    }

    /// `/readyz` answers 503 from now on.
    package func stopping() { self.isStopping.value.store(true, ordering: .relaxed) }

    package func stop() async { await self.listener.stop(within: .seconds(1)) }
}
