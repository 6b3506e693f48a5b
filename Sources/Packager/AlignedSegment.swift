import HLS

/// The segments of all tracks for one segment interval, complete and ready to be published.
struct AlignedSegment: Sendable {
    /// Index of the segment interval on the output's segment grid.
    let segmentIndex: Int64
    /// The tracks' segments by track index; `nil` for a track whose segment is missing: it gets a gap.
    var segments: [FinishedSegment?]

    /// Codec configuration changes that take effect with this segment.
    var changes: [ConfigurationChange] = []
    /// Frames of the program that the segment covers; `nil`: those that the regular grid has for ``segmentIndex``.
    var frames: Range<Int64>?
    /// Indices of the tracks that sleep in this segment, so that their playlists are empty; see ``TrackPublication/isAsleep``.
    var asleep: Set<Int> = []
    /// Whether every playlist gets an `EXT-X-DISCONTINUITY` before this segment, even if no configuration changes.
    var isBreak = false
    /// Whether the segment contains slate that fills a time in which no worker ran.
    var isSlate = false
    /// Whether the next segment is published right after this one, so that playlists are written once for both.
    var isFollowed = false

    /// Whether no track has media for this segment.
    var isEmpty: Bool { self.segments.allSatisfy { $0?.gap ?? true } }
}

/// A change of a track's codec configuration: its new initialization segment.
struct ConfigurationChange: Sendable, Hashable {
    let track: Int
    let initialization: [UInt8]
    /// The initialization segment's URI if the live edge has already chosen it; `nil` if the publication chooses it.
    var map: InitializationSegment?
}
