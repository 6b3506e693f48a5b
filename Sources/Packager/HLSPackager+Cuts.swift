import HLS
package import MediaTypes

extension HLSPackager {
    /// What a track's packets become with a cut.
    package struct Recoding: Sendable {
        package var track: Int
        package var parameters: CodecParameters
        /// Pixels.
        package var width: Int
        package var height: Int

        package init(track: Int, parameters: CodecParameters, width: Int, height: Int) {
            self.track = track
            self.parameters = parameters
            self.width = width
            self.height = height
        }
    }

    /// The slot that is open ends before a frame, in every track, and the next begins with it: an IDR picture in every
    /// rendition. Called before any packet of the frame, or of a later one, comes.
    ///
    /// - Parameters:
    ///   - isBreak: Every playlist has an `EXT-X-DISCONTINUITY` there.
    ///   - recoding: A track that has another configuration from there on. It is known together with the cut: hls.js
    ///     (1.6.15) keeps the map a segment was first announced with, if only by the hint of its first part.
    package func cut(at tick: Int64, isBreak: Bool, recoding: Recoding? = nil) {
        var change: ConfigurationChange?
        if let recoding, self.tracks.indices.contains(recoding.track) {
            // One that cannot be written is refused again, and told, when its packets come.
            let bytes = try? self.initialization(
                of: recoding.track, recoding.parameters, width: recoding.width, height: recoding.height)
            change = bytes.map { ConfigurationChange(track: recoding.track, initialization: $0) }
        }
        let isKnown = self.intake.withLock { [change] intake -> Bool in
            guard intake.endlist == nil, let slot = intake.slots.cut(at: tick) else { return false }
            intake.collector?.slots = intake.slots
            intake.edge?.setSlots(intake.slots)
            if isBreak {
                intake.collector?.breakTime(at: slot)
                intake.edge?.breakTime(at: slot)
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

    /// The track's next packet is another stream's first, an IDR picture; the track's calling thread says so.
    ///
    /// - Parameter isPlaced: See ``TrackSegmenter/beginStream(isPlaced:)``.
    package func beginStream(track: Int, isPlaced: Bool) {
        guard self.segmenters.indices.contains(track) else { return }
        self.segmenters[track].state.withLock { $0?.beginStream(isPlaced: isPlaced) }
    }
}
