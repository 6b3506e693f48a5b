extension SourceHealth.Cause {
    /// The type of the alarm for this cause. The types differ from the names of state events, which have another
    /// meaning.
    package var alarmType: String {
        switch self {
        case .fps: "source.fps_low"
        case .gap: "source.gap"
        case .network: "source.network_slow"
        case .loss: "source.packet_loss"
        case .bitrate: "source.bitrate_low"
        case .skew: "source.av_skew"
        case .keyInterval: "source.long_gop"
        case .jitterBuffer: "source.jitter"
        case .decodeErrors: "source.decode_errors"
        case .workerLag: "encoder.lagging"
        case .absent: "source.lost"
        }
    }
}
