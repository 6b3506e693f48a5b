import Foundation
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Files that join and leave a live room as background music")
    struct MusicTests {
        private static let hertz = 1_100

        private static func pipeline(_ directory: RoomDirectory) -> String {
            HarnessRooms.duel(
                "\(directory.path)/out", members: #""control": { "mediaDirectory": "\#(directory.path)/music" },"#,
                grace: 60_000)
        }

        /// A tone of two seconds.
        private static func makeMusic(_ directory: RoomDirectory, _ name: String) async throws -> String {
            let folder = "\(directory.path)/music"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let path = "\(folder)/\(name)"
            try await FFmpegFile.make([
                "-f", "lavfi", "-i", "sine=frequency=\(Self.hertz):sample_rate=48000", "-t", "2", "-c:a", "aac", path,
            ])
            return path
        }

        /// A patch with the room's publishers and, if there is a path, a looping file in the background.
        private static func patch(_ path: String?, audio: String = "") -> String {
            var sources = [HarnessRooms.first, HarnessRooms.second].map {
                #"{ "uid": "\#($0)", "streamKey": "\#(HarnessRooms.key(of: $0))" }"#
            }
            if let path {
                sources.append(
                    #"{ "uid": "music", "type": "file", "path": "\#(path)", "loop": true, "background": true, "#
                        + #""fadeMs": 400 }"#)
            }
            return #"{ "sources": [\#(sources.joined(separator: ", "))]\#(audio) }"#
        }

        @Test(
            "a background file added by PATCH is heard in all scenes, lowered during speech, and faded out when removed"
        )
        func music() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let path = try await Self.makeMusic(directory, "music.m4a")
            let room = try await RoomHarness.open(Self.pipeline(directory))
            try await room.goLive(HarnessRooms.first, sending: .dark)
            let denied = try await room.command(.patch, "/v1/room", Self.patch("/etc/passwd"), status: 403)
            #expect(denied.body.contains("mediaDirectory"), "\(denied.body)")
            try await room.command(.patch, "/v1/room", Self.patch("\(directory.path)/music/none.m4a"), status: 403)

            let added = try await room.command(
                .patch, "/v1/room", Self.patch(path, audio: #", "audio": { "lowerMusic": { "reductionDb": 20 } }"#))
            #expect(added.member("changed")?.content == .boolean(true))
            #expect(room.events.all("source.added", uid: "music").count == 1)
            try await room.run(until: "source.live", uid: "music")
            try await room.publish(seconds: 3)
            // Heard in a scene without the source; longer than the file.
            try await room.command(.put, "/v1/program", #"{ "sceneId": "guest" }"#)
            try await room.publish(seconds: 2)
            #expect(room.events.all("audio.speaking").isEmpty, "not asked for")
            try await room.command(.put, "/v1/program", #"{ "sceneId": "pk" }"#)
            let voice = try await room.tick()
            try await room.goLive(HarnessRooms.second, sending: .light, tones: [0: 700])
            try await room.publish(seconds: 3)
            let gone = try await room.tick()
            try await room.command(.patch, "/v1/room", Self.patch(nil))
            try await room.run(until: "source.removed", uid: "music")
            try await room.publish(seconds: 1)
            try await room.command(.get, "/v1/sources/music", status: 404)
            let end = try await room.state()
            #expect(end.member("ticks", "late")?.integer == 0 && end.member("ticks", "lost")?.integer == 0)
            try await room.end()

            let out = RoomDirectory(at: "\(directory.path)/out")
            out.lint()
            let start = try #require(room.events.all("program.started").first?.integer("firstTick"))
            let audio = try await PublishedAudio(out)
            let levels = audio.level(Self.hertz)
            func mean(_ from: Double, _ to: Double) -> Double {
                let part = levels[min(levels.count, Int(from * 100))..<min(levels.count, Int(to * 100))]
                return part.reduce(0, +) / Double(max(1, part.count))
            }
            let (spoken, removed) = (Double(voice - start) / 10, Double(gone - start) / 10)
            let before = mean(spoken - 2, spoken)
            #expect(before > 0.1, "the music in both scenes: \(before)")
            let lowered = mean(removed - 1, removed - 0.2)
            #expect(lowered > before / 20 && lowered < before / 5, "20 dB down is a tenth: \(lowered) of \(before)")
            #expect(mean(removed + 0.8, removed + 1.2) < 0.005)
            // The encoder's delay is silent at each start of the file, which is 94 AAC frames or 2.005 s long.
            let jumps = zip(levels, levels.dropFirst()).enumerated().filter { abs($1.0 - $1.1) >= 0.05 }.map(\.offset)
            let seam = jumps.first ?? 0
            #expect(jumps.allSatisfy { ($0 - seam) % 201 < 10 }, "no click but at the file's starts: \(jumps)")
        }

        @Test("a successor plays the music that was added by a command; if the file is gone, it starts without it")
        func successor() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let path = try await Self.makeMusic(directory, "music.m4a")
            let first = try await RoomHarness.open(Self.pipeline(directory))
            try await first.goLive(HarnessRooms.first, sending: .dark)
            try await first.command(.patch, "/v1/room", Self.patch(path))
            try await first.run(until: "source.live", uid: "music")
            try await first.publish(seconds: 3)
            first.kill()

            let second = try await RoomHarness.open(
                Self.pipeline(directory), at: first.wall.now() + 2 * RoomHarness.second, .slate)
            let resumed = try #require(second.events.all("room.resumed").first)
            #expect(resumed.line.contains(#""notRestored":[]"#), "\(resumed)")
            try await second.run(until: "source.live", uid: "music")
            try await second.publish(seconds: 3)
            second.kill()

            try FileManager.default.removeItem(atPath: path)
            let third = try await RoomHarness.open(
                Self.pipeline(directory), at: second.wall.now() + 2 * RoomHarness.second, .slate)
            let poorer = try #require(third.events.all("room.resumed").first)
            #expect(!poorer.line.contains(#""notRestored":[]"#), "\(poorer)")
            try await third.command(.get, "/v1/sources/music", status: 404)
            try await third.end()
        }
    }
}
