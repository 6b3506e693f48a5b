/// How much a transport stream may send without a unit coming of it.
///
/// libavformat puts the pieces of an access unit together until the next one begins, in memory that has no bound of its own:
/// a stream in which none begins must be given up. A unit of the only track that can be put together like this settles all
/// that came in before. Any other settles its own bytes, with a quarter for what lies around them.
package struct ReadingBudget: Sendable {
    /// Bytes that may be open: eight of the largest units, or a minute and a half of 5 Mbit/s without a picture.
    package static let most: Int64 = 64 << 20
    /// Bytes of one unit's packet headers and tables, beside its own quarter.
    private static let overhead: Int64 = 4 * 188

    /// Bytes of one track of sound in which there is no frame. Frames have some kilobytes; this is eight seconds of 128 kbit/s.
    private static let mostSound: Int64 = 128 << 10

    private var open: Int64 = 0
    private var read: Int64 = 0

    package init() {}

    /// A unit of `bytes` has come out, after `total` bytes have been read in all.
    ///
    /// - Parameter settlesAll: Nothing is being put together now.
    /// - Returns: Whether reading may go on.
    package mutating func noted(unit bytes: Int64, total: Int64, settlesAll: Bool) -> Bool {
        let size = max(0, bytes)
        self.open = max(0, self.open &+ max(0, total &- self.read) &- size &- size / 4 &- Self.overhead)
        self.read = total
        if settlesAll { self.open = 0 }
        return self.open <= Self.most
    }

    /// Bytes of a track of sound have come in, and no frame of it.
    ///
    /// - Parameters:
    ///   - open: So many.
    ///   - hasBegun: Frames have come before: it was in its codec, and is not any more. One that never was is no reason to do
    ///     without the pictures, as long as there is memory for it.
    /// - Returns: Whether reading may go on.
    package static func allows(sound open: Int64, hasBegun: Bool) -> Bool {
        open <= (hasBegun ? self.mostSound : self.most)
    }
}
