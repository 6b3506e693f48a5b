import Foundation
import Glibc
import Retention
import Synchronization
import Testing

@Suite("gc: a removal can be interrupted anywhere, and removes only files that were found")
struct RemovalTests {
    private static let day = RoomsOnDisk.day

    /// A room of each kind that is removed, and rooms that are kept.
    private static func everything() throws -> RoomsOnDisk {
        let rooms = try RoomsOnDisk()
        try rooms.output("out/a", room: "a")
        try rooms.write("out/a/clips/goal.mp4")
        try rooms.transport("ts/a", room: "a")
        try rooms.recording("rec/a", room: "a")
        try rooms.output("out/live", room: "live", ended: false)
        try rooms.transport("ts/live", room: "live", ended: false)
        try rooms.write("rec/live/recording.journal", "recording\t1\tlive\n")
        try rooms.output("out/pending", room: "pending")
        try rooms.write("out/pending/.upload-cdn")
        return rooms
    }

    @Test("all files of ended rooms and their empty directories are removed, and nothing else")
    func all() throws {
        let rooms = try Self.everything()
        defer { rooms.clean() }
        for name in ["notes.txt", "film.mp4"] { try rooms.write("out/a/\(name)") }
        let before = rooms.files()
        var finder = rooms.finder(recordingsAfter: Self.day)
        for finding in try finder.find() where finding.isRemovable {
            let removal = finder.remove(finding)
            #expect(removal.problem == nil && removal.files == finding.files, "\(finding) \(removal)")
            #expect(finding.others == (finding.path == "out/a" ? 2 : 0))
        }
        let stay = before.filter {
            $0.contains("/live/") || $0.contains("/pending/") || $0 == "out/a/notes.txt" || $0 == "out/a/film.mp4"
        }
        #expect(rooms.files() == stay && stay.count > 35)
        for path in ["ts/a", "rec/a", "out/a/clips"] {
            #expect(!FileManager.default.fileExists(atPath: "\(rooms.root)/\(path)"), "\(path)")
        }
        #expect(try rooms.verdicts()["out/a"] == nil)
    }

    /// A room of the kind of `path`, and another room that is still running.
    private static func room(at path: String) throws -> RoomsOnDisk {
        let rooms = try RoomsOnDisk()
        switch path {
        case "ts/a": try rooms.transport(path, room: "a")
        case "rec/a": try rooms.recording(path, room: "a")
        default:
            try rooms.output(path, room: "a")
            try rooms.write("\(path)/clips/goal.mp4")
        }
        try rooms.write("out/live/state.json", RoomsOnDisk.state(ended: false))
        try rooms.write("rec/live/recording.journal", "recording\t1\tlive\n")
        return rooms
    }

    @Test(
        "wherever a removal of a directory is killed, the next run finds the rest of the ended room and removes it",
        arguments: ["out/a", "ts/a", "rec/a"])
    func killed(path: String) throws {
        var step = 0
        var isDone = false
        while !isDone {
            let rooms = try Self.room(at: path)
            defer { rooms.clean() }
            var finder = rooms.finder(recordingsAfter: Self.day)
            let finding = try #require(try finder.find().first { $0.path == path })
            var count = 0
            let removal = finder.remove(finding) { _ in
                count += 1
                return count <= step
            }
            isDone = removal.problem == nil
            #expect(removal.files == (isDone ? finding.files : step))
            // The next run.
            var next = rooms.finder(recordingsAfter: Self.day)
            if let again = try next.find().first(where: { $0.path == path }) {
                #expect(again.isRemovable && again.files == finding.files - removal.files, "\(step): \(again)")
                #expect(next.remove(again).problem == nil)
            } else {
                #expect(isDone, "\(step)")
            }
            #expect(rooms.files() == ["out/live/state.json", "rec/live/recording.journal"], "\(step)")
            step += 1
        }
        #expect(step > 4)
    }

