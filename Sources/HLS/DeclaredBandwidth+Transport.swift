import MediaTypes

extension DeclaredBandwidth {
    /// The same media as one transport stream: its packets, their headers and what fills them up.
    ///
    /// - Parameters:
    ///   - pictures: A second; 0 where there are none.
    ///   - frames: Of sound, a second.
    package func inTransport(pictures: Int64, frames: Int64) -> (peak: Int64, average: Int64) {
        // A picture ends in a packet that is half full on average and begins with some 35 bytes of headers; so does each
        // stream packet of four frames of sound, whose frames have 7 bytes each. Tables and clocks are little beside that.
        let overhead = (pictures * 130 + frames / 4 * 120 + frames * 7 + 400) * 8
        func wrapped(_ rate: Int64) -> Int64 {
            TimeMath.scale(rate, by: 188, over: 184, rounding: .up) &+ overhead
        }
        return (wrapped(self.peak), wrapped(self.average))
    }
}
