package import Events

/// The state of a source's own recording, as replies about the source show it.
package struct SourceRecordingFacts: NamedReply {
    package enum State: String, Sendable, CaseIterable, ReplyValue {
        /// Nothing is recorded until a command or a new version of the document starts it.
        case stopped
        /// No file is being written, for example between publications.
        case waiting
        case recording
        /// The disk is nearly full; frames are lost until there is space.
        case suspended
        /// The disk cannot be written; it is tried again every ten seconds.
        case failed
    }

    package static let schemaName = "SourceRecording"

    package var state: State
    /// Path of the file that is being written; nil if there is none.
    package var file: String?
    /// Size of the file that is being written, in bytes, without the packets that wait to be written.
    package var bytes: Int64
    /// Packets that were dropped since the start of the recording because the disk is too slow.
    package var dropped: Int

    package init(state: State, file: String? = nil, bytes: Int64 = 0, dropped: Int = 0) {
        (self.state, self.file, self.bytes, self.dropped) = (state, file, bytes, dropped)
    }

    package static let members: [ReplyMember<Self>] = [
        ReplyMember("state", "stopped: waits for a command; waiting: for media; suspended: the disk is nearly full") {
            $0.state
        },
        ReplyMember("file", "path of the file that is being written") { $0.file },
        ReplyMember("bytes", "size of that file") { $0.bytes },
        ReplyMember("dropped", "packets dropped because the disk is too slow") { $0.dropped },
    ]
}
