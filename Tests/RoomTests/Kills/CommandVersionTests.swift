import MediaTypes
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("Workers of different program versions share commands.json")
    struct CommandVersionTests {
        /// The commanded state as the room reports and stores it.
        private struct Facts {
            /// The reported members, without the revision.
            var told: [String: String]
            var revision: Int64
            var state: CommandedState

            init(_ room: RoomHarness, _ directory: RoomDirectory, _ pipeline: String) async throws {
                self.told = try await CommandKillTests.told(room)
                self.revision = try #require(self.told.removeValue(forKey: "revision").flatMap { Int64($0) })
                self.state = try KillRoom.resumption(directory.bytes(of: "hls/commands.json"), pipeline).state
            }

            /// Members that differ, with both values.
            func differences(from before: Facts) -> [String] {
                var names = Set(self.told.keys).union(before.told.keys).filter { self.told[$0] != before.told[$0] }
                    .map { "\($0): \(before.told[$0] ?? "none") became \(self.told[$0] ?? "none")" }
                func compare<Value: Equatable>(_ name: String, _ value: (CommandedState) -> Value) {
                    if value(self.state) != value(before.state) { names.append(name) }
                }
                compare("texts", \.texts)
                compare("scores", \.scores)
                compare("countdowns", \.countdowns)
                compare("relays", \.relays)
                compare("replies") { $0.replies.map(\.key) }
                compare("offsets") { $0.sources.compactMapValues(\.offsetMs) }
                compare("rotations") { $0.sources.compactMapValues(\.rotation) }
                compare("volumes of tracks") { $0.sources.mapValues(\.trackVolumes).filter { !$0.value.isEmpty } }
                return names.sorted()
            }
        }

        /// All commands except the end of the room and the document that replaces the whole room, which would remove
        /// most of the state to restore.
        private static var commands: [KillCommand] {
            KillCommand.all.filter { $0.name != "document put" && $0.name != "room ended" }
        }

        /// Opens a successor that restores everything.
        private static func successor(of room: RoomHarness, _ pipeline: String) async throws -> RoomHarness {
            let next = try await RoomHarness.open(pipeline, at: room.wall.now() + 3 * RoomHarness.second, .slate)
            let resumed = try #require(next.events.all("room.resumed").first)
            #expect(resumed.line.contains(#""notRestored":[]"#), "\(resumed)")
            return next
        }

        private static func drain(_ room: RoomHarness) async throws {
            try await room.command(.post, "/v1/room:drain", status: 202)
            guard case .drained = try await room.finish() else {
                Issue.record("the worker has not drained")
                return
            }
        }

        @Test(
            "a worker keeps members of commands.json that a later minor version wrote, and restores a file of minor version 0"
        )
        func minors() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let (pipeline, path) = (KillRoom.pipeline(directory.path), "\(directory.path)/hls/commands.json")
            let first = try await RoomHarness.open(pipeline)
            try await first.goLive(HarnessRooms.first, HarnessRooms.second)
            let facts = CommandKillTests.facts(first, directory)
            for command in Self.commands {
                try await CommandKillTests.send(command, to: first, facts)
                // Commands answered at once are written within 100 ms.
                try await first.run(seconds: 0.2)
            }
            // A successor shows slate only if viewers saw something before.
            try await first.told("segment.published")
            let before = try await Facts(first, directory, pipeline)
            #expect(before.told["pk.endScene"] == "\"guest\"")
            first.kill()

            var later = try CommandedFile(path)
            let added = later.addUnknownMembers(minor: 9)
            #expect(added.count >= 19, "\(added)")
            try later.write(path)
            let second = try await Self.successor(of: first, pipeline)
            try await second.goLive(HarnessRooms.first)
            let restored = try await Facts(second, directory, pipeline)
            #expect(restored.differences(from: before) == [])
            #expect(restored.revision >= before.revision)
            // The file is written again.
            try await second.command(.put, "/v1/sources/2002", #"{"offsetMs":80}"#)
            let changed = try await Facts(second, directory, pipeline)
            #expect(changed.differences(from: restored) == ["offsets"])
            try await Self.drain(second)
            var kept = try CommandedFile(path)
            #expect(kept.minor == 1)
            let lost = added.subtracting(kept.unknownMembers)
            #expect(lost.isEmpty, "\(lost.sorted())")

            // Minor version 0 knows no PK scenes: it continues with those of the pipeline file.
            kept.makeMinorZero()
            try kept.write(path)
            let third = try await Self.successor(of: second, pipeline)
            try await third.goLive(HarnessRooms.first)
            let old = try await Facts(third, directory, pipeline)
            #expect(old.differences(from: changed) == ["pk.endScene: \"guest\" became \"solo\""])
            #expect(old.revision >= changed.revision)
            // Back and forth once more: members written by the later version are still there.
            try await Self.drain(third)
            let fourth = try await Self.successor(of: third, pipeline)
            try await fourth.goLive(HarnessRooms.first)
            #expect(try await Facts(fourth, directory, pipeline).differences(from: old) == [])
            try await Self.drain(fourth)
            #expect(added.subtracting(try CommandedFile(path).unknownMembers).isEmpty)
        }
    }
}
