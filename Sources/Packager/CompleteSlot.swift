import HLS

/// A segment slot that is ready to be published.
struct CompleteSlot: Sendable {
    let slot: Int64
    /// By track index; `nil` where the track has nothing in the slot.
    var segments: [FinishedSegment?]

    /// Tracks whose packets have another configuration from this slot on.
    var changes: [ConfigurationChange] = []
    /// Frames of the slot; `nil`: the grid's.
    var frames: Range<Int64>?
    /// Time is broken with it in every playlist, whether or not a configuration changes.
    var isBreak = false
    /// Stands for a time in which no worker was there.
    var isSlate = false
    /// Another slot is published together with this one.
    var isFollowed = false

    init(slot: Int64, segments: [FinishedSegment?]) {
        self.slot = slot
        self.segments = segments
    }

    /// No track has anything.
    var isEmpty: Bool { self.segments.allSatisfy { $0?.gap ?? true } }
}

/// A track's new initialization segment.
struct ConfigurationChange: Sendable, Hashable {
    let track: Int
    let initialization: [UInt8]
    /// Its name, where the live edge has shown it already; otherwise the publication gives it one.
    var map: InitializationSegment?

    init(track: Int, initialization: [UInt8]) {
        self.track = track
        self.initialization = initialization
    }
}
