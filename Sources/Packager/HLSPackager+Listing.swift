import HLS

extension HLSPackager {
    /// Returns the segments that the playlists in the directory list, or will list as soon as they are written, grouped
    /// over all tracks, oldest first. Includes the playlists of the whole window. Callable from any thread; does not wait
    /// for the store.
    package func listedSegments() -> [ListedSegmentSet] {
        guard let publication = self.listing.withLock({ $0 }) else { return [] }
        var tracksByNumber: [Int64: [ListedSegmentSet.Track]] = [:]
        for (index, track) in publication.tracks.enumerated() {
            for segment in publication.archived(ofTrack: index) + track.window.segments {
                tracksByNumber[segment.mediaSequence, default: []].append(
                    ListedSegmentSet.Track(name: track.names.track, kind: track.kind, segment: segment))
            }
        }
        return tracksByNumber.sorted { $0.key < $1.key }.map { number, tracks in
            // Frames and incarnation are only used in recording journals.
            ListedSegmentSet(mediaSequence: number, incarnation: publication.incarnation, frames: 0..<0, tracks: tracks)
        }
    }
}