    @Test("media playlists are removed first, and the multivariant playlist and the state file last")
    func order() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("a", room: "a")
        var finder = rooms.finder()
        let finding = try #require(try finder.find().first)
        var names: [String] = []
        _ = finder.remove(finding) { name in
            names.append(name)
            return true
        }
        #expect(Set(names) == Set(RoomsOnDisk.outputFiles) && names.count == RoomsOnDisk.outputFiles.count)
        #expect(names.suffix(2) == ["index.m3u8", "state.json"])
        #expect(names.prefix(3).allSatisfy { $0.hasSuffix(".m3u8") } && names.prefix(3).contains("720p.m3u8"))
    }

    @Test("gc does not follow symbolic links to directories and files, and keeps their targets")
    func links() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        let files = FileManager.default
        // An ended room outside the root, and files.
        for name in RoomsOnDisk.outputFiles {
            try rooms.write("room/\(name)", RoomsOnDisk.text(of: name), below: rooms.outside)
            try rooms.write("clips/\(name)", below: rooms.outside)
        }
        try rooms.output("a", room: "a")
        try files.createSymbolicLink(atPath: "\(rooms.root)/linked", withDestinationPath: "\(rooms.outside)/room")
        try files.createSymbolicLink(atPath: "\(rooms.root)/a/clips", withDestinationPath: "\(rooms.outside)/clips")
        try files.removeItem(atPath: "\(rooms.root)/a/720p-2-1.m4s")
        try files.createSymbolicLink(
            atPath: "\(rooms.root)/a/720p-2-1.m4s", withDestinationPath: "\(rooms.outside)/room/720p-2-1.m4s")
        // A link does not count as a state file.
        try rooms.write("b/720p.m3u8", RoomsOnDisk.media(ended: true))
        try files.createSymbolicLink(
            atPath: "\(rooms.root)/b/state.json", withDestinationPath: "\(rooms.outside)/room/state.json")
        let outside = rooms.files(below: rooms.outside)
        var finder = rooms.finder(recordingsAfter: Self.day)
        let findings = try finder.find()
        #expect(findings.map(\.path) == ["a"])
        for finding in findings { #expect(finder.remove(finding).problem == nil) }
        #expect(rooms.files(below: rooms.outside) == outside && outside.count == 2 * RoomsOnDisk.outputFiles.count)
        #expect(rooms.files() == ["linked", "a/clips", "a/720p-2-1.m4s", "b/720p.m3u8", "b/state.json"])
    }

    @Test(
        "gc removes nothing through a directory that became a symbolic link after it was found, or by a path out of the root"
    )
    func swapped() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("out/a", room: "a")
        for name in RoomsOnDisk.outputFiles {
            try rooms.write("a/\(name)", RoomsOnDisk.text(of: name), below: rooms.outside)
        }
        let outside = rooms.files(below: rooms.outside)
        var finder = rooms.finder()
        let finding = try #require(try finder.find().first)
        try FileManager.default.moveItem(atPath: "\(rooms.root)/out", toPath: "\(rooms.root)/moved")
        try FileManager.default.createSymbolicLink(atPath: "\(rooms.root)/out", withDestinationPath: rooms.outside)
        #expect(finder.remove(finding).problem == "the directory was removed or replaced")
        var foreign = finding
        for path in ["../outside/a", "/etc", "moved/../../outside/a", ""] {
            foreign.path = path
            #expect(finder.remove(foreign).files == 0, "\(path)")
        }
        #expect(rooms.files(below: rooms.outside) == outside)
    }

    @Test("a room's directory that has changed since it was found is kept")
    func changed() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("a", room: "a")
        var finder = rooms.finder()
        let finding = try #require(try finder.find().first)
        let before = rooms.files()
        for (name, text) in [
            ("state.json", RoomsOnDisk.state(ended: false)), (".upload-cdn", "x"), ("720p-2-9.m4s", "x"),
        ] {
            try rooms.write("a/\(name)", text, age: name == "720p-2-9.m4s" ? 0 : 30 * Self.day)
            let removal = finder.remove(finding)
            #expect(removal.files == 0 && removal.problem?.contains("changed") == true, "\(name)")
            try rooms.write("a/state.json", RoomsOnDisk.state(ended: true))
            for extra in [".upload-cdn", "720p-2-9.m4s"] { unlink("\(rooms.root)/a/\(extra)") }
        }
        #expect(rooms.files() == before && finder.remove(finding).problem == nil)
    }

    @Test("a new session that begins during the removal keeps its state, its playlists and its segments")
    func newSession() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("a", room: "a")
        var finder = rooms.finder()
        let finding = try #require(try finder.find().first)
        var hasBegun = false
        let new = ["state.json", "index.m3u8", "720p.m3u8", "720p-3.mp4", "720p-3-0.m4s", "edge.json"]
        let removal = finder.remove(finding) { name in
            guard !hasBegun, name.hasSuffix(".m4s") else { return true }
            hasBegun = true
            for name in new {
                try? rooms.write(
                    "a/\(name)", name == "state.json" ? RoomsOnDisk.state(ended: false, incarnation: 3) : "new")
            }
            return true
        }
        #expect(hasBegun && removal.problem == "a new session of the room has begun in the directory")
        for name in new {
            let text = try String(contentsOfFile: "\(rooms.root)/a/\(name)", encoding: .utf8)
            #expect(name == "state.json" || text == "new", "\(name)")
        }
        let isLeft = FileManager.default.fileExists(atPath: "\(rooms.root)/a/720p-2-1.m4s")
        #expect(isLeft, "the removal ends at the first file after the session has begun")
        #expect(try rooms.verdicts()["a"]?.reason == "the room has not ended")
    }

    @Test("files of other programs in a room's directory are kept, even if they have extensions of media files")
    func foreign() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("out/a", room: "a")
        try rooms.transport("ts/a", room: "a")
        try rooms.recording("rec/a", room: "a")
        let foreign = [
            "poster.jpg", "player.ts", "concert-2024.mp4", "other-2-1.m4s", "720p.mp4.bak", "720p-2.m4s",
            "720p-x-1.m4s",
            "intro.m3u8", "preview-01.jpg", "preview.vtt", ".hidden.tmp", "recording.txt",
        ]
        for path in ["out/a", "ts/a", "rec/a", "rec/a/take-2"] {
            for name in foreign { try rooms.write("\(path)/\(name)", RoomsOnDisk.text(of: "720p.m3u8")) }
            try rooms.write("\(path)/preview.vtt", RoomsOnDisk.sprites("preview-01.jpg"))
        }
        for path in ["out/a", "rec/a"] { try rooms.write("\(path)/720p-2-1.ts") }
        try rooms.write("ts/a/720p-2-1.m4s")
        var finder = rooms.finder(recordingsAfter: Self.day)
        for finding in try finder.find() {
            #expect(finding.isRemovable && finder.remove(finding).problem == nil, "\(finding)")
            #expect(finding.others == (finding.path == "rec/a" ? 2 : 1) * foreign.count + 1, "\(finding)")
        }
        var stay = Set(["out/a/720p-2-1.ts", "rec/a/720p-2-1.ts", "ts/a/720p-2-1.m4s"])
        for path in ["out/a", "ts/a", "rec/a", "rec/a/take-2"] { stay.formUnion(foreign.map { "\(path)/\($0)" }) }
        #expect(rooms.files() == stay)
    }

    @Test(
        "a file that is written into a room's directory during its removal is kept, and ends the removal",
        arguments: [("out/a", "720p-2-2.0.m4s"), ("ts/a", "720p-2-2.ts"), ("ts/a", ".origin"), ("rec/a", "720p.mp4")])
    func written(path: String, name: String) throws {
        let rooms = try Self.room(at: path)
        defer { rooms.clean() }
        var finder = rooms.finder(recordingsAfter: Self.day)
        let finding = try #require(try finder.find().first { $0.path == path })
        var hasBegun = false
        let removal = finder.remove(finding) { _ in
            if !hasBegun { try? rooms.write("\(path)/\(name)", "new", age: 0) }
            hasBegun = true
            return true
        }
        #expect(removal.problem != nil && removal.files < finding.files, "\(removal)")
        let text = try String(contentsOfFile: "\(rooms.root)/\(path)/\(name)", encoding: .utf8)
        #expect(text == "new")
    }

    @Test(
        "playlists and the files by which a room is recognized are removed under the directory's lock, media without it"
    )
    func lockedParts() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("a", room: "a")
        // Far more time passes between two removals than workers wait for the lock.
        let time = Mutex<Int64>(0)
        var finder = DirectoryRetention(
            root: rooms.root, rule: RetentionRule(after: 7 * Self.day, now: RoomsOnDisk.now)
        ) {
            time.withLock { time in
                time += 2_000_000_000
                return time
            }
        }
        let finding = try #require(try finder.find().first)
        let worker = open("\(rooms.root)/a", O_RDONLY | O_DIRECTORY)
        defer { close(worker) }
        let removal = finder.remove(finding) { name in
            let isFree = flock(worker, LOCK_EX | LOCK_NB) == 0
            if isFree { flock(worker, LOCK_UN) }
            let isMedia = [".m4s", ".mp4", "-0.jpg"].contains(where: name.hasSuffix)
            #expect(isFree == isMedia, "\(name)")
            return true
        }
        #expect(removal.problem == nil && rooms.files().isEmpty)
    }

    @Test("while a worker has an output directory's lock, gc removes nothing from it")
    func locked() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        try rooms.output("a", room: "a")
        var finder = rooms.finder()
        let finding = try #require(try finder.find().first)
        let worker = open("\(rooms.root)/a", O_RDONLY | O_DIRECTORY)
        #expect(worker >= 0 && flock(worker, LOCK_EX | LOCK_NB) == 0)
        let removal = finder.remove(finding)
        #expect(removal.files == 0 && removal.problem?.contains("a worker is using the directory") == true)
        close(worker)
        #expect(finder.remove(finding).problem == nil)
    }

    @Test("if the root directory of gc is itself a room, its files are removed and the directory is kept")
    func root() throws {
        let rooms = try RoomsOnDisk()
        defer { rooms.clean() }
        for name in RoomsOnDisk.outputFiles {
            try rooms.write(name, RoomsOnDisk.text(of: name))
        }
        var finder = rooms.finder()
        let findings = try finder.find()
        #expect(findings.map(\.path) == ["."])
        #expect(finder.remove(findings[0]).problem == nil)
        #expect(rooms.files().isEmpty && FileManager.default.fileExists(atPath: rooms.root))
    }
}
