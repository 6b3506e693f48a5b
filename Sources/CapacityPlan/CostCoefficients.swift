package import PipelineSpec

/// The cost of a room's parts on one machine, in nanoseconds of CPU time per unit of work.
///
/// A megapixel is 1,000,000 pixels, a megabit 1,000,000 bits.
package struct CostCoefficients: Sendable, Hashable {
    /// Name of the machine on which the coefficients were measured, for display.
    package var machine: String
    /// Cost of decoding H.264, for each megapixel.
    package var decodePerMegapixel: Int64
    /// Cost of decoding H.264, for each megabit of the publisher's stream; added to the cost per megapixel.
    package var decodePerMegabit: Int64
    /// Cost of scaling a pane or a rendition, for each output megapixel.
    package var scalePerMegapixel: Int64
    /// Cost of composing panes, for each megapixel of the canvas.
    package var composePerMegapixel: Int64
    /// Cost of encoding with a preset and at most one B-frame in a row, for each megapixel.
    package var encodePerMegapixel: [VideoEncoding.Preset: Int64]
    /// Cost of encoding, for each output megabit; added to the cost per megapixel.
    package var encodePerMegabit: Int64
    /// Cost of decoding and mixing a source's audio, for each second.
    package var audioPerSecond: Int64
    /// Cost of encoding one audio rendition, for each second.
    package var aacPerSecond: Int64
    /// Cost of everything else in a room, for each second: clock, listeners, files.
    package var roomPerSecond: Int64
    /// Cost of receiving or sending over HTTP or RTMP, or of writing to disk, for each megabit.
    package var networkPerMegabit: Int64

    /// Cost of encoding with adaptive B-frames (two or more in a row), in percent of the cost without them.
    package static let adaptiveBFrames: Int64 = 138
    /// Cost of suppressing the noise of a source's audio with `fft`, in percent of ``aacPerSecond``: 0.015 cores of the
    /// reference machine when measured alone; up to 0.025 were measured in a room.
    package static let noiseFilter: Int64 = 115
    /// The same with `model`, for a model of the usual size: 0.017 cores.
    package static let noiseModel: Int64 = 131
    /// Cost of automatic gain, in percent of ``aacPerSecond``: 0.001 cores.
    package static let autoGain: Int64 = 8
    /// The 95th percentile of a room's CPU time per second, in percent of the mean. It is above 100 because key frames
    /// of several renditions coincide and cores are shared.
    package static let peakPercent: Int64 = 117

    /// The coefficients of the reference machine, measured on one core of an AMD EPYC with FFmpeg 5.1
    /// (`benchmarks/results`, R1 of 2026-11-22): two 720p30 sources, natural clips, into 720p, 480p and 360p.
    package static let reference = CostCoefficients(
        machine: "AMD EPYC, FFmpeg 5.1, 2026-11-22",
        decodePerMegapixel: 1_800_000, decodePerMegabit: 4_600_000, scalePerMegapixel: 1_750_000,
        composePerMegapixel: 370_000,
        encodePerMegapixel: [
            .ultrafast: 3_600_000, .superfast: 6_400_000, .veryfast: 10_400_000, .faster: 17_000_000,
            .fast: 23_000_000, .medium: 28_000_000, .slow: 45_000_000, .slower: 94_000_000, .veryslow: 166_000_000,
            .lowLatency: 10_000_000, .tandemFast: 8_200_000, .tandemFaster: 6_400_000, .tandemLowLatency: 7_700_000,
            .tandemRealtime: 6_000_000,
        ],
        encodePerMegabit: 20_000_000, audioPerSecond: 4_000_000, aacPerSecond: 13_000_000, roomPerSecond: 30_000_000,
        networkPerMegabit: 200_000)

    /// Returns the cost of what is done with one audio track of a source before it is mixed, for each second.
    package func processingPerSecond(_ audio: Pipeline.SourceAudio) -> Int64 {
        let noise =
            switch audio.noiseSuppression {
            case .off: Int64(0)
            case .fft: Self.noiseFilter
            case .model: Self.noiseModel
            }
        let gain = audio.autoGain == .off ? 0 : Self.autoGain
        return CostModel.product(self.aacPerSecond, noise + gain) / 100
    }

    /// Returns the cost of encoding a megapixel with these settings, without the cost per megabit.
    package func encodePerMegapixel(_ video: VideoEncoding) -> Int64 {
        let reference = Self.reference.encodePerMegapixel
        let known = self.encodePerMegapixel[video.preset] ?? reference[video.preset] ?? 0
        guard video.bFrames >= 2 else { return known }
        return known * Self.adaptiveBFrames / 100
    }
}
