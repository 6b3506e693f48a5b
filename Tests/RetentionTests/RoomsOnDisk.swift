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
        ]
        }

        """
    }

    static func multivariant(_ room: String) -> String {
        """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-SESSION-DATA:DATA-ID="live.tandem.content-id",VALUE="\(room)"
        #EXT-X-STREAM-INF:BANDWIDTH=1
        720p.m3u8

        """
    }

    static func media(ended: Bool, _ segment: String = "720p-2-1.m4s") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(segment)\n" + (ended ? "#EXT-X-ENDLIST\n" : "")
    }

    /// The files of a live output, without their directory.
    static let outputFiles = [
        "index.m3u8", "720p.m3u8", "720p-iframes.m3u8", "audio.m3u8", "720p-2.mp4", "720p-2-1.m4s", "720p-2-2.0.m4s",
        "audio-2-1.m4s", ".720p-2-3.m4s.tmp", "edge.json", "edge.mark", ".keys.json", "events.jsonl", "events.1.jsonl",
        "still.jpg", "still.vtt", "state.json",
    ]

    func output(_ path: String, room: String, ended: Bool = true, age: Int64 = 30 * Self.day) throws {
        for name in Self.outputFiles {
            let text =
                switch name {
                case "state.json": Self.state(ended: ended)
                case "index.m3u8": Self.multivariant(room)
                default: name.hasSuffix(".m3u8") ? Self.media(ended: ended) : "x"
                }
            try self.write("\(path)/\(name)", text, age: age)
        }
    }

    func transport(_ path: String, room: String, ended: Bool = true, age: Int64 = 30 * Self.day) throws {
        try self.write("\(path)/index.m3u8", Self.multivariant(room), age: age)
        try self.write("\(path)/720p.m3u8", Self.media(ended: ended, "720p-2-1.ts"), age: age)
        for name in ["720p-2-1.ts", "720p-2-2.ts", ".origin"] { try self.write("\(path)/\(name)", age: age) }
    }

    /// A finished recording of two sessions.
    func recording(_ path: String, room: String, age: Int64 = 30 * Self.day) throws {
        for take in ["", "take-2/"] {
            for name in ["720p.mp4", "720p.m3u8", "720p-2-1.m4s"] { try self.write("\(path)/\(take)\(name)", age: age) }
            try self.write("\(path)/\(take)recording.json", "{\"roomId\":\"\(room)\",\"start\":\"x\"}\n", age: age)
        }
        try self.write("\(path)/recording.takes", "takes\t1\t\(room)\t2\tover\n", age: age)
    }

    func finder(after: Int64 = 7 * Self.day, recordingsAfter: Int64? = nil) -> DirectoryRetention {
        DirectoryRetention(
            root: self.root, rule: RetentionRule(after: after, recordingsAfter: recordingsAfter, now: Self.now))
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
    var reason: String { if case .keep(let reason) = self { reason } else { "remove" } }
}
