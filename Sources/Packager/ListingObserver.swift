package import HLS
package import MediaTypes

/// Receives everything an output lists, in playlist order, before a later worker could know of it.
///
/// Called on the writer's thread, which also publishes the live playlists: implementations must return quickly.
package protocol ListingObserver: Sendable {
    /// A slot is about to be listed; its files are written. A repeated number replaces the earlier slot: a worker was
    /// killed before its state file had the number.
    func keep(_ slot: ListedSegmentSet)

    /// A date range has begun or ended.
    func keep(_ change: DateRange.Change)

    /// The multivariant playlist; called again if it changes.
    func keep(multivariant: String)

    /// The playlists have ended: no slot follows.
    ///
    /// - Parameter nextMediaSequence: The number after the last slot.
    func ended(nextMediaSequence: Int64)
}

/// One slot of all tracks, as the playlists list it.
package struct ListedSegmentSet: Sendable, Hashable {
    package struct Track: Sendable, Hashable {
        /// Prefix of its file names.
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
    /// Incarnation of the worker that lists it. Slots of an older worker that arrive after those of a newer one are
    /// ignored.
    package let incarnation: Int64
    /// Frames of the program, counted from the room's origin.
    package let frames: Range<Int64>
    package let tracks: [Track]

    package init(mediaSequence: Int64, incarnation: Int64, frames: Range<Int64>, tracks: [Track]) {
        self.mediaSequence = mediaSequence
        self.incarnation = incarnation
        self.frames = frames
        self.tracks = tracks
    }
}
