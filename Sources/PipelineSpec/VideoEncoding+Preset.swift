extension VideoEncoding {
    /// x264's presets, fastest first, and some of ours.
    ///
    /// Those whose names begin with `tandem` were found by search over natural clips at live rates. They are one family:
    /// at one size and rate they have byte for byte the same configuration record.
    package enum Preset: String, Sendable, CaseIterable {
        case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow
        /// ``veryfast`` that holds at most ``VideoEncoding/lowLatencyLimit`` pictures: a part is out soon after its last
        /// picture. It has the same configuration record, so it may stand beside others in a ladder.
        case lowLatency
        /// Three fifths of the CPU time of x264's ``veryfast`` with three B-frames, at VMAF-NEG −0.1, +0.7, −0.2 in R1's three
        /// renditions.
        case tandemFast = "tandem-fast"
        /// Half of that CPU time, at VMAF-NEG −0.65, −0.2, −1.15 in R1's three renditions.
        case tandemFaster = "tandem-faster"
        /// ``tandemFast`` that holds as few pictures as ``lowLatency``.
        case tandemLowLatency = "tandem-lowLatency"

        /// What libx264 calls the one it starts from.
        package var x264Name: String {
            switch self {
            case .lowLatency, .tandemFast, .tandemLowLatency: Preset.veryfast.rawValue
            case .tandemFaster: Preset.superfast.rawValue
            default: self.rawValue
            }
        }

        /// What is set besides, in libx264's own words: `name=value`, colons between.
        package var x264Parameters: String {
            switch self {
            // With one B-picture the diamond finds what the hexagon finds; small partitions pay off at higher rates.
            case .tandemFast, .tandemLowLatency: "me=dia:partitions=i8x8:aq-strength=0.7"
            // Of all that superfast leaves out, the macroblock tree alone is worth its time.
            case .tandemFaster: "mbtree=1:aq-strength=0.7"
            default: ""
            }
        }

        /// It holds at most ``VideoEncoding/lowLatencyLimit`` pictures.
        package var isLowLatency: Bool { self == .lowLatency || self == .tandemLowLatency }

        /// B-frames where the pipeline names no number.
        package var defaultBFrames: Int {
            switch self {
            case .tandemFast, .tandemFaster, .tandemLowLatency: 1
            default: 0
            }
        }

        /// Pictures it looks ahead where the pipeline names no number.
        package var defaultLookahead: Int {
            switch self {
            case .lowLatency: 2
            // As many as the search had; a picture fewer costs quality before it saves time.
            case .tandemFast, .tandemFaster: 10
            case .tandemLowLatency: VideoEncoding.lowLatencyLimit
            default: 5
            }
        }
    }

    /// The most pictures that a low-latency preset may look ahead.
    package static let lowLatencyLimit = 3

    /// The defaults that follow from the preset, once that is known.
    mutating func fillIn(isBFramesWritten: Bool, isLookaheadWritten: Bool) {
        // H.264 Annex A.2.1: a baseline stream has no B slices.
        if !isBFramesWritten { self.bFrames = self.profile == .baseline ? 0 : self.preset.defaultBFrames }
        if !isLookaheadWritten { self.lookaheadFrames = self.preset.defaultLookahead }
    }
}
