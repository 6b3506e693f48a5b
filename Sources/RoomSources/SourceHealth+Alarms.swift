extension SourceHealth.Cause {
    /// Its type among the alarms. None is the name of a state of the source: an event of that name says something else.
    package var alarmType: String {
        switch self {
        case .fps: "source.fps_low"
        case .gap: "source.gap"
        case .network: "source.network_slow"
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
