import Foundation
import Retention
import Testing

/// A root with directories of rooms, as workers leave them.
struct RoomsOnDisk {
    /// The time of a run, in Unix seconds.
    static let now: Int64 = 1_800_000_000
    static let day: Int64 = 86_400

    let root: String
    /// Beside the root: must never change.
    let outside: String
    private let base: String

    init() throws {
        self.base = NSTemporaryDirectory() + "retention-\(UUID().uuidString)"
        (self.root, self.outside) = ("\(self.base)/rooms", "\(self.base)/outside")
        for path in [self.root, self.outside] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
    }

    func clean() { try? FileManager.default.removeItem(atPath: self.base) }

    /// Writes a file, last changed `age` seconds before the run.
    func write(_ path: String, _ text: String = "x", age: Int64 = 30 * Self.day, below base: String? = nil) throws {
        let full = "\(base ?? self.root)/\(path)"
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: full).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: full))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: TimeInterval(Self.now - age))], ofItemAtPath: full)
    }

    static func state(ended: Bool, incarnation: Int = 2) -> String {
        """
        {
        "version": 1,
        "origin": 1790000000000000000,
        "incarnation": \(incarnation),
        "ended": \(ended),
        "multivariant": "index.m3u8",
        "grid": {"fps": 30, "gopFrames": 60, "segmentGops": 1, "partFrames": 10, "sampleRate": 48000},
        "nextMediaSequence": 4,
        "nextFrame": 240,
        "tracks": [
        {"name": "720p", "discontinuitySequence": 0, "longestDuration": 0, "maps": [], "entries": [], "retired": []},
        {"name": "audio", "discontinuitySequence": 0, "longestDuration": 0, "maps": [], "entries": [], "retired": []}
        ]
        }

        """
    }

    static func multivariant(_ room: String) -> String {
        """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-SESSION-DATA:DATA-ID="live.tandem.content-id",VALUE="\(room)"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="audio"
        720p.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="720p-iframes.m3u8"

        """
    }

    /// - Parameter type: The value of `EXT-X-PLAYLIST-TYPE`.
    static func media(ended: Bool, type: String? = nil, _ segment: String = "720p-2-1.m4s") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + (type.map { "#EXT-X-PLAYLIST-TYPE:\($0)\n" } ?? "")
            + "#EXTINF:2,\n\(segment)\n" + (ended ? "#EXT-X-ENDLIST\n" : "")
    }

    /// An index of one sprite sheet.
    static func sprites(_ sheet: String) -> String {
        "WEBVTT\n\n00:00:00.000 --> 00:00:10.000\n\(sheet)#xywh=0,0,160,90\n"
    }

    /// The files of a live output, without their directory.
    static let outputFiles = [
        "index.m3u8", "720p.m3u8", "720p-iframes.m3u8", "audio.m3u8", "720p-2.mp4", "720p-2-1.m4s", "720p-2-2.0.m4s",
        "audio-2-1.m4s", ".720p-2-3.m4s.tmp", "edge.json", "edge.mark", ".keys.json", "events.jsonl", "events.1.jsonl",
        ".commands.json.2.tmp", "still.jpg", "still-2-0.jpg", "still.vtt", "state.json",
    ]

    /// The content of such a file.
    static func text(of name: String, room: String = "a", ended: Bool = true) -> String {
        switch name {
        case "state.json": self.state(ended: ended)
        case "index.m3u8": self.multivariant(room)
        case "still.vtt": self.sprites("still-2-0.jpg")
        default: name.hasSuffix(".m3u8") ? self.media(ended: ended) : "x"
        }
    }

    func output(_ path: String, room: String, ended: Bool = true, age: Int64 = 30 * Self.day) throws {
        for name in Self.outputFiles {
            try self.write("\(path)/\(name)", Self.text(of: name, room: room, ended: ended), age: age)
        }
    }

    func transport(_ path: String, room: String, ended: Bool = true, age: Int64 = 30 * Self.day) throws {
        try self.write("\(path)/index.m3u8", Self.multivariant(room), age: age)
        try self.write("\(path)/720p.m3u8", Self.media(ended: ended, "720p-2-1.ts"), age: age)
        for name in ["720p-2-1.ts", "720p-2-2.ts", ".720p-2-3.ts.tmp"] { try self.write("\(path)/\(name)", age: age) }
        try self.write("\(path)/.origin", "1790000000000000000\n", age: age)
    }

    /// A finished recording of two sessions.
    func recording(_ path: String, room: String, age: Int64 = 30 * Self.day) throws {
        for take in ["", "take-2/"] {
            let names = ["720p.mp4", "720p.m3u8", "720p-2-1.m4s"]
            for name in names { try self.write("\(path)/\(take)\(name)", age: age) }
            let manifest = Self.manifest(room, names)
            try self.write("\(path)/\(take)recording.json", manifest, age: age)
        }
        try self.write("\(path)/recording.takes", "takes\t1\t\(room)\t2\tover\n", age: age)
    }

    static func manifest(_ room: String, _ names: [String]) -> String {
        let files = names.map { "{\"name\":\"\($0)\",\"bytes\":1,\"sha256\":\"x\"}" }.joined(separator: ",")
        return "{\"roomId\":\"\(room)\",\"start\":\"x\",\"files\":[\(files)]}\n"
    }

    func finder(after: Int64 = 7 * Self.day, recordingsAfter: Int64? = nil) -> DirectoryRetention {
        DirectoryRetention(
            root: self.root, rule: RetentionRule(after: after, recordingsAfter: recordingsAfter, now: Self.now)
        ) { 0 }
    }

    /// What a run finds: the verdict of each path.
    func verdicts(after: Int64 = 7 * Self.day, recordingsAfter: Int64? = nil) throws -> [String: Finding.Verdict] {
        var finder = self.finder(after: after, recordingsAfter: recordingsAfter)
        return Dictionary(uniqueKeysWithValues: try finder.find().map { ($0.path, $0.verdict) })
    }

    /// Paths of all files below a directory, and of links.
    func files(below path: String? = nil) -> Set<String> {
        let base = path ?? self.root
        let found = FileManager.default.enumerator(atPath: base)?.compactMap { $0 as? String } ?? []
        return Set(
            found.filter { name in
                let kind =
                    (try? FileManager.default.attributesOfItem(atPath: "\(base)/\(name)"))?[.type] as? FileAttributeType
                return kind != .typeDirectory
            })
    }
}

extension Finding.Verdict {
    var reason: String {
        switch self {
        case .remove: "remove"
        case .keep(let reason), .skip(let reason): reason
        }
    }
}
