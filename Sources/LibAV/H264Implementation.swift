/// An H.264 encoder of libavcodec, by its name there.
package enum H264Implementation: String, Sendable, CaseIterable {
    case libx264
    case nvenc = "h264_nvenc"
    case vaapi = "h264_vaapi"
    case qsv = "h264_qsv"

    /// Whether the encoder needs a device, which can be absent, busy or fail.
    package var isHardware: Bool { self != .libx264 }

    /// What must be there for the encoder to open, as an imperative sentence without a period.
    package var remedy: String {
        switch self {
        case .libx264: "install an FFmpeg built with libx264 (Debian's is)"
        case .nvenc:
            "install NVIDIA's driver with libnvidia-encode and give the process the GPU "
                + "(container: --gpus all with NVIDIA_DRIVER_CAPABILITIES=video)"
        case .vaapi:
            "install the GPU's VAAPI driver (vainfo lists H264 with VAEntrypointEncSlice) and give the process "
                + "/dev/dri/renderD128 (container: --device /dev/dri)"
        case .qsv:
            "install Intel's oneVPL or Media SDK runtime and give the process /dev/dri/renderD128 "
                + "(container: --device /dev/dri)"
        }
    }

    /// Whether the encoder gets frames in NV12, in which the two chroma planes are interleaved.
    var usesNV12: Bool { self == .vaapi || self == .qsv }
}

extension VideoEncoderSettings {
    /// Options for libavcodec if ``implementation`` is a hardware encoder, in a fixed order; empty for libx264.
    ///
    /// A hardware encoder has no B-frames, so that every packet belongs to the oldest frame inside it, and inserts IDR
    /// frames only where they are requested. libavcodec ignores options that its version of the encoder does not have.
    package var hardwareOptions: [(name: String, value: String)] {
        guard self.implementation.isHardware else { return [] }
        let shared = [
            ("b", "\(self.bitrate)"), ("maxrate", "\(self.maxBitrate)"), ("bufsize", "\(self.bufferSize)"),
            // Longer than any GOP of the grid, as with libx264.
            ("g", "600"), ("bf", "0"),
            ("color_range", "tv"), ("colorspace", "bt709"), ("color_primaries", "bt709"), ("color_trc", "bt709"),
        ]
        let speed = Self.presets[self.preset] ?? Self.mediumPreset
        switch self.implementation {
        case .libx264: return []
        case .nvenc:
            let isImmediate = self.lookaheadFrames == 0
            return shared + [
                ("preset", speed.nvenc), ("tune", isImmediate ? "ll" : "hq"), ("profile", self.profile), ("rc", "vbr"),
                ("rc-lookahead", "\(self.lookaheadFrames)"), ("zerolatency", isImmediate ? "1" : "0"), ("delay", "0"),
                ("no-scenecut", "1"), ("forced-idr", "1"), ("b_ref_mode", "disabled"),
            ]
        case .vaapi:
            return shared + [
                ("profile", self.profile == "baseline" ? "constrained_baseline" : self.profile), ("rc_mode", "VBR"),
                ("idr_interval", "0"), ("async_depth", "1"),
                // Without buffering periods, the parameter sets contain no bit rates, which may change.
                ("sei", "0"),
            ]
        case .qsv:
            return shared + [
                ("preset", speed.qsv), ("profile", self.profile), ("look_ahead", "0"), ("forced_idr", "1"),
                ("idr_interval", "0"), ("adaptive_i", "0"), ("async_depth", "1"), ("pic_timing_sei", "0"),
            ]
        }
    }

    /// For each preset of libx264, the hardware encoders' presets at about the same position between fast and good.
    private static let presets: [String: (nvenc: String, qsv: String)] = [
        "ultrafast": ("p1", "veryfast"), "superfast": ("p2", "veryfast"), "veryfast": ("p3", "veryfast"),
        "faster": ("p4", "faster"), "fast": ("p4", "fast"), "medium": Self.mediumPreset, "slow": ("p6", "slow"),
        "slower": ("p7", "slower"), "veryslow": ("p7", "veryslow"),
    ]
    private static let mediumPreset = (nvenc: "p5", qsv: "medium")

    /// Id of libx264's parameter sets if it stands by for a hardware encoder. Hardware encoders count ids from 0, so
    /// one initialization segment can contain the parameter sets of both.
    private static let standbyParameterSetID = 30

    /// Settings of the libx264 encoder that continues the stream if the hardware encoder fails; for libx264 itself, the
    /// same settings.
    package var software: VideoEncoderSettings {
        guard self.implementation.isHardware else { return self }
        var settings = self
        settings.implementation = .libx264
        settings.bFrames = 0
        settings.parameterSetID = Self.standbyParameterSetID
        return settings
    }
}
