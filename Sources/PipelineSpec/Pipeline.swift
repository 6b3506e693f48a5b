package import MediaTypes

/// The pipeline file of one room, complete: every default is filled in and every rule holds.
///
/// Made by ``parse(_:overrides:)``. Relative paths are kept as written; they are relative to the working directory of
/// the process, not to the file.
package struct Pipeline: Sendable, Equatable {
    /// The version of the pipeline file this program reads: the only value of `apiVersion`.
    package static let apiVersion = "tandem/v1"

    package var room: Room
    /// Which version of the file this is, for those who change it while the room runs; `nil`: it does not say.
    package var revision: Int?
    /// What paces the program. Default: ``ClockMode/live``.
    package var clock: ClockMode = .live
    /// Program time after which the room ends, in milliseconds (1…2,592,000,000). `nil`: it lives until it is ended
    /// (live) or until its files are over (offline).
    package var durationMs: Int?
    package var control = Control()
    package var ingest = Ingest()
    /// At least one. ``SourceID`` and stream keys are unique.
    package var sources: [Source]
    package var canvas = Canvas()
    /// On every scene.
    package var watermarks: [StillImage] = []
    /// At least one. Scene ids are unique.
    package var scenes: [Scene]
    package var program: Program
    /// The phases of a PK, if the room has one.
    package var pk: PK?
    package var audio = Audio()
    /// The ladder, as written: at least one, names unique.
    package var renditions: [Rendition]
    /// The codings of the sound: at least one, names unique, none that of a rendition with pictures.
    package var audioRenditions = [AudioRendition(bitrate: Audio().bitrate)]
    /// At least one; at most one of them is HLS.
    package var outputs: [Output]
    package var limits = Limits()
    package var overload = Overload()
    package var shutdown = Shutdown()
    package var idle = Idle()
    package var alarms = Alarms()
    /// What coded pictures say of the program; `nil`: nothing.
    package var sei: SEI?

    /// A room with a default ladder that starts with its first scene.
    package init(room: Room, sources: [Source], canvas: Canvas = Canvas(), scenes: [Scene], outputs: [Output]) {
        self.room = room
        self.sources = sources
        self.canvas = canvas
        self.scenes = scenes
        self.program = Program(scene: scenes.first?.sceneID ?? "")
        self.renditions = Rendition.defaultLadder(for: canvas)
        self.outputs = outputs
    }

    /// The scene of that id, if there is one.
    package func scene(_ sceneID: String) -> Scene? {
        self.scenes.first { $0.sceneID == sceneID }
    }

    /// The source of that id, if there is one.
    package func source(_ id: SourceID) -> Source? {
        self.sources.first { $0.id == id }
    }

    /// The HLS output, if there is one.
    package var hls: HLSOutput? {
        for case .hls(let output) in self.outputs { return output }
        return nil
    }

    /// The renditions that have pictures, in file order.
    package var pictureRenditions: [Rendition] { self.renditions.filter { !$0.isAudioOnly } }

    /// The raw outputs in file order.
    package var raws: [RawOutput] {
        self.outputs.compactMap { output in if case .raw(let raw) = output { raw } else { nil } }
    }

    /// The volume of a pane's sound in a scene, in percent (0…200): the scene's override, otherwise the pane's own,
    /// otherwise the source's. 0 when the pane pushes no audio.
    package func volume(of pane: Pane, in scene: Scene) -> Int {
        guard pane.audioPush else { return 0 }
        if let override = scene.audioOverrides.first(where: { $0.uid == pane.source.uid }) { return override.volume }
        return pane.volume ?? self.source(pane.source)?.volume ?? 100
    }
}

extension Pipeline {
    /// What paces the program.
    package enum ClockMode: String, Sendable, CaseIterable {
        /// The machine's clock: nothing waits for a source.
        case live
        /// The data: as fast as the machine allows, nothing dropped, the same bytes each run.
        case offline
    }

    /// Which room this is.
    package struct Room: Sendable, Equatable {
        /// `[A-Za-z0-9_.-]{1,64}`.
        package var roomID: String
        /// Free text for people.
        package var title: String?

        package init(roomID: String, title: String? = nil) {
            self.roomID = roomID
            self.title = title
        }
    }

    /// What is on air first.
    package struct Program: Sendable, Equatable {
        /// Id of a scene. Default: the first one.
        package var scene: String

        package init(scene: String) { self.scene = scene }
    }

    /// What the room refuses to take on.
    package struct Limits: Sendable, Equatable {
        /// Largest accepted picture width of a source, in pixels (16…8192). Default 1920.
        package var maxInputWidth = 1920
        /// Largest accepted picture height of a source, in pixels (16…8192). Default 1920.
        package var maxInputHeight = 1920
        /// Largest accepted frame rate of a source, in pictures per second (1…240). Default 60.
        package var maxInputFps = 60
        /// Most entries in `sources` (1…128). Default 16.
        package var maxSources = 16
        /// What the directories of the HLS output and of the recording may take together, in bytes (1 MiB…1 PiB); `nil`:
        /// what their file systems have.
        package var maxDiskBytes: Int?

        package init() {}
    }
}
