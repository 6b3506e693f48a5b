import Foundation
import Glibc
import Testing

extension Unhurried.Access {
    /// `TANDEM_OLDER_BINARY` names a program of minor version 0. RoomTests/CommandVersionTests reads what such a
    /// program would write.
    @Suite("Workers of different program versions share commands.json")
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

        @Test(
            "a room restarted with an older program version and back keeps all commanded state",
            .enabled(if: Self.older != nil))
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
