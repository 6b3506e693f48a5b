package import Control
package import Egress
package import Encoding
package import Packager
package import PipelineSpec
package import Threading

/// The settings of a room, from the pipeline file and the command line.
package struct RoomSettings: Sendable {
    /// A pipeline file with the content from which the room was made.
    package struct File: Sendable {
        package let path: String
        package let bytes: [UInt8]

        package init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }
    }

    package var pipeline: Pipeline
    /// The document from which ``pipeline`` was read; nil if there is none, so that the pipeline cannot be changed
    /// while the room runs.
    package var document: RoomDocument?
    /// The pipeline file to watch while the room runs; nil if it is not watched.
    package var file: File?
    /// Whether to start a new session if the room in the output directory has ended.
    package var newSession: Bool
    /// Whether the commanded state of earlier workers is ignored.
    package var forgets = false
    /// Whether it is not an error if the room in the output directory has ended: the worker then exits with code 0.
    package var endedIsOK = false
    /// Wall clock time of program time 0 for a new room, in nanoseconds since the Unix epoch. nil means now for a live
    /// room, and 0 for an offline job, so that the same job gives the same bytes.
    package var origin: Int64?
    /// The versions of the secret files, determined before any secret is read.
    package private(set) var secretFiles: RoomSecretFiles
    /// Decides to which servers requests may make the room connect.
    package let egress: EgressGate
    /// All clocks that the room reads.
    package let clocks: Clocks
    /// Whether the room opens its listeners. A test without them connects publishers through ``Room/ingest``.
    package var opensListeners = true
    /// The encoders that the room uses. Long tests replace them by cheaper ones.
    package var encoders = LadderEncoders.libav
    /// Called after each step of writing `commands.json`, on the writing thread; see ``ClaimedFile``. For tests.
    package var commandsReached: @Sendable (WriteStep) -> Void = { _ in }
    /// The recent log lines of the process; nil if they are not kept.
    package var logs: LogRing?
    /// Names and versions of the linked libraries, for the API.
    package var versions: [(name: String, version: String)] = []

    package init(
        pipeline: Pipeline, document: RoomDocument? = nil, file: File? = nil, newSession: Bool = false,
        origin: Int64? = nil, clocks: Clocks
    ) {
        self.secretFiles = RoomSecretFiles(pipeline)
        self.egress = EgressGate(EgressPolicy(pipeline))
        self.pipeline = pipeline
        self.document = document
        self.file = file
        self.newSession = newSession
        self.origin = origin
        self.clocks = clocks
    }

    /// Keeps the default renditions of a room that continues in its output directory. Another version of the software
    /// may have other defaults, and an upgrade must not change the renditions that players use. A new session gets the
    /// current defaults.
    package mutating func keepLadder() {
        guard !self.newSession, var document = self.document, let output = self.pipeline.hls,
            let running = HLSPackager.running(in: output.path)
        else { return }
        document.keepLadder(tracks: running.tracks, hasAudioOnly: running.hasAudioOnly)
        self.document = document
        self.pipeline = document.pipeline
    }

    /// Settings for continuing with a changed document. The servers that requests may use still follow from the
    /// pipeline file.
    func running(_ document: RoomDocument) -> RoomSettings {
        var settings = self
        settings.document = document
        settings.pipeline = document.pipeline
        settings.secretFiles = RoomSecretFiles(document.pipeline)
        return settings
    }
}
