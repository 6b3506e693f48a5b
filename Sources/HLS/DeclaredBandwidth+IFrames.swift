import MediaTypes

extension DeclaredBandwidth {
    /// Computes `BANDWIDTH` of an I-frame playlist in bits per second.
    ///
    /// Spec: rfc8216bis §4.4.6.3. No key frame is larger than the encoder's rate buffer, and there is one per GOP. The
    /// result is never more than the rate of all frames together.
    ///
    /// - Parameter videoBuffer: The whole `bufsize` of the encoder in bits; 0 if it has no such limit. The other
    ///   parameters are those of ``init(videoBitrate:videoPeak:videoBuffer:audioBitrate:audioPeak:grid:)``.
    package static func ofIFrames(
        videoBitrate: Int64, videoPeak: Int64, videoBuffer: Int64, grid: OutputGrid
    ) -> Int64 {
        let all = DeclaredBandwidth(
            videoBitrate: videoBitrate, videoPeak: videoPeak, videoBuffer: videoBuffer, audioBitrate: 0, audioPeak: 0,
            grid: grid
        ).peak
        guard videoBuffer > 0 else { return all }
        // The fragment overhead, as in `DeclaredBandwidth`.
        let bits = min(videoBuffer, 1 << 40) + 150 * 8
        let each = TimeMath.scale(bits, by: Int64(grid.fps), over: Int64(grid.gopFrames), rounding: .up)
        return min(all, TimeMath.scale(each, by: 103, over: 100, rounding: .up))
    }
}
