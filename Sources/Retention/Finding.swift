package import MediaTypes
import HLS

/// What a retention run found, and what it does with it.
package struct Finding: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// The directory of an HLS output: playlists, segments, the room's state.
        case output = "live output"
        /// The directory of an MPEG-TS output.
        case transport = "transport streams"
        case recording
        /// The objects of one room in a bucket.
        case bucket
        /// A directory of which nothing is known.
        case directory
    }

    package enum Verdict: Sendable, Hashable {
        case remove
        /// Stays, for this reason.
        case keep(String)
        /// Stays, since it could not be looked at, or not completely, for this reason. The run is not complete then.
        case skip(String)
    }

    package var kind: Kind
    /// Path from the root, or the prefix in the bucket; `.` is the root itself.
    package var path: String
    /// The room's id; `nil` if the files do not say it.
    package var room: String?
    /// When the newest file was written, in Unix seconds.
    package var modified: Int64
    /// Files that are removed, or would be, and their size in bytes.
    package var files: Int
    package var bytes: Int64
    /// Files and directories whose names no worker gives for the tracks of this room; they stay.
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

    /// Whether it could not be looked at completely.
    package var isSkipped: Bool { if case .skip = self.verdict { true } else { false } }

    /// A line for people.
    package var text: String {
        let size = "\(self.files) files, \(Self.mebibytes(self.bytes)) MiB, last changed \(Self.date(self.modified))"
        let others = self.others > 0 ? "; \(self.others) other files stay" : ""
        let room = self.room.map { "room \($0), " } ?? ""
        return switch self.verdict {
        case .remove: "remove  \(self.path)  \(self.kind.rawValue), \(room)\(size)\(others)\n"
        case .keep(let reason): "keep    \(self.path)  \(self.kind.rawValue), \(room)\(reason)\n"
        case .skip(let reason): "skip    \(self.path)  \(self.kind.rawValue), \(room)\(reason)\n"
        }
    }

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
    /// The verdict by age alone.
    ///
    /// - Parameter modified: Of the newest file, in Unix seconds.
    static func byAge(_ modified: Int64, after age: Int64, _ rule: RetentionRule) -> Finding.Verdict {
        guard !rule.isOver(modified, after: age) else { return .remove }
        guard modified <= rule.now else { return .keep("its files are newer than now: check the clocks") }
        guard modified >= 0 else { return .keep("its files are older than 1970: check the clocks") }
        return .keep("removed after \(Finding.date(modified &+ age))")
    }
}
