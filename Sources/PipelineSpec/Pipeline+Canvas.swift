extension Pipeline {
    /// The one picture everything is composed into.
    package struct Canvas: Sendable, Equatable {
        /// Whether its size stays.
        package enum Policy: String, Sendable, CaseIterable {
            /// One size for all scenes: encoders, playlists and players notice nothing.
            case fixed
            /// The size of the scene that is on air: a new init segment and a discontinuity at each change.
            case perScene
        }

        /// Pixels, even (64…1920). Default 1280.
        package var width = 1280
        /// Pixels, even (64…1920). Default 720.
        package var height = 720
        /// Pictures per second (1…60). Default 30.
        package var fps = 30
        /// Default `#101014`.
        package var backgroundColor = Color(red: 0x10, green: 0x10, blue: 0x14)
        /// Default ``Policy/fixed``.
        package var policy = Policy.fixed
        /// Behind the panes of every scene that has none of its own.
        package var bgImages: [StillImage] = []
        /// Paths of font files that texts are drawn with before the system's fonts, in this order; 0…8.
        package var fonts: [String] = []

        package init(width: Int = 1280, height: Int = 720, fps: Int = 30) {
            self.width = width
            self.height = height
            self.fps = fps
        }
    }

    /// The one sound everything is mixed into.
    package struct Audio: Sendable, Equatable {
        /// Samples per second: 48,000.
        package var sampleRate = 48_000
        /// Channels: 2.
        package var channels = 2
        /// AAC bit rate in bit/s (32,000…320,000). Default 128,000.
        package var bitrate = 128_000
        /// Length of the ramp that hides a change of volume, in milliseconds (0…1,000). Default 20.
        package var rampMs = 20
        /// Time between two `audio.levels` events, in milliseconds (0…60,000; 0: none). Default 1,000.
        package var levelIntervalMs = 1000
        /// Who is heard over the others. Default nobody.
        package var ducking: Ducking?

        package init() {}
    }

    /// Turns all other sources down while one of some users speaks.
    package struct Ducking: Sendable, Equatable {
        /// The users who are heard over the others.
        package var uids: [String] = []
        /// Momentary loudness from which on a user speaks, in LUFS (−70…−10). Default −45.
        package var thresholdDb = -45
        /// What the others lose, in decibels (1…60). Default 12.
        package var reductionDb = 12
        /// Time the others take to go down, in milliseconds (5…2,000). Default 80.
        package var attackMs = 80
        /// Time the others take to come back, in milliseconds (20…10,000). Default 600.
        package var releaseMs = 600

        package init() {}
    }
}
