package import MediaTypes
package import PipelineSpec

/// What the API keeps of a room: a part of the room's value. It has no clock and does no I/O.
package struct APIState: Sendable {
    /// The document in its versions.
    package struct Documents: Sendable {
        /// What the room runs by now; only what may change in a running room differs from what it was made from.
        package var running: Pipeline
        /// The document that commands change; `nil`: the room was not made from one.
        package var current: RoomDocument?
        /// The pipeline file with the flags of the command line, as the operator wrote it last.
        package var written: JSONNode? { self.file?.effective }
        /// The pipeline file without the changes of commands.
        package var file: RoomDocument?
    }

    package var documents: Documents
    /// How often the room's files were to be read at once.
    package var reloads = ServiceNotices.Reloads()
    /// Since when the room's loops are where they are.
    package var loops = (tick: LoopProgress(), encoder: LoopProgress())
    /// How loud the program and the sources are.
    package var levels = AudioLevelReports()
    /// Timed metadata that commands have sent.
    var metadata = MetadataLimiter()
    /// Latencies as last computed, and when: nanoseconds of the machine's clock.
    var latencies: (at: Int64, measured: LatencyReply.Measured)?

    /// - Parameters:
    ///   - running: What the room is made from.
    ///   - current: The document of `running`; nil: there is none, and the room cannot be changed while it runs.
    ///   - file: The pipeline file without the changes of commands.
    package init(running: Pipeline, current: RoomDocument?, file: RoomDocument?) {
        self.documents = Documents(running: running, current: current, file: file)
    }
}
