package import Control
import MediaTypes

extension RefusalReports {
    /// Common error codes: their samples exist from the start, so that the first increase is visible.
    private static let common: [ErrorCode?] = [nil, .authDenied, .busyChannel, .limitExceeded]

    /// Adds the metric of refused publishers by error code.
    package func addMetrics(to metrics: inout MetricsText) {
        metrics.family(
            "tandem_ingest_refused_total", .counter,
            "Refused publishers by error code; closed: connections that ended before they published.")
        for code in Set(Self.common).union(self.counts.keys).sorted(by: { Self.name($0) < Self.name($1) }) {
            metrics.sample("tandem_ingest_refused_total", ["code": Self.name(code)], self.counts[code] ?? 0)
        }
    }

    private static func name(_ code: ErrorCode?) -> String { code?.rawValue ?? "closed" }
}
