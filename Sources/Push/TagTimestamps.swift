package import MediaTypes

/// Computes the timestamps of one track's packets in milliseconds. Decoding times increase strictly, and no frame is
/// decoded after its presentation time, as far as milliseconds allow.
///
/// Encoders set decoding times that are early enough. Decoding times of packets passed through from a publisher are
/// frame numbers; they are moved earlier here by as many frames as the stream turns out to reorder.
package struct TagTimestamps: Sendable {
    /// Number of frames that most encoders with B-frames reorder. Decoding times start earlier by that number, so that
    /// the first B-frame is not presented before it is decoded.
    private static let usualReorder: Int64 = 2
    /// Maximum number of frames by which a stream can reorder (H.264 §A.3.1, `MaxDpbFrames`).
    private static let deepestReorder: Int64 = 16

    private var last: Int64 = -1
    /// Number of frames by which decoding times are moved earlier.
    private var shift: Int64 = 0
    private var isPlaced = false

    package init() {}

    /// Records that a new stream begins with the next packet.
    ///
    /// - Parameter isPlaced: True if the `dts` of its packets counts frames from an IDR frame, whose `dts` equals its
    ///   presentation time. That is so for packets passed through from a publisher.
    package mutating func beginStream(isPlaced: Bool) {
        self.isPlaced = isPlaced
        self.shift = isPlaced ? Self.usualReorder : 0
    }

    /// Returns the decoding and presentation time of the packet, in milliseconds.
    package mutating func place(_ packet: CodedPacket) -> (dts: Int64, pts: Int64) {
        let scale = Int64(max(1, packet.timescale))
        let step = max(0, packet.duration)
        if self.isPlaced, step > 0, packet.dts &- self.shift &* step > packet.pts {
            let late = packet.dts &- packet.pts
            self.shift = min((late &+ step - 1) / step, Self.deepestReorder)
        }
        let pts = TimeMath.rescale(packet.pts, from: scale, to: 1_000)
        let dts = TimeMath.rescale(packet.dts &- self.shift &* step, from: scale, to: 1_000)
        self.last = max(self.last &+ 1, min(dts, pts))
        return (self.last, pts)
    }
}
