package import HLS
package import MediaTypes

/// Told of everything an output lists, in the order of the playlists and before a successor could know of it.
///
/// Called on the writer's thread, which carries the live playlists: whoever keeps something returns soon.
package protocol SlotKeeping: Sendable {
    /// A slot is about to be listed; its files are there. A number that comes again takes the place of the one before: a
    /// worker was killed before its state named it.
    func keep(_ slot: KeptSlot)

    /// A date range has begun or ended.
    func keep(_ change: DateRange.Change)

    /// The multivariant playlist; called again where it changes.
    func keep(multivariant: String)

    /// `EXT-X-ENDLIST` is out: no slot follows.
    ///
    /// - Parameter nextMediaSequence: The number of a slot behind the last.
    func ended(nextMediaSequence: Int64)
}

/// One slot of all tracks, as the playlists list it.
package struct KeptSlot: Sendable, Hashable {
    package struct Track: Sendable, Hashable {
        /// Begins the names of its files.
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
    /// Which worker of the room lists it: numbers of an older one count no more.
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
