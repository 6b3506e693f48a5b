import Foundation
import Glibc
import Retention
import Testing

@Suite("gc: which directories are found, and which of them may be removed")
struct FindingTests {
    private static let day = RoomsOnDisk.day

    @Test("an ended room may be removed when its newest file is old enough; a running room is kept at any age")
    func age() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("out/old", room: "old", age: 7 * Self.day)
        try rooms.output("out/young", room: "young", age: 7 * Self.day - 1)
        try rooms.output("out/touched", room: "touched")
        try rooms.write("out/touched/still.jpg", age: 60)
        try rooms.output("out/future", room: "future", age: -60)
        try rooms.output("out/live", room: "live", ended: false)
        try rooms.output("out/damaged", room: "damaged")
        try rooms.write("out/damaged/state.json", "{\"version\": 1,")
        let found = try rooms.verdicts()
        #expect(found.count == 6)
        #expect(found["out/old"] == .remove)
        #expect(found["out/young"]?.reason == "removed after 2027-01-15T08:00:01.000Z")
        #expect(found["out/touched"]?.reason.hasPrefix("removed after") == true)
        #expect(found["out/future"]?.reason == "its newest file is dated in the future: check the clocks")
        #expect(found["out/live"]?.reason == "the room has not ended")
        #expect(found["out/damaged"]?.reason == "state.json is damaged")
    }

    @Test(
        "gc reads a room's state file also with spaces instead of line breaks; one of another version counts as damaged"
    )
    func layout() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("a", room: "a")
        let state = RoomsOnDisk.state(ended: true)
        try rooms.write("a/state.json", state.replacing("\n", with: " "))
        #expect(try rooms.verdicts() == ["a": .remove])
        try rooms.write("a/state.json", state.replacing("true", with: "false").replacing("\n", with: " "))
        #expect(try rooms.verdicts()["a"]?.reason == "the room has not ended")
        try rooms.write("a/state.json", state.replacing("\"version\": 1", with: "\"version\": 2"))
        #expect(try rooms.verdicts()["a"]?.reason == "state.json is damaged")
    }

    @Test("a room with an unfinished upload, or an unfinished recording anywhere below the root, is kept")
    func unfinished() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        for name in ["a", "b", "c", "d", "e", "free"] { try rooms.output("out/\(name)", room: name) }
        try rooms.write("out/a/.upload-cdn", "tandem-upload 1\n5 3\n")
        try rooms.write("rec/b/recording.journal", "recording\t1\tb\n")
        try rooms.write("rec/b/720p-1-1.m4s")
        // The first session is finished, a later one is not.
        try rooms.recording("rec/c", room: "c")
        try rooms.write("rec/c/take-2/recording.journal", "recording\t1\tc\n")
        // Stopped by an operator, and not over.
        try rooms.recording("rec/d", room: "d")
        try rooms.write("rec/d/recording.takes", "takes\t1\td\t2\tstopped\n")
        try rooms.recording("rec/e", room: "e")
        try rooms.write("rec/e/recording.takes", "damaged")
        let found = try rooms.verdicts(recordingsAfter: Self.day)
        #expect(found["out/a"]?.reason == "the upload to store cdn is not complete: start the room again")
        for name in ["b", "c", "d", "e"] {
            let reason = "its recording in rec/\(name) is not finished: start the room again"
            #expect(found["out/\(name)"]?.reason == reason, "\(name)")
            #expect(found["rec/\(name)"]?.reason.hasPrefix("its files are not finished") == true, "\(name)")
        }
        #expect(found["out/free"] == .remove)
    }

    @Test("an unfinished upload to a store whose id looks like the name of a temporary file keeps the room, too")
    func temporaryStore() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("a", room: "a")
        try rooms.write("a/..upload-cdn.tmp")
        #expect(try rooms.verdicts() == ["a": .remove], "what a killed worker was writing is no record of a store")
        try rooms.write("a/.upload-cdn.tmp")
        #expect(
            try rooms.verdicts()["a"]?.reason == "the upload to store cdn.tmp is not complete: start the room again")
    }

    @Test("a directory that is too deep is reported, and no live output is removed, because its recording may be there")
    func tooDeep() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("out/a", room: "a")
        try rooms.transport("ts/a", room: "a")
        let deepest = (1...DirectoryRetention.deepest).map { "\($0)" }.joined(separator: "/")
        try rooms.output(deepest, room: "deep")
        #expect(try rooms.verdicts() == ["out/a": .remove, "ts/a": .remove, deepest: .remove])
        try rooms.recording("\(deepest)/rec", room: "a")
        let found = try rooms.verdicts()
        #expect(found["\(deepest)/rec"] == .skip("is more than 12 directories below the root"))
        #expect(found["out/a"]?.reason.hasPrefix("\(deepest)/rec could not be checked") == true)
        #expect(found["ts/a"] == .remove && found.count == 4)
        var finder = rooms.finder()
        let skipped = try finder.find().filter(\.isSkipped)
        #expect(skipped.map(\.path) == ["\(deepest)/rec"] && skipped.first?.text.hasPrefix("skip    1/2/") == true)
    }

    @Test(
        "a directory that cannot be read is reported, and rooms whose recording may be in it are kept",
        .enabled(if: geteuid() != 0))
    func unreadable() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("out/a", room: "a")
        try rooms.recording("rec/a", room: "a")
        try rooms.recording("rec/b", room: "b")
        for path in ["rec/a", "rec/b/take-2"] { chmod("\(rooms.root)/\(path)", 0) }
        defer { for path in ["rec/a", "rec/b/take-2"] { chmod("\(rooms.root)/\(path)", 0o755) } }
        let found = try rooms.verdicts(recordingsAfter: Self.day)
        #expect(found["rec/a"] == .skip("cannot be opened: Permission denied"))
        #expect(found["rec/b"] == .skip("take-2 cannot be read: Permission denied"))
        #expect(found["out/a"]?.reason.hasPrefix("rec/a could not be checked") == true)
    }

    @Test("a recording whose manifest is damaged is reported and kept")
    func damagedManifest() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.recording("rec/a", room: "a")
        try rooms.write("rec/a/take-2/recording.json", "{}")
        let reason = "take-2 has a recording.json that is damaged, too large or cannot be read"
        #expect(try rooms.verdicts(recordingsAfter: Self.day)["rec/a"] == .skip(reason))
        try rooms.recording("rec/a", room: "a")
        try rooms.write("rec/a/recording.json", RoomsOnDisk.manifest("a", ["../../out/a/state.json"]))
        #expect(
            try rooms.verdicts(recordingsAfter: Self.day)["rec/a"]
                == .skip("recording.json is damaged, too large or cannot be read"))
    }

    @Test("the size of a room that gc has found is written in MiB, also the largest number of bytes")
    func sizes() {
        let finding = Finding(.output, path: "a", files: 1, bytes: .max, verdict: .remove)
        #expect(finding.text.contains("1 files, 8796093022208.0 MiB"))
        #expect(Finding(.output, path: "a", bytes: 1 << 20, verdict: .remove).text.contains("1.0 MiB"))
    }

    @Test("an unfinished recording without a room id keeps every room; any unfinished one keeps a room without an id")
    func unknown() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("out/a", room: "a")
        try rooms.output("out/nameless", room: "nameless")
        try rooms.write("out/nameless/index.m3u8", "damaged")
        #expect(try rooms.verdicts() == ["out/a": .remove, "out/nameless": .remove])
        try rooms.write("rec/other/recording.journal", "recording\t1\tother\n")
        let found = try rooms.verdicts()
        #expect(found["out/a"] == .remove)
        #expect(
            found["out/nameless"]?.reason
                == "the recording in rec/other is not finished and may belong to this room: start its room again")
        try rooms.write("rec/damaged/recording.journal", "")
        #expect(try rooms.verdicts()["out/a"]?.reason.contains("rec/damaged") == true)
    }

    @Test("recordings and clips are kept unless an age for recordings is given; other files of the room are removed")
    func recordings() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.recording("rec/a", room: "a")
        try rooms.write("rec/a/clips/one.mp4")
        try rooms.write("rec/a/take-2/720p.mp4", age: 20 * Self.day)
        try rooms.output("out/a", room: "a")
        try rooms.write("out/a/clips/goal.mp4", age: 10 * Self.day)
        let kept = try rooms.verdicts()
        #expect(kept["rec/a"]?.reason == "recordings are kept unless --recordings-older-than is given")
        #expect(kept["out/a"] == .remove && kept.count == 2, "clips and sessions are no rooms of their own: \(kept)")
        #expect(try rooms.verdicts(recordingsAfter: 21 * Self.day)["rec/a"]?.reason.hasPrefix("removed after") == true)
        #expect(try rooms.verdicts(recordingsAfter: 20 * Self.day)["rec/a"] == .remove)
        // Without an age for clips, everything else is removed, and the next run still recognizes the room.
        var finder = rooms.finder()
        let findings = try finder.find()
        let output = try #require(findings.first { $0.path == "out/a" })
        var whole = rooms.finder(recordingsAfter: 10 * Self.day)
        let bytes = try #require(try whole.find().first { $0.path == "out/a" }).bytes
        #expect(output.files == RoomsOnDisk.outputFiles.count - 2 && output.others == 0)
        #expect(finder.remove(output).problem == nil)
        let left = Set(rooms.files().filter { $0.hasPrefix("out/") })
        #expect(left == ["out/a/clips/goal.mp4", "out/a/index.m3u8", "out/a/state.json"])
        #expect(try rooms.verdicts()["out/a"]?.reason.hasPrefix("only its clips are left") == true)
        var all = rooms.finder(recordingsAfter: 10 * Self.day)
        let rest = try #require(try all.find().first { $0.path == "out/a" })
        #expect(rest.isRemovable && rest.files == 3 && output.bytes == bytes - rest.bytes)
        #expect(all.remove(rest).problem == nil)
        #expect(!FileManager.default.fileExists(atPath: "\(rooms.root)/out/a"))
    }

    @Test("MPEG-TS outputs may be removed when all playlists have ended; playlists of other programs are not rooms")
    func transport() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.transport("ts/a", room: "a")
        try rooms.transport("ts/live", room: "live", ended: false)
        try rooms.transport("ts/half", room: "half")
        try rooms.write("ts/half/360p.m3u8", RoomsOnDisk.media(ended: false))
        try rooms.transport("vod/film", room: "film")
        let other = RoomsOnDisk.multivariant("x").split(separator: "\n").filter { !$0.contains("SESSION-DATA") }
        try rooms.write("vod/film/index.m3u8", other.joined(separator: "\n"))
        unlink("\(rooms.root)/vod/film/.origin")
        try rooms.write("web/index.html")
        // Copies: without the worker's note, and of a recording.
        for path in ["vod/copy", "vod/note", "vod/recorded"] { try rooms.transport(path, room: "a") }
        unlink("\(rooms.root)/vod/copy/.origin")
        try rooms.write("vod/note/.origin", "https://example.com\n")
        try rooms.write("vod/recorded/720p.m3u8", RoomsOnDisk.media(ended: true, type: "VOD"))
        // A worker that is just starting.
        try rooms.transport("ts/begins", room: "begins")
        unlink("\(rooms.root)/ts/begins/index.m3u8")
        let found = try rooms.verdicts()
        #expect(Set(found.keys) == ["ts/a", "ts/live", "ts/half", "ts/begins", "vod/recorded"])
        #expect(found["ts/a"] == .remove)
        #expect(found["vod/recorded"]?.reason == "recordings are kept unless --recordings-older-than is given")
        for path in ["ts/live", "ts/half", "ts/begins"] {
            #expect(found[path]?.reason == "the playlists have not ended")
        }
    }

    @Test("a root directory of gc that does not exist is an error")
    func missing() throws {
        var finder = DirectoryRetention(
            root: "/nowhere-\(UUID().uuidString)", rule: RetentionRule(after: 60, now: RoomsOnDisk.now)
        ) { 0 }
        #expect(throws: (any Error).self) { _ = try finder.find() }
    }

    @Test(
        "an age for gc needs a unit s, m, h or d, and is from 60 s to 3,650 days",
        arguments: [
            ("60s", 60), ("30m", 1_800), ("12h", 43_200), ("7d", 604_800), ("3650d", 315_360_000),
            ("59s", nil), ("3651d", nil), ("7", nil), ("d", nil), ("", nil), ("-1d", nil), ("1.5d", nil), ("7 d", nil),
            ("99999999999d", nil), ("9999999999d", nil), ("7D", nil), ("٧d", nil),
        ] as [(String, Int64?)])
    func durations(text: String, seconds: Int64?) { #expect(RetentionRule.seconds(text) == seconds) }
}
