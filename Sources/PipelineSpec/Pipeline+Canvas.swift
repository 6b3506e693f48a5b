extension Pipeline {
    /// The frame that all sources are composed into.
    package struct Canvas: Sendable, Equatable {
        /// Whether all scenes have the same canvas size.
        package enum Policy: String, Sendable, CaseIterable {
            /// One size for all scenes: a scene change does not affect encoders, playlists and players.
            case fixed
            /// Each scene can have its own size: each change of size needs a new initialization segment and a
            /// discontinuity.
            case perScene
        }

        /// Width in pixels, even (64…1920). Default 1280.
        package var width = 1280
        /// Height in pixels, even (64…1920). Default 720.
        package var height = 720
        /// Frames per second (1…60). Default 30.
        package var fps = 30
        /// Color behind and around the panes. Default `#101014`.
        package var backgroundColor = Color(red: 0x10, green: 0x10, blue: 0x14)
        /// Whether all scenes have the same canvas size. Default ``Policy/fixed``.
        package var policy = Policy.fixed
        /// Images behind the panes of every scene that has no `bgImages` of its own.
        package var bgImages: [StillImage] = []
        /// Paths of up to 8 font files. For each character the fonts are tried in this order, then the system's fonts.
        package var fonts: [String] = []

        package init(width: Int = 1280, height: Int = 720, fps: Int = 30) {
            self.width = width
            self.height = height
            self.fps = fps
        }
    }

    /// The audio that all sources are mixed into.
    package struct Audio: Sendable, Equatable {
        /// Samples per second: 48,000.
        package var sampleRate = 48_000
        /// Number of channels: 2.
        package var channels = 2
        /// AAC bit rate in bit/s (32,000…320,000). Default 128,000.
        package var bitrate = 128_000
        /// Length of the ramp at each change of volume, in milliseconds (0…1,000), which avoids clicks. Default 20.
        package var rampMs = 20
        /// Time between two `audio.levels` events, in milliseconds (0…60,000; 0: no events). Default 1,000.
        package var levelIntervalMs = 1000
        /// Whether the room finds out who speaks and emits `audio.speaking` events. Default false.
        package var speaking = false
        /// Settings for lowering the volume of other sources while someone speaks. `nil`: no ducking.
        package var ducking: Ducking?
        /// Settings for lowering the volume of music while others speak. `nil`: none.
        package var lowerMusic: LowerMusic?

        package init() {}
    }

    /// Lowers the volume of music while other sources speak.
    package struct LowerMusic: Sendable, Equatable {
        /// The users whose volume is lowered; empty: the sources with ``Source/background``. Default empty.
        package var uids: [String] = []
        /// Attenuation while another source speaks, in decibels (1…60). Default 12.
        package var reductionDb = 12
        /// Time in which the volume is lowered, in milliseconds (5…2,000). Default 200.
        package var attackMs = 200
        /// Time in which the volume is raised again, in milliseconds (20…10,000). Default 1,000.
        package var releaseMs = 1000

        package init() {}
    }

    /// Lowers the volume of all other sources while one of the listed users speaks.
    package struct Ducking: Sendable, Equatable {
        /// The users whose speech lowers the volume of all other sources.
        package var uids: [String] = []
        /// Loudness above which a user counts as speaking, in LUFS, measured over 43 ms (−70…−10). Default −45.
        package var thresholdDb = -45
        /// Attenuation of all other sources while one of the users speaks, in decibels (1…60). Default 12.
        package var reductionDb = 12
        /// Time in which the other sources fade down when a user begins to speak, in milliseconds (5…2,000). Default
        /// 80.
        package var attackMs = 80
        /// Time in which the other sources fade back up, in milliseconds (20…10,000), from 300 ms after the end of the
        /// speech. Default 600.
        package var releaseMs = 600

        package init() {}
    }
}
