package import HLS
package import MediaTypes

/// Receives everything that an output lists, in playlist order and before the playlists are written, for example for a
/// recording.
///
/// The methods are called on the writer's thread, which also publishes the live playlists, and at the start on that of
/// ``HLSPackager/begin(now:slate:)``: implementations must return quickly.
package protocol ListingObserver: Sendable {
    /// Called before the playlists in the directory list a new segment of all tracks; its files are already written,
    /// except those that become gaps. A repeated media sequence number replaces the earlier segment: a worker was killed
    /// before its state file contained the number.
    func keep(_ segmentIndex: ListedSegmentSet)

    /// Called when a date range has begun or ended, and at the start of a worker for every range that is listed.
    func keep(_ change: DateRange.Change)

    /// Called with the text of the multivariant playlist, and again whenever it changes.
    func keep(multivariant: String)

    /// Called when the playlists have ended: no segment follows.
    ///
    /// - Parameter nextMediaSequence: The media sequence number after the last segment.
    func ended(nextMediaSequence: Int64)
}

/// The segments with one media sequence number in the playlists of all tracks.
package struct ListedSegmentSet: Sendable, Hashable {
    /// A track's segment in a set of segments with the same media sequence number.
    package struct Track: Sendable, Hashable {
        /// Name of the track, the prefix of its file names.
        package let name: String
        package let kind: TrackKind
        package let segment: Segment

        package init(name: String, kind: TrackKind, segment: Segment) {
            self.name = name
            self.kind = kind
            self.segment = segment
        }
    }

    package let mediaSequence: Int64
    /// Incarnation (run number) of the worker that lists the segments. Segments of an older worker that arrive after
    /// those of a newer one are ignored.
    package let incarnation: Int64
    /// Frames that the segments cover, counted from the room's origin.
    package let frames: Range<Int64>
    package let tracks: [Track]

    package init(mediaSequence: Int64, incarnation: Int64, frames: Range<Int64>, tracks: [Track]) {
        self.mediaSequence = mediaSequence
        self.incarnation = incarnation
        self.frames = frames
        self.tracks = tracks
    }
}
