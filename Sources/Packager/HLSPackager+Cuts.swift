import HLS
package import MediaTypes

extension HLSPackager {
    /// A track's new codec configuration that takes effect at a forced segment boundary.
    package struct Recoding: Sendable {
        package var track: Int
        package var parameters: CodecParameters
        /// Width in pixels.
        package var width: Int
        package var height: Int

        package init(track: Int, parameters: CodecParameters, width: Int, height: Int) {
            self.track = track
            self.parameters = parameters
            self.width = width
            self.height = height
        }
    }

    /// Forces a segment boundary: the open segment of every track ends before a frame, and the next one begins with
    /// that frame, which must be an IDR frame in every rendition. Call it before any packet of this frame or a later
    /// one arrives.
    ///
    /// - Parameters:
    ///   - tick: The frame, counted from the room's origin.
    ///   - isBreak: If true, every playlist gets an `EXT-X-DISCONTINUITY` at the boundary.
    ///   - recoding: A track that has another configuration from the boundary on. It is announced together with the
    ///     boundary: hls.js (1.6.15) keeps the map with which it first learned of a segment, even if only through the
    ///     hint of the first part.
    package func cut(at tick: Int64, isBreak: Bool, recoding: Recoding? = nil) {
        var change: ConfigurationChange?
        if let recoding, self.tracks.indices.contains(recoding.track) {
            // A configuration that cannot be written is rejected again, and then reported, when its packets arrive.
            let bytes = try? self.initialization(
                of: recoding.track, recoding.parameters, width: recoding.width, height: recoding.height)
            change = bytes.map { ConfigurationChange(track: recoding.track, initialization: $0) }
        }
        let isKnown = self.intake.withLock { [change] intake -> Bool in
            guard intake.endlist == nil, let segmentIndex = intake.boundaries.cut(at: tick) else { return false }
            intake.collector?.boundaries = intake.boundaries
            intake.edge?.setBoundaries(intake.boundaries)
            if isBreak {
                intake.collector?.breakTime(at: segmentIndex)
                intake.edge?.breakTime(at: segmentIndex)
            }
            if let change { intake.change(change, firstTick: tick) }
            return true
        }
        guard isKnown else { return }
        for (track, segmenter) in self.segmenters.enumerated() {
            let output = segmenter.state.withLock { $0?.cut(at: tick) ?? [] }
            self.collect(output, track: track)
        }
    }

    /// Announces that the track's next packet is the first packet of another coded stream, an IDR frame. Call it on the
    /// thread that feeds this track.
    ///
    /// - Parameter isPlaced: See ``TrackSegmenter/beginStream(isPlaced:)``.
    package func beginStream(track: Int, isPlaced: Bool) {
        guard self.segmenters.indices.contains(track) else { return }
        self.segmenters[track].state.withLock { $0?.beginStream(isPlaced: isPlaced) }
    }
}
