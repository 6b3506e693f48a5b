extension VideoEncoding.Preset {
    /// Share of the rate buffer that a segment uses in addition to the encoder's peak bit rate, in thousandths
    /// (0…1,000). The `BANDWIDTH` of playlists is computed from it.
    ///
    /// The buffer allows a segment to use all of it, but encoders use about a third. If all of it were declared, then
    /// players that trust `BANDWIDTH` would stay a rendition too low. `benchmarks/bandwidth.sh` measures five clips at
    /// the default rates and segments. The results are in `benchmarks/bandwidth.json`; `BandwidthTableTests` compares
    /// this table with them. The values are near the upper end of what that test allows, since other material may use
    /// more.
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
