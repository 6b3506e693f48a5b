package import MediaTypes

extension Linter {
    /// The result of the run as one JSON object: `url`, `playlists` with counters, `outages`, `findingCount`,
    /// `findings`.
    package var report: JSONValue {
        let playlists = self.summary.map { line in
            JSONValue.object([
                .init("playlist", .string(line.playlist)), .init("segments", JSONValue(line.segments)),
                .init("parts", JSONValue(line.parts)), .init("peakBitrate", .integer(line.peak)),
                .init("averageBitrate", .integer(line.average)),
            ])
        }
        return .object([
            .init("url", .string(self.url)), .init("playlists", .array(playlists)),
            .init(
                "outages",
                .array(
                    self.outages.map { outage in
                        .object([
                            .init("atSeconds", .thousandths((outage.from &- self.startedAt) / 1_000_000)),
                            .init("durationSeconds", .thousandths(outage.duration / 1_000_000)),
                        ])
                    })),
            .init("findingCount", JSONValue(self.findingCount)),
            .init("findings", .array(self.findings.map { $0.json(since: self.startedAt) })),
        ])
    }
}
