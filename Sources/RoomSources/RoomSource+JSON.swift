package import MediaTypes

/// The health of a source for the API.
extension RoomSource {
    /// The measurements in the current window of the health rules, in the shape `Figures` of the API.
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
