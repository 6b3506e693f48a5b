import MediaTypes
import Program

extension Room {
    /// What the room did so far: frames, what was late, lost or repeated, costs, latency, lip-sync.
    package func summary() -> RoomSummary {
        let stats = self.program.stats
        let segments = self.value.withLock { $0.outputs.segments }
        let latency = self.latencies.segmentPercentiles
        let cpu = self.clocks.processCPU.now() / 1_000_000
        let memory = ProcessFacts.peakMemoryKiB
        var lines = [
            "frames \(stats.ticks), late \(stats.late), lost \(stats.lost), scene switches \(stats.switches), segments \(segments)",
            "CPU \(Self.seconds(cpu)) s, peak memory \(memory / 1024) MB",
        ]
        if let latency { lines.append("latency from socket to playlist: p50 \(latency.p50) ms, p95 \(latency.p95) ms") }
        let parts = self.latencies.encodingPercentiles
        if let parts {
            lines.append(
                "\(parts.count) parts, from the last picture's entry into the encoder to the playlist: p50 "
                    + "\(parts.p50 / 1000) ms, p99 \(parts.p99 / 1000) ms, max \(parts.max / 1000) ms")
        }
        var sources: [JSONValue] = []
        for source in self.pipeline.sources {
            guard let slot = self.slots[source.id] else { continue }
            let sync = LipSync(slot.buffer.lipSync.offsets)
            let (shown, repeated) = (stats.shown[source.id] ?? 0, stats.repeated[source.id] ?? 0)
            sources.append([
                "uid": .string(source.id.description), "shown": .integer(shown), "repeated": .integer(repeated),
                "lipSyncMs": sync.json,
            ])
            lines.append("source \(source.id): shown \(shown), repeated \(repeated)\(sync.text)")
        }
        let json: JSONValue = [
            "ticks": self.ticksJSON(stats), "switches": .integer(stats.switches), "segments": .integer(segments),
            "cpuSeconds": .thousandths(cpu), "peakMemoryMiB": .thousandths(memory * 1000 / 1024),
            "latencyMs": latency.map { ["p50": JSONValue($0.p50), "p95": JSONValue($0.p95)] } ?? .null,
            "partLatencyMs": parts.map {
                [
                    "parts": JSONValue($0.count), "p50": .thousandths($0.p50), "p99": .thousandths($0.p99),
                    "max": .thousandths($0.max),
                ]
            } ?? .null,
            "sendToPartMs": self.latencies.partPercentiles.map {
                ["p50": JSONValue($0.p50), "p95": JSONValue($0.p95), "p99": JSONValue($0.p99)]
            } ?? .null,
            "sources": .array(sources),
        ]
        return RoomSummary(json: json, text: lines.map { $0 + "\n" }.joined())
    }

    private static func seconds(_ ms: Int64) -> String { JSONValue.thousandths(ms).text }
}

/// Sound against picture of one source, from its flashes and beeps.
private struct LipSync {
    let offsets: [Int64]

    init(_ offsets: [Int64]) { self.offsets = offsets }

    private var mean: Int64 { self.offsets.reduce(0, +) / Int64(max(1, self.offsets.count)) }

    /// Milliseconds; `null` when nothing flashed and beeped.
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
