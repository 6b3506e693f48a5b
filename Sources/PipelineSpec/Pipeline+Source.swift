package import MediaTypes

extension Pipeline {
    /// Media that comes in from one place, with any number of tracks.
    package struct Source: Sendable, Equatable {
        /// Where the media comes from.
        package enum Input: Sendable, Equatable {
            /// A publisher that presents one of these stream keys; none: it has a signed one, or a webhook decides.
            case rtmp(streamKeys: [Secret])
            /// A media file; `loop` starts it again at its end.
            case file(path: String, loop: Bool)
            /// Another server, from which this worker plays.
            case pull(url: Secret)
            /// An SRT listener, which this worker calls.
            case srtPull(url: Secret)
        }

        package var id: SourceID
        /// A name for people.
        package var name: String?
        package var input: Input
        /// Gain of its sound, in percent (0…200). Default 100.
        package var volume = 100
        /// How long packets are kept before they are due, in milliseconds (0…5,000). Default 200.
        package var jitterBufferMs = 200
        /// How far the network may make the jitter buffer grow, in milliseconds (0…5,000); never less than the jitter
        /// buffer itself. Default 1,500.
        package var maxJitterBufferMs = 1500
        /// What its clock may be off by and is followed softly, in parts per million (0…1,000). Default 500.
        package var maxDriftPpm = 500
        /// Time without a packet after which it counts as stalled, in milliseconds (100…60,000). Default 1,000.
        package var stallMs = 1000
        /// Shifts all its tracks on program time, in milliseconds (−10,000…10,000; positive is later). Default 0.
        package var offsetMs = 0
        /// Default ``WallClock/use``.
        package var wallClock = WallClock.use
        /// What its publisher says to players goes to viewers. Default false.
        package var metadata = false
        /// Degrees its pictures are turned clockwise, on top of what the stream says of itself (0, 90, 180, 270).
        package var rotation = 0
        package var onNoVideo = OnNoVideo.placeholder
        /// What the publisher is expected to send; `nil`: whatever it does send is what is normal.
        package var expected: Expected?
        package var onLost = OnLost()
        package var decode = Decode()
        /// Gains of its audio tracks; those that are not listed are heard as published.
        package var audioTracks: [AudioTrack] = []
        /// Other rooms its packets go to from the begin; at most four.
        package var relays: [Relay] = []

        package init(_ id: SourceID, _ input: Input) {
            self.id = id
            self.input = input
        }

        /// How long its last picture stays while its publisher is connected and sends nothing, in milliseconds; `nil`: as long as
        /// that lasts. What ``OnLost/stalledHoldMs`` says; without it as long as a lost publisher's, and for ever if a still screen
        /// may send no pictures (``Expected/variableFrameRate``).
        package var stalledHoldMs: Int? {
            if let written = self.onLost.stalledHoldMs { return written }
            return self.expected?.variableFrameRate == true ? nil : self.onLost.resolvedHoldMs
        }
    }

    /// What a publisher is expected to send: what alarms are measured by. Refuses nothing.
    package struct Expected: Sendable, Equatable {
        /// Pixels (16…8192). Default 1280.
        package var width = 1280
        /// Pixels (16…8192). Default 720.
        package var height = 720
        /// Pictures per second (1…240). Default 30.
        package var fps = 30
        /// Whether a still screen may send no pictures at all. Default false.
        package var variableFrameRate = false
        /// Bit/s (1,000…100,000,000). Default 2,048,000.
        package var videoBitrate = 2_048_000
        /// Seconds between key frames (1…60). Default 2.
        package var keyFrameIntervalSeconds = 2
        /// Samples per second (8,000…96,000). Default 48,000.
        package var audioSampleRate = 48_000
        /// Bit/s (1,000…1,000,000). Default 65,536.
        package var audioBitrate = 65_536

        package init() {}
    }

    /// What becomes of the scene when a source's publisher is gone: its last picture is held, then a placeholder is shown,
    /// or the pane leaves, or another scene is on air, until the source is back.
    package struct OnLost: Sendable, Equatable {
        /// What happens when its last picture has been held long enough.
        package enum Then: String, Sendable, CaseIterable {
            /// The pane stays, with the image or a card that bears the name.
            case placeholder
            /// The pane leaves the scene and returns with the source; a named layout is laid out anew without it. The last
            /// pane of a scene stays.
            case leavePane
            /// ``OnLost/fallbackScene`` is on air, if the scene on air shows the source.
            case fallbackScene
        }

        /// How long its last picture stays, in milliseconds (0…600,000); `nil`: see ``resolvedHoldMs``.
        package var holdMs: Int?
        /// How long the last picture of a publisher that is connected and sends nothing stays, in milliseconds (0…600,000);
        /// `nil`: see ``Pipeline/Source/stalledHoldMs``.
        package var stalledHoldMs: Int?
        /// Path of the image shown after that. `nil`: a card with the source's name.
        package var placeholderImage: String?
        /// Default ``Then/placeholder``.
        package var then = Then.placeholder
        /// Id of a scene, for ``Then/fallbackScene``.
        package var fallbackScene: String?

        /// ``holdMs``, or 1,000 with ``Then/fallbackScene`` (viewers of a PK wait for the other anchor), 2,000 without.
        package var resolvedHoldMs: Int { self.holdMs ?? (self.then == .fallbackScene ? 1000 : 2000) }

        package init() {}
    }

    /// How a source is decoded.
    package struct Decode: Sendable, Equatable {
        /// Decoder threads (1…16). Default 1: each further frame thread adds a picture of delay.
        package var threads = 1
        package var damaged = Damaged.show
        /// What its publisher may send; empty: what ``Pipeline/Ingest/codecs`` says.
        package var codecs: [Ingest.Codec] = []

        package init() {}
    }
}
