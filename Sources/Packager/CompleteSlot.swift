import HLS

/// A segment slot that is ready to be published.
struct CompleteSlot: Sendable {
    let slot: Int64
    /// By track index; `nil` where the track has nothing in the slot.
    var segments: [FinishedSegment?]

    /// No track has anything.
    var isEmpty: Bool { self.segments.allSatisfy { $0?.gap ?? true } }
}
