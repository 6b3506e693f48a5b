extension Pipeline {
    /// One audio track of a publisher that sends several (Enhanced RTMP multitrack), such as app audio and microphone.
    package struct AudioTrack: Sendable, Equatable {
        /// The track's number, set by the publisher (0…255); 0 is the main track.
        package var track = 0
        /// Gain of the track in percent (0…200), multiplied with the source's volume. Default 100.
        package var volume = 100

        package init() {}
    }
}

extension Pipeline.AudioTrack {
    static let rule = ObjectRule(
        "one audio track of a publisher that sends several", Pipeline.AudioTrack(),
        [
            Field(
                required: "track", \.track, .integer(0...255),
                "the track's number, set by the publisher; 0 is the main track"),
            Field("volume", \.volume, .integer(0...200), "gain of the track in percent; 0: muted"),
        ])
}
