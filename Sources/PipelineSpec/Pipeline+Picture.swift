extension Pipeline.Source {
    /// What a scene shows for a source until its first video frame, for example while it sends only audio.
    package enum OnNoVideo: String, Sendable, CaseIterable {
        /// The source's placeholder image, or the card with its name.
        case placeholder
        /// Nothing: the pane is removed from the scene, and a named layout is recomputed without it. The audio stays.
        case leavePane
    }
}

extension Pipeline.Source {
    /// How wall-clock timestamps in a source's stream are used.
    package enum WallClock: String, Sendable, CaseIterable {
        /// Sources with such timestamps are synchronized by them.
        case use
        /// The source is timed by the arrival of its packets, for example because its clock is wrong or to avoid the
        /// extra delay.
        case ignore
    }
}

extension Pipeline.Decode {
    /// What is shown for damaged frames.
    package enum Damaged: String, Sendable, CaseIterable {
        /// The frame as the decoder concealed the damage.
        case show
        /// The last good frame, until the next undamaged key frame.
        case hold
    }
}
