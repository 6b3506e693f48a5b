import HLS
import MediaTypes

/// Tracks that are not encoded while nobody watches them.
extension HLSPackager {
    /// Names of the video tracks that slept when the previous worker last wrote the state file. They are awake in this
    /// run until ``sleep(track:from:)`` is called.
    package var asleepBefore: Set<String> { Set(self.claimed.tracks.filter(\.isAsleep).map(\.name)) }

    /// Empties a track's playlist, because no packets follow until ``wake(track:at:)``. The media sequence numbers of
    /// the track pass as those of the other tracks do. Call it on the thread that feeds the track, after its last packet.
    ///
    /// - Parameter tick: First frame without media, counted from the room's origin. If it is inside a segment, the
    ///   track's frames in that segment are dropped.
    package func sleep(track: Int, from tick: Int64) {
        guard self.tracks.indices.contains(track) else { return }
        let output = self.segmenters[track].state.withLock { state -> [TrackSegmenter.Output] in
            defer { state = nil }
            return state?.close(before: tick) ?? []
        }
        self.collect(output, track: track)
        self.intake.withLock { intake in
            guard intake.endlist == nil, !intake.isOver else { return }
            intake.collector?.sleep(track: track, from: intake.boundaries.segmentIndex(ofFrame: tick))
            intake.edge?.sleep(track: track)
            intake.showEdge()
        }
        self.work.signal()
    }

    /// Begins a track's playlist again, with the number, times and initialization segment that the track would have
    /// had without sleep. Call it on the thread that feeds the track, before any video packet with a frame at
    /// `tick` or later arrives.
    ///
    /// - Parameter tick: First frame with media, the first one of a segment, counted from the room's origin.
    package func wake(track: Int, at tick: Int64) {
        guard self.tracks.indices.contains(track) else { return }
        // The segmenter's lock is held while the boundaries are read, so that it misses no cut: ``cut(at:isBreak:recoding:)``
        // adds a cut first to the boundaries and then to the segmenters.
        self.segmenters[track].state.withLock { state in
            let boundaries = self.intake.withLock { intake -> SegmentBoundaries? in
                guard intake.endlist == nil, !intake.isOver, intake.collector != nil else { return nil }
                let segmentIndex = intake.boundaries.segmentIndex(ofFrame: tick)
                intake.collector?.wake(track: track, at: segmentIndex)
                intake.edge?.wake(track: track, at: segmentIndex)
                return intake.boundaries
            }
            guard let boundaries else { return }
            state = TrackSegmenter(
                kind: self.tracks[track].kind, grid: self.settings.grid, firstTick: tick, boundaries: boundaries,
                frameStep: self.tracks[track].frameStep, isolatesKeys: self.settings.iFramePlaylists)
        }
    }
}
