/// Limits how many bytes of a transport stream may be read without completing a unit.
///
/// libavformat assembles an access unit of video until the next one begins, in memory without a limit of its own, so a
/// stream in which no unit begins must be closed. If there is only one video track, each of its units accounts for all
/// bytes read before; without a video track, every unit does. Any other unit accounts for its own bytes, plus a
/// quarter for packet overhead.
package struct ReadLimit: Sendable {
    /// Maximum number of bytes read that no unit accounts for: 64 MiB.
    package static let most: Int64 = 64 << 20
    /// Bytes of packet headers and tables per unit, in addition to the quarter.
    private static let overhead: Int64 = 4 * 188

    /// Maximum number of bytes of one audio track without a frame. Frames have some kilobytes; this is eight seconds of
    /// 128 kbit/s.
    private static let mostAudio: Int64 = 128 << 10

    private var open: Int64 = 0
    private var read: Int64 = 0

    package init() {}

    /// Records a unit of `bytes`, after a total of `total` bytes have been read.
    ///
    /// - Parameter settlesAll: Whether no unit is being assembled now, so that all bytes are accounted for.
    /// - Returns: Whether reading may continue.
    package mutating func noted(unit bytes: Int64, total: Int64, settlesAll: Bool) -> Bool {
        let size = max(0, bytes)
        self.open = max(0, self.open &+ max(0, total &- self.read) &- size &- size / 4 &- Self.overhead)
        self.read = total
        if settlesAll { self.open = 0 }
        return self.open <= Self.most
    }

    /// Checks the bytes of an audio track that were read without a frame.
    ///
    /// - Parameters:
    ///   - open: Number of bytes read without a frame.
    ///   - hasBegun: Whether the track had frames before, so that its data is no longer in its codec. A track that
    ///     never had a frame is tolerated up to ``most``, so that the video is not lost because of it.
    /// - Returns: Whether reading may continue.
    package static func allows(audio open: Int64, hasBegun: Bool) -> Bool {
        open <= (hasBegun ? self.mostAudio : self.most)
    }
}
