extension VideoEncoding {
    /// The presets of x264, fastest first, and additional presets of this program.
    ///
    /// The presets whose names begin with `tandem`, except ``tandemRealtime``, were found by a search over natural clips
    /// at live bit rates. At the same size and rate they all have the same configuration record, byte for byte.
    package enum Preset: String, Sendable, CaseIterable {
        case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow
        /// ``veryfast`` with a lookahead of at most ``VideoEncoding/lowLatencyLimit`` frames, so that a part is
        /// available soon after its last frame. It has the same configuration record as ``veryfast``, so renditions
        /// with both can be combined.
        case lowLatency
        /// About three fifths of the CPU time of x264's ``veryfast`` with three B-frames, at nearly the same quality.
        case tandemFast = "tandem-fast"
        /// About half of the CPU time of x264's ``veryfast`` with three B-frames, at slightly lower quality.
        case tandemFaster = "tandem-faster"
        /// ``tandemFast`` with the lookahead limit of ``lowLatency``.
        case tandemLowLatency = "tandem-lowLatency"
        /// x264's ``superfast`` without B-frames and without lookahead, so that a frame leaves the encoder before the next
        /// one is encoded: for WebRTC viewers. Default of a WebRTC output's renditions.
        case tandemRealtime = "tandem-realtime"

        /// The libx264 preset that this preset is based on.
        package var x264Name: String {
            switch self {
            case .lowLatency, .tandemFast, .tandemLowLatency: Preset.veryfast.rawValue
            case .tandemFaster, .tandemRealtime: Preset.superfast.rawValue
            default: self.rawValue
            }
        }

        /// Additional libx264 parameters: `name=value`, separated by colons.
        package var x264Parameters: String {
            switch self {
            // With one B-frame, the diamond search finds as much as the hexagon search. Small partitions pay off at
            // higher rates.
            case .tandemFast, .tandemLowLatency: "me=dia:partitions=i8x8:aq-strength=0.7"
            // Among the features that superfast disables, only the macroblock tree is worth its CPU time.
            case .tandemFaster: "mbtree=1:aq-strength=0.7"
            // The macroblock tree needs a lookahead.
            case .tandemRealtime: "aq-strength=0.7"
            default: ""
            }
        }

        /// Whether the preset allows a rendition a lookahead of at most ``VideoEncoding/lowLatencyLimit`` frames; a
        /// pipeline with a longer one is refused.
        package var isLowLatency: Bool {
            switch self {
            case .lowLatency, .tandemLowLatency, .tandemRealtime: true
            default: false
            }
        }

        /// Default of ``VideoEncoding/bFrames`` with this preset.
        package var defaultBFrames: Int {
            switch self {
            case .tandemFast, .tandemFaster, .tandemLowLatency: 1
            default: 0
            }
        }

        /// Default of ``VideoEncoding/lookaheadFrames`` with this preset.
        package var defaultLookahead: Int {
            switch self {
            case .lowLatency: 2
            // The value used in the search; a smaller one costs more quality than it saves time.
            case .tandemFast, .tandemFaster: 10
            case .tandemLowLatency: VideoEncoding.lowLatencyLimit
            case .tandemRealtime: 0
            default: 5
            }
        }
    }

    /// Maximum lookahead of a low-latency preset, in frames.
    package static let lowLatencyLimit = 3

    /// Sets the defaults that depend on the preset.
    mutating func fillIn(isBFramesWritten: Bool, isLookaheadWritten: Bool) {
        // H.264 Annex A.2.1: a baseline stream has no B slices.
        let hasNone = self.profile == .baseline || self.encoder.isHardware
        if !isBFramesWritten { self.bFrames = hasNone ? 0 : self.preset.defaultBFrames }
        if !isLookaheadWritten { self.lookaheadFrames = self.preset.defaultLookahead }
    }
}
