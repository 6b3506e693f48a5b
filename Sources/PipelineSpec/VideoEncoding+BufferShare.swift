extension VideoEncoding.Preset {
    /// Share of the rate buffer that a segment uses in addition to the encoder's peak bit rate, in thousandths
    /// (0…1,000). The `BANDWIDTH` of playlists is computed from it.
    ///
    /// If all of the buffer were declared, players that trust `BANDWIDTH` would stay a rendition too low.
    /// `BandwidthTableTests` compares this table with the measurements in `benchmarks/bandwidth.json`.
    package var bufferShare: Int64 {
        switch self {
        case .ultrafast: 260
        case .superfast: 240
        case .veryfast, .faster, .fast, .medium: 470
        case .slow, .slower, .veryslow: 440
        case .lowLatency: 500
        case .tandemRealtime: 300
        case .tandemFast: 400
        case .tandemFaster, .tandemLowLatency: 430
        }
    }
}
