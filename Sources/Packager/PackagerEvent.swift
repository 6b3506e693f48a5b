package import HLS
package import MediaTypes

/// Events that an output reports to the room.
package enum PackagerEvent: Sendable {
    /// Slate fills the time in which no worker ran; the filled segments follow as published.
    case slateFilled(SlateFill)
    /// A segment is listed in every playlist.
    case segmentPublished(PublishedSegment)
    /// The playlists have `EXT-X-ENDLIST`.
    case playlistEnded
    /// A newer worker serves this directory: this one publishes nothing more.
    case superseded
    /// A write failed. The output retries; segments that stay unwritten become gaps.
    case outputFailed(MediaError)
    /// A segment is permanently listed as a gap in these tracks' playlists, because it could not be written.
    case segmentLost(mediaSequence: Int64, tracks: [String], MediaError)
    /// The directory was moved away, emptied or mounted over. Everything that still existed is written again; this many
    /// listed segments are lost.
    case placeRestored(path: String, lostSegments: Int)
    /// A variant's measured peak segment bit rate exceeds the declared one by more than a tenth; reported once per
    /// variant.
    case bandwidthExceeded(track: String, measured: Int64, declared: Int64)
}

/// A published segment slot.
package struct PublishedSegment: Sendable, Hashable {
    package let mediaSequence: Int64
    /// Wall-clock time of its first frame: nanoseconds since the Unix epoch.
    package let programDate: Int64
    package let duration: MediaDuration
    /// Size by track name; 0 if the track has a gap.
    package let bytes: [String: Int]
    /// When the playlists were published: nanoseconds of the injected clock.
    package let publishedAt: Int64
    /// Frames of the program, counted from the room's origin.
    package let frames: Range<Int64>
    /// Filled with slate for a time in which no worker ran.
    package let isSlate: Bool
}
