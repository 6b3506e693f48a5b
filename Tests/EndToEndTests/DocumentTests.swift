import Foundation
import Testing

extension EndToEnd {
    @Suite("The pipeline document changed while the room is live")
    struct DocumentTests {
        private static func patch(
            _ room: RunningRoom, _ body: String, dryRun: Bool = false, status: Int = 200
        ) throws -> [String: Any] {
            let reply = try HTTPClient.request("PATCH", room.control, "/v1/room?dryRun=\(dryRun)", body: body)
            #expect(reply.status == status, "\(reply.body)")
            room.secrets.note(reply.body)
            return reply.json()
        }

        /// The outputs in the room's state, in their order.
        private static func outputs(of room: RunningRoom) throws -> [[String: Any]] {
            try #require(try room.state()["outputs"] as? [[String: Any]])
        }

        /// A document with the HLS output of ``Rooms/small(_:rtmp:members:)`` and the outputs `pushes`.
        private static func list(_ directory: String, _ pushes: [String]) -> String {
            let hls = #"{"type":"hls","path":"\#(directory)","windowSeconds":600,"http":{"listen":"127.0.0.1:0"}}"#
            return #"{"outputs":[\#(([hls] + pushes).joined(separator: ","))]}"#
        }

        private static func expectAllOnTime(_ room: RunningRoom) throws {
            expectOnTime(try #require(try room.state()["ticks"] as? [String: Any]))
        }

        @Test(
            "PATCH /v1/room adds, changes and removes RTMP outputs; others continue, no frame is late, forbidden key files are refused"
        )
        func outputs() throws {
            _ = try Media.require()
            let work = try WorkDirectory()
            let (one, two) = (
                try RunningRoom(Rooms.small(work.path("one"))), try RunningRoom(Rooms.small(work.path("two")))
            )
            // The files that requests may name are in one directory.
            let (given, secret) = (work.path("given"), work.path("secret"))
            try FileManager.default.createDirectory(atPath: given, withIntermediateDirectories: true)
            _ = try work.write(one.key("a") + "\n", to: "given/key")
            _ = try work.write("root-of-it-all:*:19000\n", to: "secret")
            try FileManager.default.createSymbolicLink(atPath: "\(given)/link", withDestinationPath: secret)
            let room = try RunningRoom(
                Rooms.small(work.path("out")), ["--set", "control.secretsDirectory=\(given)"],
                environment: ["OTHER_TOKEN": "what-another-program-needs"])
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop() }
            try room.event("source.live")
            try room.segments(1)
            func push(_ id: String, _ far: RunningRoom, _ key: String) -> String {
                #"{"type":"rtmp","outputId":"\#(id)","url":"\#(far.rtmp)/live","key":"\#(far.key(key))"}"#
            }
            let (first, second) = (push("first", one, "a"), push("second", two, "a"))

            // A server chosen by the client gets no file and no variable that the operator has not allowed, and learns
            // of none.
            var answers: Set<String> = []
            for (member, name) in [
                ("keyFile", secret), ("keyFile", work.path("missing")), ("keyFile", "\(given)/link"),
                ("keyFile", "\(given)/../secret"), ("keyFile", "\(given)/none"), ("keyFile", "/etc/shadow"),
                ("urlEnv", "OTHER_TOKEN"), ("keyEnv", "OTHER_TOKEN"), ("keyEnv", "NO_SUCH_KEY"),
            ] {
                let url = member == "urlEnv" ? "" : #""url":"\#(one.rtmp)/live","#
                let refused = try Self.patch(
                    room,
                    Self.list(work.path("out"), [#"{"type":"rtmp","outputId":"x",\#(url)"\#(member)":"\#(name)"}"#]),
                    status: 403)
                let error = (refused["errors"] as? [[String: Any]])?.first
                #expect(error?["path"] as? String == "outputs[1].\(member)", "\(refused)")
                if member == "keyFile" {
                    answers.insert(["what", "fix"].map { error?[$0] as? String ?? "?" }.joined(separator: "; "))
                }
            }
            #expect(answers.count == 1, "the same answer for existing and missing files: \(answers)")
            let file = #"{"type":"rtmp","outputId":"first","url":"\#(one.rtmp)/live","keyFile":"\#(given)/key"}"#
            #expect(try Self.patch(room, Self.list(work.path("out"), [file]), dryRun: true)["dryRun"] as? Bool == true)
            let metadata = try Self.patch(
                room, Self.list(work.path("out"), [#"{"type":"rtmp","url":"rtmp://169.254.169.254/live/x"}"#]),
                status: 403)
            #expect("\(metadata)".contains("link-local"), "\(metadata)")
            #expect(room.events("output.connecting").isEmpty)

            // A room that started without RTMP outputs.
            let begun = try Self.patch(room, Self.list(work.path("out"), [first]))
            #expect(begun["applied"] as? [String] == ["outputs"] && begun["changed"] as? Bool == true, "\(begun)")
            try one.event("source.live", uid: "1001", timeout: 10)
            let both = Self.list(work.path("out"), [second, first])
            #expect(try Self.patch(room, both, dryRun: true)["changed"] as? Bool == false)
            _ = try Self.patch(room, both)
            try two.event("source.live", uid: "1001", timeout: 10)
            let shown = try Self.outputs(of: room)
            #expect(shown.compactMap { $0["outputId"] as? String } == ["hls", "second", "first"])
            #expect(room.events("output.connecting").count == 2, "the dry run disconnected nobody")

            // The same server with another key: the old publication ends, then the new one starts.
            let other = push("second", two, "b")
            let start = two.now
            _ = try Self.patch(room, Self.list(work.path("out"), [other, first]))
            try two.event("ingest.unpublished", uid: "1001", from: start, timeout: 10)
            try two.event("source.live", uid: "2002", from: start, timeout: 10)

            // Unreadable documents and invalid outputs change nothing.
            let unread = other.replacingOccurrences(of: #""key":"\#(two.key("b"))""#, with: #""keyEnv":"NO_SUCH_KEY""#)
            let refused = try Self.patch(room, Self.list(work.path("out"), [unread]), status: 403)
            #expect(
                (refused["errors"] as? [[String: Any]])?.first?["path"] as? String == "outputs[1].keyEnv", "\(refused)")
            let record = try Self.patch(
                room, Self.list(work.path("out"), [#"{"type":"record","path":"\#(work.path("rec"))"}"#]), status: 409)
            #expect(record["code"] as? String == "needsRestart")
            #expect((record["errors"] as? [[String: Any]])?.first?["path"] as? String == "outputs[1]", "\(record)")

            _ = try Self.patch(room, Self.list(work.path("out"), [other]))
            try one.event("ingest.unpublished", uid: "1001", timeout: 10)
            let stopped = try room.event("output.stopped") { $0.text("outputId") == "first" }
            #expect(stopped.text("reason") == "the room's document has changed")
            let left = try Self.outputs(of: room)
            #expect(left.compactMap { $0["outputId"] as? String } == ["hls", "second"])
            let bytes = left.last?["bytes"] as? Int ?? 0
            try room.segments(2)
            let after = try #require(try Self.outputs(of: room).last)
            #expect((after["bytes"] as? Int ?? 0) > bytes && after["state"] as? String == "live", "\(after)")
            #expect(room.events("output.failed").isEmpty && room.events("output.connecting").count == 3)
            try Self.expectAllOnTime(room)
            for over in [room, one, two] { #expect(try over.end() == 0) }
        }
    }
}
