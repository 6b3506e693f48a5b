package import HLS
package import MediaTypes

/// Metadata for single frames, carried in the media itself.
extension HLSPackager {
    /// Whether a track's fragments carry `emsg` messages. Only one kind of track does, because a player would show a
    /// message from both kinds twice: video, or audio in an audio-only output.
    private func hasMessages(_ track: Int) -> Bool {
        self.tracks[track].kind == .video || !self.tracks.contains { $0.kind == .video }
    }

    /// Makes an event message (`emsg`) for a frame.
    ///
    /// - Parameter number: Number of the message in this worker's run.
    package func message(number: Int64, at frame: Int64, payload: [UInt8]) -> EventMessage {
        let grid = self.settings.grid
        let kind: TrackKind = self.tracks.contains { $0.kind == .video } ? .video : .audio
        // Message ids are unique for a million messages of each of 4,096 workers of a room.
        let id = UInt32(truncatingIfNeeded: (self.incarnation & 0xFFF) << 20 | number & 0xF_FFFF)
        return EventMessage(
            id: id, time: grid.ticks(ofFrame: frame, kind), timescale: grid.timescale(of: kind), payload: payload)
    }

    /// Adds timed metadata to a frame that has not been encoded yet. It is written into the fragments of one kind of
    /// track (video, or audio if there is no video) and, if it has a text, into the coded frame of every video
    /// rendition. Callable from any thread, after ``begin(now:slate:)``.
    package func cue(_ cue: FrameMetadata) {
        for (index, segmenter) in self.segmenters.enumerated() {
            let hasMessages = self.hasMessages(index)
            segmenter.state.withLock { $0?.cues.add(cue, hasMessages: hasMessages) }
        }
    }

    /// Starts writing user data SEI messages into the video frames; call it after ``begin(now:slate:)`` and before the
    /// first frame. Audio tracks do not use the plan, because they would never remove its entries.
    package func carry(_ plan: UserDataPlan) {
        for (track, segmenter) in zip(self.tracks, self.segmenters) where track.kind == .video {
            segmenter.state.withLock { $0?.cues.plan = plan }
        }
    }

    /// Sets the layout that user data SEI describes from a frame on.
    package func show(_ layout: [JSONValue.Member], from frame: Int64, isScheduled: Bool) {
        for segmenter in self.segmenters {
            segmenter.state.withLock { $0?.cues.plan?.show(layout, from: frame, isScheduled: isScheduled) }
        }
    }

    /// Adds closed captions to a program frame that has not been encoded yet, in every rendition.
    package func caption(_ pairs: [CaptionPair], at frame: Int64) {
        for (track, segmenter) in zip(self.tracks, self.segmenters) where track.kind == .video {
            segmenter.state.withLock { $0?.cues.add(captions: pairs, at: frame) }
        }
    }

    /// Removes the closed captions of a frame that was lost.
    package func removeCaptions(at frame: Int64) {
        for segmenter in self.segmenters { segmenter.state.withLock { $0?.cues.removeCaptions(at: frame) } }
    }

    /// Number of layouts that a track's user data plan holds.
    package func layoutCount(track: Int) -> Int {
        guard self.segmenters.indices.contains(track) else { return 0 }
        return self.segmenters[track].state.withLock { $0?.cues.plan?.layoutCount ?? 0 }
    }
}
