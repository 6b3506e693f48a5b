/// A failure that a room operator can act on: what happened, where, and what to change.
public struct MediaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Stable, machine-readable identity. Log it, count it, map it to an exit code; never parse ``description``.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        private init(_ name: String) { self.description = name }

        public static let outOfMemory = Code("outOfMemory")
        /// Something that is required is not available, for example a codec or filter of the libav build, a font, a
        /// system limit, a server, or a scene that was not built in time.
        public static let unavailable = Code("unavailable")
        /// A setting, parameter or request was rejected, by a codec or filter or by this program.
        public static let rejected = Code("rejected")
        /// Media cannot be decoded or demuxed, or a file that the program reads is damaged.
        public static let invalidData = Code("invalidData")
        /// Video has a color format that the libraries cannot convert.
        public static let unsupportedColor = Code("unsupportedColor")
        /// Video frames are larger than the room's limits.
        public static let tooLarge = Code("tooLarge")
        /// A file, or a variable with a secret, is missing or cannot be read.
        public static let notReadable = Code("notReadable")
        /// A file or directory cannot be created, or a directory is not usable for output.
        public static let notCreatable = Code("notCreatable")
        /// Output was lost after the output had begun: a write failed or did not complete, or written media cannot be
        /// read again.
        public static let outputLost = Code("outputLost")
        /// There is too little space left on the device.
        public static let diskFull = Code("diskFull")
        /// Started work was not finished before the worker ended; another worker may finish it.
        public static let unfinished = Code("unfinished")
        /// The program cannot listen on an address, for example because it is in use.
        public static let bindFailed = Code("bindFailed")
        /// A newer worker serves this room.
        public static let superseded = Code("superseded")
        /// The room or the recording in this directory has ended.
        public static let roomExited = Code("roomExited")
        /// Something that was requested does not exist, for example the media of a clip.
        public static let notFound = Code("notFound")
        /// An internal error of this program.
        public static let `internal` = Code("internal")
    }

    public let code: Code
    /// What went wrong, in one sentence without trailing period.
    public let what: String
    /// Stage and stream, for example `encode[720p]`, so that one log line identifies the failing part.
    public let place: String
    /// What the operator or the caller should do next.
    public let fix: String
    /// The raw `AVERROR` if libav reported one.
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
