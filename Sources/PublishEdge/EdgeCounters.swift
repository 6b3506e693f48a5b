/// What an edge has counted since its start. All values except ``connections`` and ``publishing`` only grow.
package struct EdgeCounters: Sendable, Hashable {
    /// Connections of publishers at present, including those that do not publish.
    package var connections = 0
    /// Publishers that are forwarded at present.
    package var publishing = 0
    /// Connections accepted.
    package var accepted: UInt64 = 0
    /// Publications that a room has accepted.
    package var publications: UInt64 = 0
    /// Bytes of publishers passed to rooms after they were accepted.
    package var bytes: UInt64 = 0
    /// Connections closed by the edge, by ``EdgeEnd/name``.
    package var ends: [String: UInt64] = [:]
    /// Connections closed because there were too many.
    package var crowded: UInt64 = 0
    /// Failed attempts to connect to a room, even if a later attempt succeeded.
    package var failedConnects: UInt64 = 0
    /// Lookups for which the directory or a file could not be used.
    package var failedLookups: UInt64 = 0

    package init() {}

    /// The counters in the text format of Prometheus.
    package var text: String {
        var lines: [String] = []
        func add(_ name: String, _ kind: String, _ help: String, _ values: [(labels: String, value: String)]) {
            lines += ["# HELP tandem_edge_\(name) \(help)", "# TYPE tandem_edge_\(name) \(kind)"]
            lines += values.map { "tandem_edge_\(name)\($0.labels) \($0.value)" }
        }
        add("connections", "gauge", "Connections of publishers.", [("", "\(self.connections)")])
        add("publishing", "gauge", "Publishers that are forwarded to a room.", [("", "\(self.publishing)")])
        add("accepted_total", "counter", "Connections accepted.", [("", "\(self.accepted)")])
        add("publications_total", "counter", "Publications that a room accepted.", [("", "\(self.publications)")])
        add("bytes_total", "counter", "Bytes passed from publishers to rooms.", [("", "\(self.bytes)")])
        add(
            "closed_total", "counter", "Connections closed by the edge, by reason.",
            EdgeEnd.names.map { ("{reason=\"\($0)\"}", "\(self.ends[$0] ?? 0)") }
                + [("{reason=\"crowded\"}", "\(self.crowded)")])
        add("connect_failures_total", "counter", "Failed connections to rooms.", [("", "\(self.failedConnects)")])
        add(
            "lookup_failures_total", "counter", "Lookups that failed because of the key directory.",
            [("", "\(self.failedLookups)")])
        return lines.joined(separator: "\n") + "\n"
    }
}
