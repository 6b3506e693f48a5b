import Foundation
import Glibc
import Testing

extension Unhurried.Access {
    @Suite("A room that cannot start: its events and their compatibility formats")
    struct RoomStateTests {
        private static let members = """
            "control": { "compat": ["flipflop", "nertc", "agora", "remon"] }, "idle": { "maxIdleSeconds": 10 },
            "alarms": { "windowMs": 2000, "clearAfterMs": 0 },
            """

        private static func word(_ event: Event, _ vocabulary: String, _ name: String) -> String? {
            let words = event.object("compat")[vocabulary] as? [String: Any]
            return words?[name].map { "\($0)" }
        }

        @Test(
            "if the RTMP port is in use, the room's state becomes failed, FAILURE for agora and InitFailed for remon; the exit code is 69"
        )
        func failed() throws {
            let work = try WorkDirectory()
            try LoopbackAddress.withTakenPort { port in
                let result = try Command.tandem(
                    ["run", "-", "--set", "ingest.rtmp.listen=127.0.0.1:\(port)"],
                    input: Rooms.small(work.path("out"), members: Self.members), timeout: 20)
                #expect(result.code == 69 && result.errors.contains("bindFailed"), "\(result.errors)")
                let events = result.output.split(separator: "\n").compactMap { Event(String($0)) }
                let failed = try #require(events.first { $0.type == "room.state" })
                #expect(failed.text("from") == "starting" && failed.text("to") == "failed")
                #expect(failed.text("code") == "bindFailed" && Self.word(failed, "agora", "name") == "FAILURE")
                #expect(events.last.flatMap { Self.word($0, "remon", "error") } == "InitFailed")
            }
        }
    }
}
