package import Control
package import Egress
package import Encoding
package import MediaTypes
package import Packager
package import PipelineSpec
import RoomSources
package import Threading

/// What the command line adds to the pipeline file.
package struct RoomSettings: Sendable {
    /// A pipeline file, and what it said when the room was made from it.
    package struct File: Sendable {
        package let path: String
        package let bytes: [UInt8]

        package init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }
    }

    package var pipeline: Pipeline
    /// The file it was read from; `nil`: there is none, and the room cannot be written anew while it runs.
    package var document: RoomDocument?
    /// The file itself, to be followed while the room runs; `nil`: it is not.
    package var file: File?
    /// Start anew in a directory whose room has ended.
    package var newSession: Bool
    /// Nothing of what was commanded to the workers before is restored.
    package var forgets = false
    /// A room that has ended is no failure: nothing is done for it, and the exit code is 0.
    package var endedIsOK = false
    /// Time zero of a fresh room: nanoseconds since the Unix epoch. `nil`: now for a live room, the epoch itself for an
    /// offline one, so that the same job makes the same bytes.
    package var origin: Int64?
    /// Marked before any of them is read.
    package private(set) var secretFiles: RoomSecretFiles
    /// Where requests may make the room connect to.
    package let egress: EgressGate
    /// Every clock the room reads.
    package let clocks: Clocks
    /// Whether the room opens its listeners. A test that opens a room without them connects publishers through ``Room/ingest``.
    package var opensListeners = true
    /// What encodes the program. A test of an hour has other encoders.
    package var encoders = LadderEncoders.libav
    /// Called after each step of writing `commands.json`, on the thread that writes it; see ``ClaimedFile``. For tests.
    package var commandsReached: @Sendable (WriteStep) -> Void = { _ in }
    /// The process's log lines; `nil`: it keeps none.
    package var logs: LogRing?
    /// What the process is made of, for those who ask.
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

    /// The settings of a room that goes on with what commands have made of its file. Where requests may make it connect to stays the
    /// file's to say.
    func running(_ document: RoomDocument) -> RoomSettings {
        var settings = self
        settings.document = document
        settings.pipeline = document.pipeline
        settings.secretFiles = RoomSecretFiles(document.pipeline)
        return settings
    }
}
