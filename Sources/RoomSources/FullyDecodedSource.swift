package import MediaTypes

/// The source off air of which all frames are decoded, because a page shows it enlarged: one source at a time, so that the
/// cost has a limit. A pure value.
package struct FullyDecodedSource: Sendable {
    /// For how long one request counts, in nanoseconds.
    package static var duration: Int64 { 1_500_000_000 }

    private var source: SourceID?
    private var end = Int64.min

    package init() {}

    /// Notes that a page requests the frames of a source.
    ///
    /// - Parameter now: Time of the request on the monotonic clock, in nanoseconds.
    /// - Returns: Whether they are decoded for the next ``duration``. False while they are decoded of another source.
    package mutating func request(_ source: SourceID, now: Int64) -> Bool {
        guard self.source == nil || self.source == source || now >= self.end else { return false }
        (self.source, self.end) = (source, now &+ Self.duration)
        return true
    }

    /// Lets pages request another source at once if this one has left the room.
    package mutating func forget(_ source: SourceID) { if self.source == source { self.source = nil } }
}
