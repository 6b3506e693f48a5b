extension Pipeline {
    /// One audio track of a publication that has several (Enhanced RTMP multitrack): an app and a microphone.
    package struct AudioTrack: Sendable, Equatable {
        /// The publisher's number of it (0…255); 0 is the main one.
        package var track = 0
        /// Gain in percent (0…200), before the source's own. Default 100.
        package var volume = 100

        package init() {}
    }
}

extension Pipeline.AudioTrack {
    static let rule = ObjectRule(
        "one audio track of a publisher that sends several", Pipeline.AudioTrack(),
        [
            Field(required: "track", \.track, .integer(0...255), "the publisher's number of it; 0 is the main one"),
            Field("volume", \.volume, .integer(0...200), "gain of the track in percent; 0: it is not heard"),
        ])
}
