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
}
