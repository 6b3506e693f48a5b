package import HLS
package import MediaTypes

/// What an output tells the room.
package enum PackagerEvent: Sendable {
    /// Slate has been put where no worker was there; the segments it fills follow as published.
    case slateFilled(SlateFill)
    /// A segment is listed in every playlist.
    case segmentPublished(PublishedSegment)
    /// The playlists carry `EXT-X-ENDLIST`.
    case playlistEnded
    /// A newer worker serves this directory: nothing is published any more.
    case superseded
    /// Something could not be written. The output keeps trying; what stays unwritten becomes a gap.
    case outputFailed(MediaError)
    /// A segment is a gap in these tracks' playlists for good, because it could not be written.
    case segmentLost(mediaSequence: Int64, tracks: [String], MediaError)
    /// The directory was moved away, emptied or mounted over: everything that was still there is written again, and this many
    /// listed segments are lost.
    case placeRestored(path: String, lostSegments: Int)
    /// A variant's measured peak segment bit rate is more than a tenth above what its playlist declares; once a variant.
    case bandwidthExceeded(track: String, measured: Int64, declared: Int64)
}

/// A segment slot as it was published.
package struct PublishedSegment: Sendable, Hashable {
    package let mediaSequence: Int64
    /// Wall-clock time of its first frame: nanoseconds since the Unix epoch.
    package let programDate: Int64
    package let duration: MediaDuration
    /// Size by track name; 0 where the track has a gap.
    package let bytes: [String: Int]
    /// When the playlists were out: nanoseconds of the injected clock.
    package let publishedAt: Int64
    /// Frames of the program, counted from the room's origin.
    package let frames: Range<Int64>
    /// Stands for a time in which no worker was there.
    package let isSlate: Bool
}
