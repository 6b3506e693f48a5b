/// A failure a room operator can act on: what happened, where, and what to change.
public struct MediaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Stable, machine-readable identity. Log it, count it, map it to an exit code; never parse ``description``.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        private init(_ name: String) { self.description = name }

        public static let outOfMemory = Code("outOfMemory")
        /// libavcodec, libavfilter or libavformat was built without the part that is needed.
        public static let unavailable = Code("unavailable")
        /// The codec or filter refused the parameters.
        public static let rejected = Code("rejected")
        /// The data cannot be decoded or demuxed.
        public static let invalidData = Code("invalidData")
        /// Pictures in colors that these libraries cannot convert.
        public static let unsupportedColor = Code("unsupportedColor")
        /// Pictures larger than the room's limits.
        public static let tooLarge = Code("tooLarge")
        /// A file is missing or cannot be read.
        public static let notReadable = Code("notReadable")
        /// A file or directory cannot be created.
        public static let notCreatable = Code("notCreatable")
        /// A write failed after it had worked.
        public static let outputLost = Code("outputLost")
        /// There is no space left for what was to be written.
        public static let diskFull = Code("diskFull")
        /// What was begun is not done in the time there was; another worker does it.
        public static let unfinished = Code("unfinished")
        /// An address is taken or not ours.
        public static let bindFailed = Code("bindFailed")
        /// A newer worker serves this room.
        public static let superseded = Code("superseded")
        /// The room in this directory has ended.
        public static let roomExited = Code("roomExited")
        /// Something outside asked for what does not exist.
        public static let notFound = Code("notFound")
        /// Our own mistake.
        public static let `internal` = Code("internal")
    }

    public let code: Code
    /// What went wrong, in one sentence without trailing period.
    public let what: String
    /// Stage and stream, such as `encode[720p]`, so that one log line is enough to find the culprit.
    public let place: String
    /// What the operator or the caller should do next.
    public let fix: String
    /// The raw `AVERROR` when libav reported one.
    public let avError: Int32?

    public init(_ code: Code, _ what: String, at place: String, fix: String, avError: Int32? = nil) {
        self.code = code
        self.what = what
        self.place = place
        self.fix = fix
        self.avError = avError
    }

    public var description: String {
        let reason = self.avError.map { " (AVERROR \($0))" } ?? ""
        return "\(self.place): \(self.what)\(reason). Fix: \(self.fix) [\(self.code)]"
    }
}
