import MediaTypes

extension DeclaredBandwidth {
    /// `BANDWIDTH` of an I-frame playlist, in bits per second: what its pictures take of the rendition's rate.
    ///
    /// Spec: rfc8216bis §4.4.6.3. No picture is larger than the encoder's rate buffer, and there is one a GOP; nor can key
    /// frames take more than all pictures together.
    ///
    /// - Parameters: As ``init(videoBitrate:videoPeak:videoBuffer:audioBitrate:audioPeak:grid:)``.
    package static func ofIFrames(
        videoBitrate: Int64, videoPeak: Int64, videoBuffer: Int64, grid: OutputGrid
    ) -> Int64 {
        let all = DeclaredBandwidth(
            videoBitrate: videoBitrate, videoPeak: videoPeak, videoBuffer: videoBuffer, audioBitrate: 0, audioPeak: 0,
            grid: grid
        ).peak
        guard videoBuffer > 0 else { return all }
        // What a fragment adds, as for the others.
        let bits = min(videoBuffer, 1 << 40) + 150 * 8
        let each = TimeMath.scale(bits, by: Int64(grid.fps), over: Int64(grid.gopFrames), rounding: .up)
        return min(all, TimeMath.scale(each, by: 103, over: 100, rounding: .up))
    }
}
