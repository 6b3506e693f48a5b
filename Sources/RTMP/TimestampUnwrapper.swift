/// Extends 32-bit RTMP timestamps in milliseconds to 64 bits that never wrap.
///
/// Spec: RTMP 1.0 §4 (serial number arithmetic, RFC 1982): a step of less than 2³¹ ms is taken as the shorter
/// direction. One unwrapper serves all tracks of a publication, so that they wrap together.
package struct TimestampUnwrapper: Sendable {
    private var last: Int64?

    package init() {}

    /// Returns `timestamp` as a 64-bit time in milliseconds. The first timestamp is returned unchanged; after steps back,
    /// later results can be negative.
    package mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        guard let last = self.last else {
            self.last = Int64(timestamp)
            return Int64(timestamp)
        }
        let step = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last))
        let time = last &+ Int64(step)
        self.last = time
        return time
    }
}
