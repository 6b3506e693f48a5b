package import MediaTypes

/// The regular part and segment boundaries for all outputs of a room, counted in video frames from the room's origin.
///
/// The target duration and the part target must never change for players. They are computed from this grid, so they are
/// known before the first frame and do not depend on measurements.
package struct OutputGrid: Sendable, Hashable {
    /// Frame rate of the program in frames per second, 1…60.
    package let fps: Int
    /// Keyframe interval: number of frames from one IDR frame to the next.
    package let gopFrames: Int
    /// Number of GOPs per segment.
    package let segmentGops: Int
    /// Number of frames per part.
    package let partFrames: Int
    /// Audio sample rate in samples per second.
    package let sampleRate: Int

    /// Ticks of one frame in the video timescale. A thousand ticks leave room to order samples within a frame.
    package static let ticksPerFrame: Int64 = 1_000
    /// Number of samples per AAC-LC frame.
    package static let samplesPerAudioFrame: Int64 = 1_024
    /// Maximum segment duration in seconds. With longer segments players would start so late that the value must be a
    /// mistake.
    package static let longestSegment = 60

    /// Makes a grid. Parameters that are `nil` get the default for the frame rate, see ``defaultFrames(fps:)``. If only
    /// `partFrames` is `nil`, a part is half a GOP, or a whole GOP of an odd length.
    ///
    /// - Throws: ``MediaError/Code/rejected`` for a value out of range, with the field and the remedy.
    package init(
        fps: Int, gopFrames: Int? = nil, segmentGops: Int = 2, partFrames: Int? = nil, sampleRate: Int = 48_000
    ) throws(MediaError) {
        func refuse(_ what: String, fix: String) -> MediaError { MediaError(.rejected, what, at: "grid", fix: fix) }
        guard (1...60).contains(fps) else {
            throw refuse("fps \(fps) is outside 1…60", fix: "use a whole frame rate from 1 to 60")
        }
        let defaults = Self.defaultFrames(fps: fps)
        let gop = gopFrames ?? defaults.gop
        let part = partFrames ?? (gopFrames == nil ? defaults.part : Self.defaultPart(gopFrames: gop))
        guard (1...3_600).contains(gop) else {
            throw refuse("gopFrames \(gop) is outside 1…3600", fix: "use about one second of frames")
        }
        guard (1...60).contains(segmentGops) else {
            throw refuse("segmentGops \(segmentGops) is outside 1…60", fix: "use 2")
        }
        guard gop * segmentGops <= fps * Self.longestSegment else {
            throw refuse(
                "a segment of \(gop * segmentGops) frames at \(fps) fps is longer than \(Self.longestSegment) s",
                fix: "lower gopFrames or segmentGops")
        }
        // Every GOP must start a part (or every part must start a GOP), or parts that should be independent would begin
        // between key frames.
        guard part >= 1, (gop * segmentGops) % part == 0, gop % part == 0 || part % gop == 0 else {
            throw refuse(
                "partFrames \(part) does not divide gopFrames \(gop), nor is it whole GOPs that divide a segment",
                fix: "use a divisor of gopFrames, such as \(Self.defaultPart(gopFrames: gop))")
        }
        guard (8_000...96_000).contains(sampleRate) else {
            throw refuse("sampleRate \(sampleRate) is outside 8000…96000", fix: "use 48000")
        }
        self.fps = fps
        self.gopFrames = gop
        self.segmentGops = segmentGops
        self.partFrames = part
        self.sampleRate = sampleRate
    }

    /// Returns the default GOP and part length in frames for a frame rate: a GOP of 0.8 to 1.6 seconds and parts of half a
    /// GOP; below 10 fps one second for both. 16 frames at 25 and 30 fps and 32 at 50 and 60 fps are also whole numbers of AAC
    /// frames at 48 kHz, so audio and video are cut at the same instant.
    package static func defaultFrames(fps: Int) -> (gop: Int, part: Int) {
        switch fps {
        case 41...: (64, 32)
        case 20...40: (32, 16)
        case 10...19: (16, 8)
        default: (max(1, fps), max(1, fps))
        }
    }

    private static func defaultPart(gopFrames: Int) -> Int { gopFrames.isMultiple(of: 2) ? gopFrames / 2 : gopFrames }

    /// Frames per full-length segment.
    package var segmentFrames: Int { self.gopFrames * self.segmentGops }
    /// Parts per full-length segment.
    package var partsPerSegment: Int { self.segmentFrames / self.partFrames }
    /// Duration of a full-length segment.
    package var segmentDuration: MediaDuration {
        MediaDuration(ticks: Int64(self.segmentFrames), timescale: Int32(self.fps))
    }

    /// Ticks per second of the track's media timescale: `fps × 1000` for video, the sample rate for audio.
    package func timescale(of kind: TrackKind) -> Int32 {
        switch kind {
        case .video: Int32(self.fps) * Int32(Self.ticksPerFrame)
        case .audio: Int32(self.sampleRate)
        }
    }

    /// `EXT-X-TARGETDURATION` in whole seconds; at least 1; the same in every playlist for the lifetime of the room.
    ///
    /// Spec: rfc8216bis §4.4.3.1: no `EXTINF`, rounded to the nearest integer, may exceed it. The longest segment is an
    /// audio segment: an audio frame belongs to the segment in whose interval it starts, so the segment may be up to
    /// one audio frame longer.
    package var targetDuration: Int {
        Int(max(1, self.segmentDuration.roundedSeconds, self.longestAudio(frames: self.segmentFrames).roundedSeconds))
    }

    /// `PART-TARGET`: the duration of the longest possible part.
    package var partTarget: MediaDuration {
        max(
            MediaDuration(ticks: Int64(self.partFrames), timescale: Int32(self.fps)),
            self.longestAudio(frames: self.partFrames))
    }

    private func longestAudio(frames: Int) -> MediaDuration {
        let samples = TimeMath.scale(Int64(frames), by: Int64(self.sampleRate), over: Int64(self.fps), rounding: .up)
        let whole = (samples + Self.samplesPerAudioFrame - 1) / Self.samplesPerAudioFrame
        return MediaDuration(ticks: whole * Self.samplesPerAudioFrame, timescale: Int32(self.sampleRate))
    }
}
