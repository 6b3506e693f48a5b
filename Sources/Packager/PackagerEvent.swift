package import HLS
package import MediaTypes

/// An event that an HLS output reports to its room.
package enum PackagerEvent: Sendable {
    /// The worker has inserted slate for the time in which no worker ran. Reported once for the whole time, after
    /// ``segmentPublished(_:)`` for each complete segment with slate.
    case slateFilled(SlateFill)
    /// A segment has been listed in the media playlist of every track that does not sleep.
    case segmentPublished(PublishedSegment)
    /// The playlists have been ended with `EXT-X-ENDLIST`.
    case playlistEnded
    /// A newer worker serves this directory, so this worker publishes nothing more.
    case superseded
    /// A write or a deletion failed. The output retries; segments that stay unwritten become gaps.
    case outputFailed(MediaError)
    /// A segment is permanently listed as a gap in these tracks' playlists, because it could not be written.
    case segmentLost(mediaSequence: Int64, tracks: [String], MediaError)
    /// The directory was moved away, emptied or mounted over. The worker has written everything again that still
    /// existed; `lostSegments` listed segments, counted for each track, are lost.
    case placeRestored(path: String, lostSegments: Int)
    /// A variant's measured peak segment bit rate exceeds the declared one by more than a tenth; reported once per
    /// rendition, and again after its declared rates have changed.
    case bandwidthExceeded(track: String, measured: Int64, declared: Int64)
}

/// A published segment, over all tracks.
package struct PublishedSegment: Sendable, Hashable {
    package let mediaSequence: Int64
    /// Wall-clock time of its first frame: nanoseconds since the Unix epoch.
    package let programDate: Int64
    package let duration: MediaDuration
    /// Size of the segment in bytes by track name; 0 if the track has a gap. A track that sleeps has no entry.
    package let bytes: [String: Int]
    /// Time at which the playlists were published: nanoseconds of the injected clock.
    package let publishedAt: Int64
    /// Frames of the program, counted from the room's origin.
    package let frames: Range<Int64>
    /// Whether the segment contains slate that fills a time in which no worker ran.
    package let isSlate: Bool
}
