import MediaTypes

extension Pipeline {
    /// A source's own recording: what its publisher sends, without decoding, in fragmented MP4 files.
    package struct SourceRecord: Sendable, Equatable {
        /// Directory of the files, relative to the working directory; sources and rooms may share it. Default
        /// `recordings`.
        package var directory = "recordings"
        /// Seconds of media per part (1…10). A killed worker loses the last part, and up to half a second more.
        /// Default 2.
        package var partSeconds = 2
        /// Whether the video is recorded. Default true.
        package var video = true
        /// Whether the audio is recorded. Default true.
        package var audio = true
        /// Whether the source is recorded from the start; otherwise recording waits for a command. Default true.
        package var active = true

        package init() {}

        static let rule = ObjectRule(
            "the source's own recording: what its publisher sends, without decoding, as fragmented MP4", SourceRecord(),
            [
                Field(
                    "directory", \.directory, .path,
                    "directory of the files, relative to the working directory; sources and rooms may share it"),
                Field(
                    "partSeconds", \.partSeconds, .integer(1...10),
                    "seconds of media per part; a killed worker loses the last one, and up to half a second more"),
                Field("video", \.video, .boolean, "whether its video is recorded"),
                Field("audio", \.audio, .boolean, "whether its audio is recorded"),
                Field(
                    "active", \.active, .boolean,
                    "whether it records from the start; false: recording starts with POST /v1/sources/UID/recording:start"
                ),
            ])
    }
}

extension ValueRule where Value == Pipeline.SourceRecord? {
    /// A rule for `true`, `false` or an object with settings.
    static var sourceRecord: ValueRule {
        let rule = Pipeline.SourceRecord.rule
        return ValueRule(
            schema: [
                JSONMember(
                    "anyOf", .array([.object([ValueRule<Bool>.type("boolean")]), .object(rule.schema)])),
                JSONMember("default", false),
            ],
            read: { node, path, log in
                switch node.content {
                case .boolean(let isOn): return .some(isOn ? Pipeline.SourceRecord() : nil)
                case .object: return rule.read(node, path, &log).map { .some($0) }
                default:
                    log.mistake(
                        path, "is \(node.kind), neither a boolean nor an object",
                        fix: "write true, or { … } with settings", at: node.position)
                    return nil
                }
            })
    }
}

extension SourceDraft {
    /// Checks that a recording records something.
    static func checkRecord(of source: Pipeline.Source, _ path: String, _ log: inout SpecLog) {
        guard let record = source.record, !record.video, !record.audio else { return }
        log.mistake(
            "\(path).record", "records neither video nor audio", fix: "remove \"video\": false or \"audio\": false")
    }
}

extension SourceID {
    /// Maximum length of a uid in a file name, in bytes. Together with the rest of the name and the suffix of the
    /// temporary file, the name stays below the file systems' limit of 255 bytes.
    private static let longestWord = 160

    /// The uid as a part of a file name, followed by `-sub` for the second stream of the user.
    package var fileWord: String { self.fileWord { $0.hasSuffix("-\(StreamType.sub.rawValue)") } }

    /// How the names of the source's own recordings begin. A directory may have those of several sources and rooms.
    package func recordingPrefix(in roomID: String) -> String { "\(roomID)-\(self.fileWord)-" }

    /// Returns the uid as a part of a file name, followed by `-sub` for the second stream of the user.
    ///
    /// Letters, digits, `_` and `-` are kept; every other byte is written as a dot and two hexadecimal digits. A uid that is
    /// too long is cut and ends in its digest.
    ///
    /// - Parameter isTaken: Whether the name of a main stream could be that of something else; then its last `-` is
    ///   written as a dot and two hexadecimal digits too.
    func fileWord(_ isTaken: (String) -> Bool) -> String {
        var word = ""
        for byte in self.uid.utf8 {
            let isKept = byte.isLetter || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            word += isKept ? String(Unicode.Scalar(byte)) : Self.code(byte)
        }
        let type = self.streamType == .main ? "" : "-\(self.streamType.rawValue)"
        if type.isEmpty, isTaken(word), let dash = word.lastIndex(of: "-") {
            word.replaceSubrange(dash...dash, with: Self.code(0x2d))
        }
        if word.utf8.count > Self.longestWord {
            let digest = FNV1a.hash(Array(self.uid.utf8)).padded(16, radix: 16)
            // An encoded uid contains two dots in a row only here.
            word = "\(word.prefix(Self.longestWord - digest.utf8.count - 2))..\(digest)"
        }
        return word + type
    }

    private static func code(_ byte: UInt8) -> String { ".\(byte.padded(2, radix: 16))" }
}
