package import MediaTypes

/// The milliseconds of one track's packets: they rise strictly, and no picture is decoded after it is shown, as far as
/// milliseconds allow.
///
/// Encoders send decoding times that are early enough; those of a publisher's packets that pass through are picture numbers,
/// and become early enough here by as many pictures as the stream turns out to reorder.
package struct TagTimes: Sendable {
    /// Pictures that most encoders which reorder at all reorder: so that the first of them is not late.
    private static let usualReorder: Int64 = 2
    /// H.264 §A.3.1, `MaxDpbFrames`.
    private static let deepestReorder: Int64 = 16

    private var last: Int64 = -1
    /// Pictures by which decoding times are moved ahead.
    private var shift: Int64 = 0
    private var isPlaced = false

    package init() {}

    /// The next packets are another stream's.
    ///
    /// - Parameter isPlaced: Their `dts` count pictures from that of an IDR picture, which is the time it is shown.
    package mutating func beginStream(isPlaced: Bool) {
        self.isPlaced = isPlaced
        self.shift = isPlaced ? Self.usualReorder : 0
    }

    /// When the packet is decoded and when it is shown, in milliseconds of its track's time.
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
