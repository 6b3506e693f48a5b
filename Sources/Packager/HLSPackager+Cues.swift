package import HLS
package import MediaTypes

/// What happens with single pictures, carried in the media itself.
extension HLSPackager {
    /// Whether a track's fragments carry messages. Those of the pictures do: a player that has both would show each message
    /// twice. Where there are no pictures, the sound does.
    private func hasMessages(_ track: Int) -> Bool {
        self.tracks[track].kind == .video || !self.tracks.contains { $0.kind == .video }
    }

    /// Time of a picture as messages tell it.
    ///
    /// - Parameter number: Of the message in the room's run.
    package func message(number: Int64, at frame: Int64, payload: [UInt8]) -> EventMessage {
        let grid = self.settings.grid
        let kind: TrackKind = self.tracks.contains { $0.kind == .video } ? .video : .audio
        // A million messages of each of 4,096 workers of a room have a number of their own.
        let id = UInt32(truncatingIfNeeded: (self.incarnation & 0xFFF) << 20 | number & 0xF_FFFF)
        return EventMessage(
            id: id, time: grid.ticks(ofFrame: frame, kind), timescale: grid.timescale(of: kind), payload: payload)
    }

    /// Something happens with a picture that no encoder has had yet: it is in the fragment and in the picture of every
    /// rendition, once. Callable from any thread, after ``begin(now:slate:)``.
    package func cue(_ cue: ProgramCue) {
        for (index, segmenter) in self.segmenters.enumerated() {
            let hasMessages = self.hasMessages(index)
            segmenter.state.withLock { $0?.cues.add(cue, hasMessages: hasMessages) }
        }
    }

    /// From now on the pictures say what the program is; after ``begin(now:slate:)``, before the first picture. Sound has no
    /// plan: nothing of one would ever be taken from it.
    package func carry(_ plan: UserDataPlan) {
        for (track, segmenter) in zip(self.tracks, self.segmenters) where track.kind == .video {
            segmenter.state.withLock { $0?.cues.plan = plan }
        }
    }

    /// From a picture on another layout is on air.
    package func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool) {
        for segmenter in self.segmenters {
            segmenter.state.withLock { $0?.cues.plan?.show(layout, from: frame, isScheduled: isScheduled) }
        }
    }

    /// Layouts that wait in a track's plan.
    package func layoutCount(track: Int) -> Int {
        guard self.segmenters.indices.contains(track) else { return 0 }
        return self.segmenters[track].state.withLock { $0?.cues.plan?.layoutCount ?? 0 }
    }
}
