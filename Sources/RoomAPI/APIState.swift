package import MediaTypes
package import PipelineSpec

/// The API's part of the room's state. A value without clock and I/O.
package struct APIState: Sendable {
    /// The versions of the room's document.
    package struct Documents: Sendable {
        /// The document that the room runs now. Only members that may change in a running room differ from those at its
        /// start.
        package var running: Pipeline {
            get { self.shared.pipeline }
            set { self.shared = SharedPipeline(newValue) }
        }
        /// ``running``, for readers that do not copy it.
        package private(set) var shared: SharedPipeline
        /// The document that commands change; nil if the room was not made from a document.
        package var current: RoomDocument?
        /// The last accepted version of the pipeline file, with the options of the command line; nil without a file.
        package var written: JSONNode? { self.file?.effective }
        /// The document of the pipeline file, without the changes of commands; nil without a file.
        package var file: RoomDocument?

        fileprivate init(running: Pipeline, current: RoomDocument?, file: RoomDocument?) {
            self.shared = SharedPipeline(running)
            self.current = current
            self.file = file
        }
    }

    package var documents: Documents
    /// How many times it was requested to read the room's files again, and how many of these requests are done.
    package var reloads = ServiceNotices.Reloads()
    /// Last known position of each loop, and since when the loop is there.
    package var loops = (tick: LoopProgress(), encoder: LoopProgress())
    /// Audio levels of the program and the sources.
    package var levels = AudioLevelReports()
    /// The sources that speak now, and changes of them that were not emitted as events yet.
    package var speaking = SpeakingReports()
    /// Rate limit and known ids of timed metadata.
    var metadata = MetadataLimiter()
    /// The latencies that were computed last, and when on the monotonic clock; nil before the first request.
    var latencies: (at: Int64, measured: LatencyReply.Measured)?

    /// - Parameters:
    ///   - running: The document from which the room is made.
    ///   - current: The document that commands change; nil if there is none, so that the room cannot be changed while
    ///     it runs.
    ///   - file: The document of the pipeline file, without the changes of commands.
    package init(running: Pipeline, current: RoomDocument?, file: RoomDocument?) {
        self.documents = Documents(running: running, current: current, file: file)
    }
}
