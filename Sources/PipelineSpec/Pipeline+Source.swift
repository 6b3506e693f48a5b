package import MediaTypes

extension Pipeline {
    /// A source of media with any number of tracks: a publisher, a file or a stream that the worker pulls.
    package struct Source: Sendable, Equatable {
        /// Where the media of a source comes from.
        package enum Input: Sendable, Equatable {
            /// A publisher with one of these stream keys. If the list is empty, the publisher needs a signed key, or a
            /// webhook decides whether it may publish.
            case rtmp(streamKeys: [Secret])
            /// A media file; `loop` starts it again at its end.
            case file(path: String, loop: Bool)
            /// An RTMP server that this worker plays from.
            case pull(url: Secret)
            /// A remote SRT listener that this worker connects to.
            case srtPull(url: Secret)
        }

        package var id: SourceID
        /// A name to display.
        package var name: String?
        package var input: Input
        /// Gain of the source's audio, in percent (0…200). Default 100.
        package var volume = 100
        /// Whether the source's audio is heard in every scene, also without a pane, and automatic layouts leave the source
        /// out. Default false.
        package var background = false
        /// Time in which the source's audio fades in when it begins to be heard, and out when it is no longer heard, in
        /// milliseconds (0…30,000); 0: ``Audio/rampMs``. Default 0.
        package var fadeMs = 0
        /// Length of the jitter buffer in milliseconds (0…5,000); at least 80 are used for a publisher. Default 200.
        package var jitterBufferMs = 200
        /// Maximum length that the jitter buffer may grow to on a bad network, in milliseconds (0…5,000); never less
        /// than ``jitterBufferMs``. Default 1,500.
        package var maxJitterBufferMs = 1500
        /// Maximum clock drift that is corrected gradually, in parts per million (0…1,000). Default 500.
        package var maxDriftPpm = 500
        /// Time without a packet after which the source counts as stalled, in milliseconds (100…60,000); at least 3,000
        /// with ``Expected/variableFrameRate``. File sources do not stall. Default 1,000.
        package var stallMs = 1000
        /// Offset of all tracks of the source, in milliseconds (−10,000…10,000; positive values show the source later).
        /// Default 0.
        package var offsetMs = 0
        /// Whether wall-clock timestamps in the stream are used. Default ``WallClock/use``.
        package var wallClock = WallClock.use
        /// Whether the publisher's text data and cue points are forwarded to viewers. Default false.
        package var metadata = false
        /// Clockwise rotation of the source's video in degrees (0, 90, 180, 270), in addition to the rotation that the
        /// stream declares.
        package var rotation = 0
        /// What scenes show until the source's first video frame. Default ``OnNoVideo/placeholder``.
        package var onNoVideo = OnNoVideo.placeholder
        /// What the publisher is expected to send; `nil`: the frame rate is compared with the best that the publication
        /// has reached, and the bit rate is not checked.
        package var expected: Expected?
        package var onLost = OnLost()
        package var decode = Decode()
        /// What is done with the source's audio before it is mixed.
        package var audio = SourceAudio()
        /// Gains of the source's audio tracks; tracks that are not listed keep their published volume.
        package var audioTracks: [AudioTrack] = []
        /// Other rooms that receive the source's packets, from the start of each publication; at most four in the file.
        package var relays: [Relay] = []
        /// The source's own recording; `nil`: none.
        package var record: SourceRecord?

        package init(_ id: SourceID, _ input: Input) {
            self.id = id
            self.input = input
        }

        /// How long the source's last frame stays while its publisher is connected but sends nothing, in milliseconds;
        /// `nil`: without limit. This is ``OnLost/stalledHoldMs`` if written. Otherwise there is no limit if a static
        /// screen may send no frames (``Expected/variableFrameRate``), else it is ``OnLost/resolvedHoldMs``.
        package var stalledHoldMs: Int? {
            if let written = self.onLost.stalledHoldMs { return written }
            return self.expected?.variableFrameRate == true ? nil : self.onLost.resolvedHoldMs
        }
    }

    /// What a publisher is expected to send. Alarms compare the frame rate and the video bit rate with these values;
    /// `tandem plan` also uses the frame size and the audio bit rate. A publisher that sends something else is not
    /// rejected.
    package struct Expected: Sendable, Equatable {
        /// Width in pixels (16…8192). Default 1280.
        package var width = 1280
        /// Height in pixels (16…8192). Default 720.
        package var height = 720
        /// Frames per second (1…240). Default 30.
        package var fps = 30
        /// Whether a static screen may send no frames at all. Default false.
        package var variableFrameRate = false
        /// Video bit rate in bit/s (1,000…100,000,000). Default 2,048,000.
        package var videoBitrate = 2_048_000
        /// Seconds between key frames (1…60). Not used by alarms; see ``Alarms/keyFrameIntervalMs``. Default 2.
        package var keyFrameIntervalSeconds = 2
        /// Samples per second (8,000…96,000). Not used by alarms. Default 48,000.
        package var audioSampleRate = 48_000
        /// Audio bit rate in bit/s (1,000…1,000,000). Default 65,536.
        package var audioBitrate = 65_536

        package init() {}
    }

    /// What the scene does when a source's publisher is lost: the last frame is held for a time, then, until the source
    /// is back, a placeholder is shown, the pane is removed, or another scene goes on air.
    package struct OnLost: Sendable, Equatable {
        /// What happens after the last frame has been held for its time.
        package enum Then: String, Sendable, CaseIterable {
            /// The pane stays and shows the placeholder image or a card with the source's name.
            case placeholder
            /// The pane is removed from the scene and returns with the source; a named layout is recomputed without the
            /// pane. If no pane of the scene would be left, all of them stay.
            case leavePane
            /// ``OnLost/fallbackScene`` goes on air if the current scene shows the source.
            case fallbackScene
        }

        /// How long the last frame stays, in milliseconds (0…600,000); `nil`: see ``resolvedHoldMs``.
        package var holdMs: Int?
        /// How long the last frame stays if the publisher is connected and sends nothing, in milliseconds (0…600,000);
        /// `nil`: see ``Pipeline/Source/stalledHoldMs``.
        package var stalledHoldMs: Int?
        /// Path of the image that replaces the source's video when it is lost or has not begun. `nil`: a card with the
        /// source's name.
        package var placeholderImage: String?
        /// What happens after the last frame has been held. Default ``Then/placeholder``.
        package var then = Then.placeholder
        /// Id of a scene, for ``Then/fallbackScene``.
        package var fallbackScene: String?

        /// How long the last frame stays, in milliseconds: ``holdMs`` if written; otherwise 1,000 with
        /// ``Then/fallbackScene``, because viewers of a PK wait for the other host, and 2,000 without it.
        package var resolvedHoldMs: Int { self.holdMs ?? (self.then == .fallbackScene ? 1000 : 2000) }

        package init() {}
    }

    /// How a source is decoded.
    package struct Decode: Sendable, Equatable {
        /// Decoder threads (1…16), which decode the slices of one frame in parallel and add no delay. They have no
        /// effect on streams with one slice per frame. Default 1.
        package var threads = 1
        package var damaged = Damaged.show
        /// Codecs that the source's publisher may send; empty: those of ``Pipeline/Ingest/codecs``.
        package var codecs: [Ingest.Codec] = []

        package init() {}
    }
}
