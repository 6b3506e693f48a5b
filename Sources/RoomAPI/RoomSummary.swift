package import MediaTypes

/// Totals of a worker's room for its last event: frames, late, lost and repeated frames, CPU time and peak memory,
/// latency, lip-sync.
package struct RoomSummary: Sendable {
    /// The summary as JSON, in the shape `Summary` of the API.
    package let json: JSONValue
    /// The summary as lines of text for people.
    package let text: String

    /// - Parameter cpu: CPU time so far, in nanoseconds.
    package init(_ facts: RoomFacts, _ latencies: RoomLatencies, cpu: Int64) {
        let stats = facts.stats
        let latency = latencies.segmentPercentiles
        let milliseconds = cpu / 1_000_000
        let memory = ProcessFacts.peakMemoryKiB
        var lines = [
            "frames \(stats.ticks), late \(stats.late), lost \(stats.lost), scene switches \(stats.switches), "
                + "segments \(facts.segments)",
            "CPU \(JSONValue.thousandths(milliseconds).text) s, peak memory \(memory / 1024) MiB",
        ]
        if let latency { lines.append("latency from socket to playlist: p50 \(latency.p50) ms, p95 \(latency.p95) ms") }
        let parts = latencies.encodingPercentiles
        if let parts {
            lines.append(
                "\(parts.count) parts, from the last frame entering the encoder to the playlist: p50 "
                    + "\(parts.p50 / 1000) ms, p99 \(parts.p99 / 1000) ms, max \(parts.max / 1000) ms")
        }
        var sources: [JSONValue] = []
        for source in facts.sources {
            let sync = LipSync(source.lipSync)
            sources.append([
                "uid": .string(source.id.description), "shown": .integer(source.shown),
                "repeated": .integer(source.repeated), "lipSyncMs": sync.json,
            ])
            lines.append("source \(source.id): shown \(source.shown), repeated \(source.repeated)\(sync.text)")
        }
        self.json = [
            "ticks": stats.replyValue, "switches": .integer(stats.switches), "segments": .integer(facts.segments),
            "cpuSeconds": .thousandths(milliseconds), "peakMemoryMiB": .thousandths(memory * 1000 / 1024),
            "latencyMs": latency.map { ["p50": JSONValue($0.p50), "p95": JSONValue($0.p95)] } ?? .null,
            "partLatencyMs": parts.map {
                [
                    "parts": JSONValue($0.count), "p50": .thousandths($0.p50), "p99": .thousandths($0.p99),
                    "max": .thousandths($0.max),
                ]
            } ?? .null,
            "sendToPartMs": latencies.partPercentiles.map {
                ["p50": JSONValue($0.p50), "p95": JSONValue($0.p95), "p99": JSONValue($0.p99)]
            } ?? .null,
            "sources": .array(sources),
        ]
        self.text = lines.map { $0 + "\n" }.joined()
    }
}

/// The offset between audio and video of one source, measured at flashes and beeps of a test signal.
private struct LipSync {
    let offsets: [Int64]

    init(_ offsets: [Int64]) { self.offsets = offsets }

    private var mean: Int64 { self.offsets.reduce(0, +) / Int64(max(1, self.offsets.count)) }

    /// Number, mean and range of the offsets in milliseconds; `null` if no flash with a beep was found.
    var json: JSONValue {
        guard let low = self.offsets.min(), let high = self.offsets.max() else { return .null }
        return [
            "events": JSONValue(self.offsets.count), "mean": .thousandths(self.mean / 1000),
            "min": .thousandths(low / 1000),
            "max": .thousandths(high / 1000),
        ]
    }

    var text: String {
        guard let low = self.offsets.min(), let high = self.offsets.max() else { return "" }
        func ms(_ value: Int64) -> String { JSONValue.thousandths(value / 1000).text }
        return ", lip-sync mean \(ms(self.mean)) ms (\(ms(low)) … \(ms(high))) over \(self.offsets.count)"
    }
}
