import HLS

/// A complete segment slot that is ready to be published.
struct AlignedSegment: Sendable {
    let slot: Int64
    /// By track index; `nil` if the track has no media in the slot.
    var segments: [FinishedSegment?]

    /// Configuration changes of tracks that apply from this slot on.
    var changes: [ConfigurationChange] = []
    /// Frames of the slot; `nil`: those of the grid.
    var frames: Range<Int64>?
    /// Every playlist has a discontinuity here, whether or not a configuration changes.
    var isBreak = false
    /// Filled with slate for a time in which no worker ran.
    var isSlate = false
    /// Another slot is published right after this one, in the same batch.
    var isFollowed = false

    /// Whether no track has media in the slot.
    var isEmpty: Bool { self.segments.allSatisfy { $0?.gap ?? true } }
}

/// A track's new initialization segment.
struct ConfigurationChange: Sendable, Hashable {
    let track: Int
    let initialization: [UInt8]
    /// The name under which the live edge has already listed it; `nil`: the publication chooses one.
    var map: InitializationSegment?
}
