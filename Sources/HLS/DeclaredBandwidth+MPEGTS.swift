import MediaTypes

extension DeclaredBandwidth {
    /// Returns the bit rates of the same media as one MPEG-TS stream, which adds packet headers and stuffing.
    ///
    /// - Parameters:
    ///   - videoFrames: Video frames per second; 0 without video.
    ///   - audioFrames: AAC frames per second.
    package func inMPEGTS(videoFrames: Int64, audioFrames: Int64) -> (peak: Int64, average: Int64) {
        // A video frame ends in a packet that is half full on average and begins with about 35 bytes of headers. The
        // same holds for each PES packet of four AAC frames, each of which adds a 7-byte header. Tables and clock
        // references are small in comparison.
        let overhead = (videoFrames * 130 + audioFrames / 4 * 120 + audioFrames * 7 + 400) * 8
        func wrapped(_ rate: Int64) -> Int64 {
            TimeMath.scale(rate, by: 188, over: 184, rounding: .up) &+ overhead
        }
        return (wrapped(self.peak), wrapped(self.average))
    }
}
