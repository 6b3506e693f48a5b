import MediaTypes

/// A rendition while its JSON object is being parsed; default bit rates are set once the size is known.
struct RenditionDraft: Sendable {
    var rendition = Rendition(name: "", width: 16, height: 16, fps: 0, video: VideoEncoding(bitrate: 0))
    /// Video settings; `nil` if the document has `"video": null`.
    var video: VideoEncoding? = VideoEncoding(bitrate: 0)

    static let rule = ObjectRule(
        "one rendition: the composed video at one size and bit rate", RenditionDraft(),
        [
            Field(
                required: "name", \.rendition.name, .name(32, marks: "_-"),
                "the rendition's name: 1 to 32 letters, digits, _ or -"),
            Field(
                "width", \.rendition.width, .even(16...1920),
                "width in pixels, even, not larger than the canvas; required unless video is null", derived: true),
            Field(
                "height", \.rendition.height, .even(16...1920),
                "height in pixels, even, not larger than the canvas; required unless video is null", derived: true),
            Field(
                "fps", \.rendition.fps, .frameRate(1...60, note: Pipeline.Canvas.rateNote),
                "frames per second: the canvas's rate, or half of it",
                derived: true),
            Field(
                "video", \.video, .nullable(.object(VideoEncoding.rule)), "how its video is encoded; null: audio only",
                derived: true),
            Field(
                "when", \.rendition.when, .choice,
                "always; watched: its video is encoded only while its playlist is requested, "
                    + "and for 30 s after a request for the multivariant playlist"
            ),
            Field(
                "audio", \.rendition.audio, .names(32, marks: "_-", upTo: 8),
                "name or names of the audioRenditions it is combined with, one variant each; default all", derived: true
            ),
        ])

    /// Checks that an audio-only rendition has neither size nor frame rate, and that any other rendition has a size.
    private static func checkKind(_ draft: RenditionDraft, _ path: String, _ log: inout SpecLog) {
        for key in ["width", "height"] where draft.video != nil && !log.isWritten("\(path).\(key)") {
            log.mistake(
                "\(path).\(key)", "is missing",
                fix:
                    "add \"\(key)\": \(key) in pixels, even, not larger than the canvas; or \"video\": null for audio only"
            )
        }
        for key in ["width", "height", "fps"] where draft.video == nil && log.isWritten("\(path).\(key)") {
            log.mistake(
                "\(path).\(key)", "does not apply to a rendition without video",
                fix: "remove it, or remove \"video\": null")
        }
    }

    /// Returns the parsed rendition with default bit rates; `fps` stays 0 until the canvas is known.
    static func finished(_ draft: RenditionDraft, _ path: String, _ log: inout SpecLog) -> Rendition {
        var rendition = draft.rendition
        self.checkKind(draft, path, &log)
        guard var video = draft.video else {
            rendition.isAudioOnly = true
            return rendition
        }
        if !log.isWritten("\(path).video.bitrate") {
            video.bitrate = Rendition.defaultBitrate(width: rendition.width, height: rendition.height)
        }
        if !log.isWritten("\(path).video.maxBitrate") {
            video.maxBitrate = VideoEncoding.defaultMaxBitrate(for: video.bitrate)
        }
        if !log.isWritten("\(path).video.bufferSize") { video.bufferSize = video.maxBitrate }
        if log.isValid("\(path).video.bitrate", "\(path).video.maxBitrate"), video.maxBitrate < video.bitrate {
            log.mistake(
                "\(path).video.maxBitrate",
                "\(SpecText.grouped(video.maxBitrate)) is below the bitrate, \(SpecText.grouped(video.bitrate))",
                fix:
                    "write at least \(video.bitrate), or remove it for the default of "
                    + "\(VideoEncoding.defaultMaxBitrate(for: video.bitrate))"
            )
        }
        if log.isValid("\(path).video.profile", "\(path).video.bFrames"), video.profile == .baseline, video.bFrames > 0
        {
            // H.264 Annex A.2.1: a baseline stream has no B slices.
            if log.isWritten("\(path).video.bFrames") {
                log.mistake(
                    "\(path).video.bFrames", "the baseline profile has no B-frames",
                    fix: "write 0, or use the main profile")
            } else {
                video.bFrames = 0
            }
        }
        rendition.video = video
        return rendition
    }
}

extension VideoEncoding {
    static let rule = ObjectRule(
        "how a rendition is encoded", VideoEncoding(bitrate: 0),
        [
            Field("codec", \.codec, .choice, "video codec"),
            Field(
                "encoder", \.encoder, .choice,
                "encoder implementation; h264_nvenc, h264_vaapi and h264_qsv are hardware encoders, untested on hardware: without B-frames and passthrough, with the worker's exit code 78 if they do not open"
            ),
            Field(
                "encoderFallback", \.encoderFallback, .boolean,
                "libx264 encodes the rendition if its hardware encoder does not open at the start, instead of exit code 78; if the encoder fails later, libx264 always continues"
            ),
            Field(
                "preset", \.preset, .choice,
                "x264 preset, fastest first; lowLatency: veryfast with at most \(Self.lowLatencyLimit) frames of lookahead; tandem-fast: nearly the quality of veryfast with B-frames at three fifths of its CPU time; tandem-faster: slightly worse quality at half of that CPU time; tandem-lowLatency: tandem-fast with at most \(Self.lowLatencyLimit) frames of lookahead; tandem-realtime: superfast without B-frames and lookahead, for WebRTC viewers; default the hls output's preset, tandem-realtime for the renditions of a webrtc output",
                derived: true),
            Field("profile", \.profile, .choice, "H.264 profile; baseline sets bFrames to 0"),
            Field(
                "bitrate", \.bitrate, .bits(50_000...50_000_000),
                "target in bit/s; default the default ladder's rate for this number of pixels", derived: true),
            Field(
                "maxBitrate", \.maxBitrate, .bits(50_000...100_000_000), "peak in bit/s; default 1.1 times bitrate",
                derived: true),
            Field(
                "bufferSize", \.bufferSize, .bits(50_000...200_000_000),
                "decoder buffer in bits; default maxBitrate",
                derived: true),
            Field(
                "bFrames", \.bFrames, .integer(0...3),
                "maximum number of consecutive B-frames; players based on FFmpeg show the video later by this number of frames; default 0, 1 with the tandem presets except tandem-realtime",
                derived: true),
            Field(
                "lookaheadFrames", \.lookaheadFrames, .integer(0...60),
                "lookahead of the rate control in frames, which is also its delay; default \(Preset.veryfast.defaultLookahead), with "
                    + "lowLatency \(Preset.lowLatency.defaultLookahead), with tandem-fast and tandem-faster "
                    + "\(Preset.tandemFast.defaultLookahead), with tandem-lowLatency "
                    + "\(Preset.tandemLowLatency.defaultLookahead), with tandem-realtime "
                    + "\(Preset.tandemRealtime.defaultLookahead)", derived: true),
            Field("threads", \.threads, .integer(1...16), "encoder threads; each additional thread adds delay"),
            Field(
                "passthrough", \.passthrough, .choice,
                "auto: the source's video packets are passed through without transcoding while one source fills the canvas with nothing on top, and its H.264 video has the rendition's size, frame rate and profile, stays within its bit rates, and has a key frame at least once per segment (for WebRTC viewers also at least every 2.2 s, and no B-frames); each switch is a discontinuity for players"
            ),
        ])
}
