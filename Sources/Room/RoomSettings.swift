package import Control
package import Egress
package import Encoding
package import Packager
package import PipelineSpec
package import Threading

/// The settings of a room: the pipeline file and the options of the command line.
package struct RoomSettings: Sendable {
    /// A pipeline file, and its content when the room was made from it.
    package struct File: Sendable {
        package let path: String
        package let bytes: [UInt8]

        package init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }
    }

    package var pipeline: Pipeline
    /// The document that it was read from; `nil`: there is none, and the document cannot be changed while the room
    /// runs.
    package var document: RoomDocument?
    /// The file itself, to be watched while the room runs; `nil`: it is not watched.
    package var file: File?
    /// Whether to start a new session in a directory whose room has ended.
    package var newSession: Bool
    /// Whether the state commanded to earlier workers is ignored.
    package var forgets = false
    /// Whether an ended room is no failure: then nothing is done, and the exit code is 0.
    package var endedIsOK = false
    /// Time zero of a fresh room: nanoseconds since the Unix epoch. `nil`: now for a live room, the epoch itself for an
    /// offline one, so that the same job makes the same bytes.
    package var origin: Int64?
    /// Made before any secret is read.
    package private(set) var secretFiles: RoomSecretFiles
    /// The servers that requests may make the room connect to.
    package let egress: EgressGate
    /// Every clock the room reads.
    package let clocks: Clocks
    /// Whether the room opens its listeners. A test that opens a room without them connects publishers through ``Room/ingest``.
    package var opensListeners = true
    /// The encoders of the program. Long tests use others.
    package var encoders = LadderEncoders.libav
    /// Called after each step of writing `commands.json`, on the thread that writes it; see ``ClaimedFile``. For tests.
    package var commandsReached: @Sendable (WriteStep) -> Void = { _ in }
    /// The recent log lines of the process; `nil`: they are not kept.
    package var logs: LogRing?
    /// Names and versions of the libraries in the process, for the API.
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

    /// Keeps the default renditions of a room that runs in the output directory: another version of the program may
    /// have others, and an upgrade must not change what players have. A new session gets the current default.
    package mutating func keepLadder() {
        guard !self.newSession, var document = self.document, let output = self.pipeline.hls,
            let running = HLSPackager.running(in: output.path)
        else { return }
        document.keepLadder(tracks: running.tracks, hasAudioOnly: running.hasAudioOnly)
        self.document = document
        self.pipeline = document.pipeline
    }

    /// The settings of a room that continues with a changed document. The servers that requests may use still follow
    /// from the file.
    func running(_ document: RoomDocument) -> RoomSettings {
        var settings = self
        settings.document = document
        settings.pipeline = document.pipeline
        settings.secretFiles = RoomSecretFiles(document.pipeline)
        return settings
    }
}
