package import MediaTypes
import HLS

/// A room's directory, or its objects in a bucket, that a retention run found, and whether the run removes them.
package struct Finding: Sendable, Hashable {
    /// What a finding is about.
    package enum Kind: String, Sendable, Hashable {
        /// The directory of an HLS output: playlists, segments, the room's state.
        case output = "live output"
        /// The directory of an MPEG-TS output.
        case transport = "transport streams"
        /// The directory of a recording.
        case recording
        /// The objects of one room in a bucket.
        case bucket
        /// A directory that the run could not check, so that its kind is unknown.
        case directory
    }

    /// What a retention run does with a room's files.
    package enum Verdict: Sendable, Hashable {
        case remove
        /// The run keeps the files, for this reason.
        case keep(String)
        /// The run keeps the files because it could not check all of them, for this reason. `tandem gc` then ends with
        /// exit code 74.
        case skip(String)
    }

    package var kind: Kind
    /// Path of the directory below the root, or prefix of the objects in the bucket; `.` is the root itself.
    package var path: String
    /// The room's id; `nil` if its files do not contain it.
    package var room: String?
    /// When the newest file was written, in Unix seconds; 0 if that is unknown. Clips in the directory of a live output
    /// do not count.
    package var modified: Int64
    /// Number of files that are removed if ``verdict`` is ``Verdict/remove``.
    package var files: Int
    /// Size in bytes of these ``files``; for a directory the space that they take on the disk.
    package var bytes: Int64
    /// Number of files and directories, or objects, that are kept because their names are not those of the room's
    /// files.
    package var others: Int
    package var verdict: Verdict

    package init(
        _ kind: Kind, path: String, room: String? = nil, modified: Int64 = 0, files: Int = 0, bytes: Int64 = 0,
        others: Int = 0, verdict: Verdict
    ) {
        self.kind = kind
        self.path = path
        self.room = room
        self.modified = modified
        self.files = files
        self.bytes = bytes
        self.others = others
        self.verdict = verdict
    }

    package var isRemovable: Bool { self.verdict == .remove }

    /// Whether the run could not check all of the room's files.
    package var isSkipped: Bool { if case .skip = self.verdict { true } else { false } }

    /// The finding as a line of text for people.
    package var text: String {
        let size = "\(self.files) files, \(Self.mebibytes(self.bytes)) MiB, last changed \(Self.date(self.modified))"
        let others = self.others > 0 ? "; \(self.others) other files are kept" : ""
        let room = self.room.map { "room \($0), " } ?? ""
        return switch self.verdict {
        case .remove: "remove  \(self.path)  \(self.kind.rawValue), \(room)\(size)\(others)\n"
        case .keep(let reason): "keep    \(self.path)  \(self.kind.rawValue), \(room)\(reason)\n"
        case .skip(let reason): "skip    \(self.path)  \(self.kind.rawValue), \(room)\(reason)\n"
        }
    }

    /// The finding as a JSON object, which `tandem gc --json` writes.
    package var json: JSONValue {
        var members = [
            JSONValue.Member("action", .string(self.action)),
            JSONValue.Member("kind", .string("\(self.kind)")), JSONValue.Member("path", .string(self.path)),
            JSONValue.Member("room", JSONValue(self.room)), JSONValue.Member("files", JSONValue(self.files)),
            JSONValue.Member("bytes", .integer(self.bytes)), JSONValue.Member("others", JSONValue(self.others)),
            JSONValue.Member("modified", self.modified > 0 ? .string(Self.date(self.modified)) : .null),
        ]
        switch self.verdict {
        case .remove: break
        case .keep(let reason), .skip(let reason): members.append(JSONValue.Member("reason", .string(reason)))
        }
        return .object(members)
    }

    private var action: String {
        switch self.verdict {
        case .remove: "remove"
        case .keep: "keep"
        case .skip: "skip"
        }
    }

    static func date(_ seconds: Int64) -> String { ProgramDate.format(seconds &* TimeMath.nanoseconds) }

    private static func mebibytes(_ bytes: Int64) -> String {
        let tenths = TimeMath.scale(max(0, bytes), by: 10, over: 1 << 20)
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension Finding.Verdict {
    /// Decides by age alone: removes files that have not changed for `age` seconds.
    ///
    /// - Parameter modified: When the newest file was changed, in Unix seconds.
    static func byAge(_ modified: Int64, after age: Int64, _ rule: RetentionRule) -> Finding.Verdict {
        guard !rule.isOver(modified, after: age) else { return .remove }
        guard modified <= rule.now else { return .keep("its newest file is dated in the future: check the clocks") }
        guard modified >= 0 else { return .keep("its newest file is dated before 1970: check the clocks") }
        return .keep("removed after \(Finding.date(modified &+ age))")
    }
}
