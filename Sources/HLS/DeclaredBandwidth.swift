import MediaTypes

/// `BANDWIDTH` and `AVERAGE-BANDWIDTH` of a variant, computed from its encoder settings.
///
/// Spec: rfc8216bis §4.4.6.2. A player fetches the multivariant playlist once per session, before anything can be
/// measured. For that case the specification asks for the peak of a representative period. Over a run of length T an
/// encoder produces at most `maxrate × T + bufsize` bits, and the shortest run that counts is one segment. Encoders use
/// only a part of `bufsize`; the caller passes that part, which is measured per preset.
package struct DeclaredBandwidth: Sendable, Hashable {
    /// Peak bit rate (`BANDWIDTH`) in bits per second.
    package let peak: Int64
    /// Average bit rate (`AVERAGE-BANDWIDTH`) in bits per second.
    package let average: Int64

    /// Upper estimate of the bytes that a fragment adds to its samples: about 100 for the boxes, and the sample table.
    private static let fragmentOverhead: Int64 = 150

    /// Computes the declared bit rates of a variant.
    ///
    /// - Parameters (bits per second, `videoBuffer` in bits; 0 without such a track or limit):
    ///   - videoPeak: The encoder's `maxrate`; `videoBitrate` if 0.
    ///   - videoBuffer: The part of the encoder's `bufsize` that a segment may use beyond `maxrate`; the whole
    ///     `bufsize` if that part is unknown.
    ///   - audioPeak: Highest bit rate of the audio; `audioBitrate` if 0.
    package init(
        videoBitrate: Int64, videoPeak: Int64, videoBuffer: Int64, audioBitrate: Int64, audioPeak: Int64,
        grid: OutputGrid
    ) {
        let limit: Int64 = 1 << 40
        func bounded(_ value: Int64) -> Int64 { min(max(0, value), limit) }
        let videoBitrate = bounded(videoBitrate)
        let videoPeak = max(videoBitrate, bounded(videoPeak))
        let audioBitrate = bounded(audioBitrate)
        let audioPeak = max(audioBitrate, bounded(audioPeak))
        let tracks: Int64 = (videoBitrate > 0 ? 1 : 0) + (audioBitrate > 0 ? 1 : 0)
        let burst = TimeMath.scale(
            bounded(videoBuffer), by: Int64(grid.fps), over: Int64(grid.segmentFrames), rounding: .up)
        let overhead = TimeMath.scale(
            Self.fragmentOverhead * 8 * tracks, by: Int64(grid.fps), over: Int64(grid.partFrames), rounding: .up)
        let videoShare = videoBitrate > 0 ? videoPeak + burst : 0
        self.peak =
            TimeMath.scale(videoShare, by: 103, over: 100, rounding: .up)
            + TimeMath.scale(audioPeak, by: 102, over: 100, rounding: .up) + overhead
        self.average = TimeMath.scale(videoBitrate, by: 103, over: 100, rounding: .up) + audioBitrate + overhead
    }
}
