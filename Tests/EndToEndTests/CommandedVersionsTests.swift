import Foundation
import Glibc
import Testing

extension Unhurried.Doors {
    /// If `TANDEM_OLDER_BINARY` names a program of minor version 0, the test runs it. Otherwise the test writes what
    /// such a program would write.
    @Suite("Workers with other minor versions of commands.json")
    struct CommandedVersionsTests {
        private static let older = ProcessInfo.processInfo.environment["TANDEM_OLDER_BINARY"]

        private static func start(_ file: CommandedRoomFile, older: Bool = false) throws -> RunningRoom {
            let binary = (older ? Self.older : nil) ?? EndToEnd.binary
            return try RunningRoom(file.pipeline(), allowsLoopback: false, binary: binary)
        }

        /// Publishes the two sources of the PK, and waits for them.
        private static func publish(_ room: RunningRoom) throws -> [Publisher] {
            let publishers = try ["a", "b"].map { try Publisher.pattern("P", to: room.url($0), size: "320x180") }
            for uid in ["1001", "2002"] { try room.event("source.live", uid: uid) }
            return publishers
        }

        private static func end(_ room: RunningRoom, _ publishers: [Publisher], _ signal: Int32) throws {
            #expect(try room.terminate(signal) == (signal == SIGKILL ? 137 : 143))
            for publisher in publishers { publisher.stop(SIGKILL) }
        }

        @Test("a worker keeps what a later minor version wrote, and reads what an earlier one wrote")
        func minors() throws {
            let work = try WorkDirectory()
            let file = CommandedRoomFile(directory: work.path("out"))
            let path = work.path("out/commands.json")
            let first = try Self.start(file)
            var publishers = try Self.publish(first)
            // A document that replaces the whole room would remove most of the state to restore.
            for command in RoomCommand.all where command.name != "document put" {
                let reply = try command.send(first, file)
                #expect(reply.status == 200, "\(command.name): \(reply.body)")
                try command.waitForEffect(first, file)
            }
            Thread.sleep(forTimeInterval: 0.3)
            let before = try CommandedFacts(first, file.directory)
            try Self.end(first, publishers, SIGKILL)

            var later = try CommandedFile(path)
            let added = later.addUnknownMembers(minor: 9)
            #expect(added.count >= 19, "\(added)")
            try later.write(path)
            let second = try Self.start(file)
            #expect(try second.event("room.resumed").line.contains(#""notRestored":[]"#))
            publishers = try Self.publish(second)
            let restored = try CommandedFacts(second, file.directory)
            #expect(restored.differences(from: before) == [])
            #expect(restored.revision >= before.revision)
            // The file is written again.
            let offset = try HTTPClient.request("PUT", second.control, "/v1/sources/2002", body: #"{"offsetMs":80}"#)
            #expect(offset.status == 200, "\(offset.body)")
            let changed = try CommandedFacts(second, file.directory)
            try Self.end(second, publishers, SIGTERM)
            var kept = try CommandedFile(path)
            #expect(kept.minor == 1)
            let lost = added.subtracting(kept.unknownMembers)
            EndToEnd.report("\(added.count) members of a later minor version, \(lost.count) lost by a rewrite")
            #expect(lost.isEmpty, "\(lost.sorted())")

            // Minor version 0 knows no PK scenes: it continues with those of the pipeline file.
            kept.makeMinorZero()
            try kept.write(path)
            let third = try Self.start(file)
            #expect(try third.event("room.resumed").line.contains(#""notRestored":[]"#))
            publishers = try Self.publish(third)
            let old = try CommandedFacts(third, file.directory)
            #expect(old.differences(from: changed) == ["pk.endScene: guest became all"])
            #expect(old.revision >= changed.revision)
            // Back and forth once more: members written by the later version are still there.
            try Self.end(third, publishers, SIGTERM)
            let fourth = try Self.start(file)
            #expect(try fourth.event("room.resumed").line.contains(#""notRestored":[]"#))
            publishers = try Self.publish(fourth)
            #expect(try CommandedFacts(fourth, file.directory).differences(from: old) == [])
            try Self.end(fourth, publishers, SIGTERM)
            #expect(added.subtracting(try CommandedFile(path).unknownMembers).isEmpty)
        }

        /// The command with this name.
        private static func send(_ name: String, _ room: RunningRoom, _ file: CommandedRoomFile) throws {
            let command = try #require(RoomCommand.all.first { $0.name == name })
            let reply = try command.send(room, file)
            #expect(reply.status == 200, "\(name): \(reply.body)")
        }

        /// Runs a room with a program until it is killed or drained.
        ///
        /// - Returns: The facts that the room reported at the end.
        private static func live(
            _ file: CommandedRoomFile, older: Bool, since before: CommandedFacts? = nil, _ signal: Int32,
            _ commands: (RunningRoom) throws -> Void = { _ in }
        ) throws -> CommandedFacts {
            let room = try Self.start(file, older: older)
            let publishers = try Self.publish(room)
            if let before {
                #expect(try room.event("room.resumed").line.contains(#""notRestored":[]"#))
                let restored = try CommandedFacts(room, file.directory)
                // Minor version 0 does not report the scenes of a PK.
                #expect(
                    restored.differences(from: before, except: ["pk.scene", "pk.endScene"]) == [], "older: \(older)")
                #expect(restored.revision >= before.revision)
            }
            try commands(room)
            Thread.sleep(forTimeInterval: 0.3)
            let facts = try CommandedFacts(room, file.directory)
            try Self.end(room, publishers, signal)
            return facts
        }

        @Test("a room is handed to a worker of minor version 0 and back", .enabled(if: Self.older != nil))
        func olderProgram() throws {
            let work = try WorkDirectory()
            let file = CommandedRoomFile(directory: work.path("out"))
            var facts = try Self.live(file, older: true, SIGKILL) { room in
                for command in RoomCommand.all where command.name != "document put" {
                    // A PK with the scenes of the pipeline file, as minor version 0 supports it.
                    try Self.send(command.name == "PK started with scenes" ? "PK started" : command.name, room, file)
                    Thread.sleep(forTimeInterval: 0.1)
                }
            }
            facts = try Self.live(file, older: false, since: facts, SIGTERM) { room in
                for name in ["timed PK ended", "PK started with scenes"] { try Self.send(name, room, file) }
            }
            #expect(facts["pk.endScene"] == "guest")
            facts = try Self.live(file, older: true, since: facts, SIGKILL) { try Self.send("volume", $0, file) }
            facts = try Self.live(file, older: false, since: facts, SIGTERM)
            #expect(facts["pk.endScene"] == "guest", "the older program has kept the scenes of the PK")
        }
    }
}
