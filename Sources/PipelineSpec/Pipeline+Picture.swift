extension Pipeline.Source {
    /// What a scene shows of a source that sends sound but no pictures.
    package enum OnNoVideo: String, Sendable, CaseIterable {
        /// Its placeholder image, or the card with its name.
        case placeholder
        /// Nothing: what lies below its pane shows.
        case leavePane
    }
}

extension Pipeline.Source {
    /// What becomes of the times of day in a source's stream.
    package enum WallClock: String, Sendable, CaseIterable {
        /// Sources that have them are shown together by them.
        case use
        /// The source is shown by its arrival: its clock is wrong, or it shall not wait.
        case ignore
    }
}

extension Pipeline.Decode {
    /// What is shown of pictures that arrived damaged.
    package enum Damaged: String, Sendable, CaseIterable {
        /// As the decoder mended them.
        case show
        /// The last good one, until the next key picture.
        case hold
    }
}
