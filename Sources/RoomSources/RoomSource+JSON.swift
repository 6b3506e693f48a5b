package import MediaTypes

/// Health of the source as the API shows it.
extension RoomSource {
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

    /// The health level, and all causes, the worst first.
    package var healthJSON: JSONValue {
        let findings = self.healthFindings
        return [
            "level": .string((findings.first?.level ?? .normal).name),
            "causes": .array(findings.map { .string($0.cause.rawValue) }), "findings": Self.json(of: findings),
        ]
    }

    /// The findings of ``SourceHealth``, the worst first; an array.
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
