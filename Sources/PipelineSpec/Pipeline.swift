package import MediaTypes

/// The validated pipeline file of one room: all defaults are filled in and all rules are met.
///
/// Created by `parse(_:overrides:checks:)`. Relative paths are kept as written; they are relative to the working
/// directory of the process, not to the file.
package struct Pipeline: Sendable, Equatable {
    /// The version of the pipeline file format: the only allowed value of `apiVersion`.
    package static let apiVersion = "tandem/v1"

    package var room: Room
    /// Version number of the file, for changing it while the room runs; `nil` if the file has none.
    package var revision: Int?
    /// What paces the program. Default: ``ClockMode/live``.
    package var clock: ClockMode = .live
    /// Program time after which the room ends, in milliseconds (1…2,592,000,000). `nil`: the room runs until a command,
    /// a signal or ``idle`` ends it (live), or until its files end (offline).
    package var durationMs: Int?
    package var control = Control()
    package var ingest = Ingest()
    /// The sources, at least one, with unique ids and stream keys.
    package var sources: [Source]
    package var canvas = Canvas()
    /// Images that are added to every scene, by default on top.
    package var watermarks: [StillImage] = []
    /// Animations that commands play over the program, with unique names.
    package var overlays: [Overlay] = []
    /// The scenes, at least one, with unique ids.
    package var scenes: [Scene]
    package var program: Program
    /// The phases of a PK; `nil` if the room has none.
    package var pk: PK?
    package var audio = Audio()
    /// The renditions in file order: at least one, with unique names.
    package var renditions: [Rendition]
    /// The encodings of the audio: at least one, with unique names that differ from those of video renditions.
    package var audioRenditions = [AudioRendition(bitrate: Audio().bitrate)]
    /// The outputs, at least one; at most one of them is HLS with fragmented MP4.
    package var outputs: [Output]
    package var limits = Limits()
    package var overload = Overload()
    package var offline = Offline()
    package var shutdown = Shutdown()
    package var idle = Idle()
    package var alarms = Alarms()
    /// SEI messages about the program in the video; `nil`: none.
    package var sei: SEI?
    /// Closed captions of the sources in the program's video; `nil`: none.
    package var captions: Captions?
    /// The subtitle renditions of the HLS output, with unique names that differ from those of the other renditions.
    package var subtitles: [SubtitleRendition] = []
    /// Moderation of the sources by a service; `nil`: none.
    package var moderation: Moderation?

    /// Creates a pipeline with the default renditions whose first scene goes on air first.
    package init(room: Room, sources: [Source], canvas: Canvas = Canvas(), scenes: [Scene], outputs: [Output]) {
        self.room = room
        self.sources = sources
        self.canvas = canvas
        self.scenes = scenes
        self.program = Program(scene: scenes.first?.sceneID ?? "")
        self.renditions = Rendition.defaultLadder(for: canvas)
        self.outputs = outputs
    }

    /// Returns the scene with this id; `nil` if there is none.
    package func scene(_ sceneID: String) -> Scene? {
        self.scenes.first { $0.sceneID == sceneID }
    }

    /// Returns the source with this id; `nil` if there is none.
    package func source(_ id: SourceID) -> Source? {
        self.sources.first { $0.id == id }
    }

    /// The HLS output; `nil` if there is none.
    package var hls: HLSOutput? {
        for case .hls(let output) in self.outputs { return output }
        return nil
    }

    /// The renditions with video, in file order.
    package var videoRenditions: [Rendition] { self.renditions.filter { !$0.isAudioOnly } }

    /// Whether the room has only audio, because no rendition has video: then no video is decoded, composed or encoded.
    package var isAudioOnly: Bool { !self.renditions.isEmpty && self.renditions.allSatisfy(\.isAudioOnly) }

    /// The raw outputs in file order.
    package var raws: [RawOutput] {
        self.outputs.compactMap { output in if case .raw(let raw) = output { raw } else { nil } }
    }

    /// Returns the volume of a pane's audio in a scene, in percent (0…200): that of the scene's override, otherwise the
    /// pane's, otherwise the source's; 0 if `audioPush` is false.
    package func volume(of pane: Pane, in scene: Scene) -> Int {
        guard pane.audioPush else { return 0 }
        if let override = scene.audioOverrides.first(where: { $0.uid == pane.source.uid }) { return override.volume }
        return pane.volume ?? self.source(pane.source)?.volume ?? 100
    }
}

extension Pipeline {
    /// What paces the program.
    package enum ClockMode: String, Sendable, CaseIterable {
        /// The machine's clock: the program never waits for a source.
        case live
        /// The data: the program runs as fast as the machine allows, drops nothing, and writes the same bytes in each
        /// run.
        case offline
    }

    /// Id and title of the room.
    package struct Room: Sendable, Equatable {
        /// Id of the room: `[A-Za-z0-9_.-]{1,64}`.
        package var roomID: String
        /// A title to display.
        package var title: String?

        package init(roomID: String, title: String? = nil) {
            self.roomID = roomID
            self.title = title
        }
    }

    /// The first scene on air, and the delay of the program.
    package struct Program: Sendable, Equatable {
        /// Id of the scene that is on air first. Default: the first scene in the file.
        package var scene: String
        /// How much later than usual the media of publishers and pull sources is shown, in milliseconds (0…10,000). It
        /// waits in coded form. Default 0.
        package var delayMs = 0

        package init(scene: String) { self.scene = scene }
    }

    /// Limits of the room and its sources.
    package struct Limits: Sendable, Equatable {
        /// Maximum video width of a source, in pixels (16…8192). Default 1920.
        package var maxInputWidth = 1920
        /// Maximum video height of a source, in pixels (16…8192). Default 1920.
        package var maxInputHeight = 1920
        /// Maximum frame rate of a source, in frames per second (1…240). Default 60.
        package var maxInputFps = 60
        /// Maximum number of entries in `sources` (1…128). Default 16.
        package var maxSources = 16
        /// Maximum size of the room's segments, recordings, clips and stills together, in bytes (1 MiB…1 PiB); `nil`: the
        /// space in their file systems.
        package var maxDiskBytes: Int?

        package init() {}
    }
}
