package import MediaTypes
package import Program

/// The source as the API shows it.
extension RoomSource {
    /// The source as the API shows it.
    ///
    /// - Parameters:
    ///   - relays: Its relays; an array.
    ///   - level: How loud it is.
    ///   - refused: Why it may not be published; null if it may.
    package func json(
        stats: ProgramStage.Stats, contribution: ProgramStage.Contribution, relays: JSONValue, level: JSONValue,
        refused: JSONValue
    ) -> JSONValue {
        let facts = self.facts
        let decoded = self.decode.stats
        let timing = self.decode.timing
        return [
            "uid": .string(self.spec.id.uid), "streamType": .string(self.spec.id.streamType.rawValue),
            "name": JSONValue(self.spec.name), "state": .string(facts.state.rawValue),
            "picture": JSONValue(facts.format?.description), "videoCodec": JSONValue(facts.videoCodec?.rawValue),
            "audioTracks": self.audioTracksJSON(facts.audioCodecs), "videoPackets": JSONValue(decoded.videoPackets),
            "audioPackets": JSONValue(decoded.audioPackets), "damaged": JSONValue(decoded.damaged),
            "reopened": JSONValue(decoded.reopened),
            "dropped": JSONValue(decoded.dropped + self.buffer.droppedPictures),
            "shown": JSONValue(stats.shown[self.spec.id] ?? 0),
            "repeated": JSONValue(stats.repeated[self.spec.id] ?? 0),
            "reconnects": JSONValue(facts.reconnects), "lastError": JSONValue(facts.lastError),
            "volume": .integer(Int64((contribution.volume * 100).rounded())),
            "audioPush": .bool(contribution.isHeard), "videoPush": .bool(contribution.isSeen),
            "relays": relays, "level": level, "refused": refused,
            "health": self.healthJSON, "figures": self.healthFigures,
            "driftPpm": timing.driftPpm.map { JSONValue($0) } ?? .null,
            "bufferMs": timing.buffered.map { .integer($0 / 1_000_000) } ?? .null,
            "clock": .string(timing.isWallAligned ? "wall" : "arrival"),
            "wallMs": .integer(timing.wallExtra / 1_000_000),
            "reanchors": JSONValue(timing.reanchors), "thinned": JSONValue(decoded.thinned),
            "undecoded": JSONValue(decoded.undecoded),
        ]
    }

    private func audioTracksJSON(_ codecs: [UInt8: CodecName]) -> JSONValue {
        .array(
            self.buffer.audioTracks.map { track, gain in
                [
                    "track": JSONValue(Int(track)), "codec": JSONValue(codecs[track]?.rawValue),
                    "volume": JSONValue(Int((gain * 100).rounded())),
                ]
            })
    }

    /// What was measured in the window of the health rules.
    package var healthFigures: JSONValue {
        let figures = self.figures
        return [
            "fps": .thousandths(figures.fps), "videoBitrate": .integer(figures.bitrate),
            "gapMs": .integer(figures.gap / 1_000_000), "skewMs": .integer(figures.skew / 1_000_000),
            "keyIntervalMs": .integer(figures.keyGap / 1_000_000), "damaged": JSONValue(figures.damaged),
            "sentFps": figures.sentFps.map { .thousandths($0) } ?? .null,
            "realtime": figures.pace.map { .thousandths($0) } ?? .null,
        ]
    }

    /// The level, and the causes of every level, the worst first.
    package var healthJSON: JSONValue {
        let findings = self.healthFindings
        return [
            "level": .string((findings.first?.level ?? .normal).name),
            "causes": .array(findings.map { .string($0.cause.rawValue) }), "findings": Self.json(of: findings),
        ]
    }

    /// What is wrong with what comes in, the worst first.
    package var findingsJSON: JSONValue { Self.json(of: self.healthFindings) }

    private static func json(of findings: [SourceHealth.Finding]) -> JSONValue {
        .array(
            findings.map { finding in
                [
                    "cause": .string(finding.cause.rawValue), "level": .string(finding.level.name),
                    "message": .string(finding.message),
                ]
            })
    }
}
