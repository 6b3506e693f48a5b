import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Stores {
    @Suite("HLS uploads that wait for a later worker or for another token")
    struct UnfinishedUploadTests {
        private static func room(_ directory: String, output: String) -> String {
            Rooms.small(directory).replacingOccurrences(of: #""outputs": ["#, with: #""outputs": [ \#(output),"#)
        }

        @Test(
            "if the HTTP store is down when the room ends, the worker exits with 75; a later run uploads the rest and exits with 0",
            arguments: [true, false])
        func incomplete(isPatient: Bool) throws {
            let python = try TestTool.require("python3")
            let work = try WorkDirectory()
            let (place, away) = (work.path("origin"), work.path("away"))
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let token = "0123456789abcdef"
            let origin = try Child(
                python, ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/origin.py", place, away, token])
            defer { origin.stop(SIGKILL) }
            let port = try #require(origin.line(from: 0, timeout: 10) { _ in true }).line
            let output = #"""
                { "type": "http", "url": "http://127.0.0.1:\#(port)/88231/", "queueSegments": 64,
                  \#(isPatient ? #""retryForMs": 60000,"# : "")
                  "auth": { "type": "bearer", "secretEnv": "ORIGIN_TOKEN" } },
                { "type": "image", "path": "\#(work.path("out"))/still.jpg", "sprites": { "intervalSeconds": 1 } }
                """#
            let pipeline = Rooms.small(work.path("out"), members: #""shutdown": { "endTimeoutMs": 1500 },"#)
                .replacingOccurrences(of: #""outputs": ["#, with: #""outputs": [ \#(output),"#)
            let environment = ["ORIGIN_TOKEN": token]
            let room = try RunningRoom(pipeline, environment: environment)
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop(SIGKILL) }
            try #require(origin.line(from: 0, timeout: 20) { $0 == "playlist 180p.m3u8 3" } != nil)
            _ = FileManager.default.createFile(atPath: away, contents: nil)
            // Live segments are dropped in time; those queued at the end are not.
            if isPatient { try room.segments(2) }
            #expect(try room.end() == 75)
            let note = work.path("out/.upload-http")
            let noted = try Data(contentsOf: URL(fileURLWithPath: note))
            #expect(FileManager.default.fileExists(atPath: note))
            #expect(room.events("output.unfinished").count == 1 && room.events("output.finished").isEmpty)
            func run(
                _ more: [String: String] = [:]
            ) throws -> (code: Int32, events: [String], incarnations: Set<Int>) {
                let child = try Child(
                    EndToEnd.binary, ["run", "-"], environment: environment.merging(more) { $1 }, input: pipeline)
                let code = try child.wait(timeout: 20)
                return (
                    code, child.outputLines.compactMap { $0.firstMatch(of: #/"type":"([^"]+)"/#).map { String($0.1) } },
                    Set(child.outputLines.compactMap { Event($0)?.integer("incarnation") })
                )
            }
            // Still down. A worker that is asked to stop meanwhile obeys, and leaves the rest to the next.
            let door = "unix:\(work.path("door"))"
            let stopped = try Child(
                EndToEnd.binary,
                ["run", "-", "--set", "control.listen=\(door)", "--set", "shutdown.endTimeoutMs=60000"],
                environment: environment, input: pipeline)
            var deadline = Date(timeIntervalSinceNow: 30)
            var code = try Command.tandem(["healthcheck", door, "--started"]).code
            while stopped.isRunning, Date() < deadline, code != 0 {
                code = try Command.tandem(["healthcheck", door, "--started"]).code
            }
            try #require(code == 0, "the worker does not start: \(stopped.errors)")
            stopped.signal(SIGTERM)
            #expect(try stopped.wait(timeout: 20) == 143)
            #expect(stopped.errors.contains("the worker ends"), "it obeyed, and was not killed: \(stopped.errors)")
            // It runs no room, and an orchestrator must not take it for a dead one.
            let (socket, control) = (work.path("notify"), "unix:\(work.path("control"))")
            let manager = try Child(
                python,
                ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/receiver.py", "whsec_AAAA", socket, work.path("no")])
            defer { manager.stop(SIGKILL) }
            _ = try #require(manager.line(from: 0, timeout: 10) { _ in true })
            let second = try Child(
                EndToEnd.binary, ["run", "-", "--set", "control.listen=\(control)"],
                environment: environment.merging(["NOTIFY_SOCKET": socket]) { $1 }, input: pipeline)
            func health(_ flag: String) throws -> Command.Result {
                try Command.run(EndToEnd.binary, ["healthcheck", control, flag], timeout: 10)
            }
            var started = try health("--started")
            deadline = Date(timeIntervalSinceNow: 30)
            while second.isRunning, Date() < deadline, started.code != 0 { started = try health("--started") }
            #expect(started.output.contains(#""status":"pass""#) && started.output.contains("closed"), "\(started)")
            #expect(try health("--ready").code == 1)
            #expect(try second.wait(timeout: 20) == 75, "\(second.errors)")
            #expect(second.outputLines.contains { $0.contains("output.unfinished") }, "\(second.outputLines)")
            #expect(manager.line(from: 0, timeout: 10) { $0 == "notify EXTEND_TIMEOUT_USEC=5000000" } != nil)
            #expect(manager.line(from: 0, timeout: 10) { $0.hasPrefix("notify STATUS=sending") } != nil)
            #expect(!manager.outputLines.contains("notify READY=1"))
            #expect(try !Files.text(place + "/180p.m3u8").contains("#EXT-X-ENDLIST"))
            try FileManager.default.removeItem(atPath: away)
            let third = try run(["NOTIFY_SOCKET": socket])
            #expect(third.code == 0 && third.events.suffix(2) == ["output.finished", "room.settled"], "\(third)")
            #expect(third.incarnations == [1], "it reports for the worker whose uploads it finishes: \(third)")
            #expect(!third.events.contains("room.ready"))
            // A service that is never ready has failed to start, whatever its exit code.
            let ready = try #require(manager.line(from: 0, timeout: 10) { $0 == "notify READY=1" })
            #expect(manager.line(from: ready.next, timeout: 10) { $0 == "notify STOPPING=1" } != nil)
            #expect(!FileManager.default.fileExists(atPath: note))
            let (there, here) = (try Files.text(place + "/180p.m3u8"), try Files.text(work.path("out/180p.m3u8")))
            #expect(there.contains("#EXT-X-ENDLIST") && !there.contains("#EXT-X-GAP"))
            func uris(_ text: String) -> [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
            #expect(uris(there) == uris(here))
            let index = try Files.text(place + "/still.vtt")
            #expect(try index == Files.text(work.path("out/still.vtt")) && index.contains(".jpg#xywh="))
            let wrong = origin.outputLines.filter { $0.hasPrefix("missing") || $0.hasPrefix("backwards") }
            #expect(wrong.isEmpty, "\(wrong)")
            // Nothing is left to upload: the room is complete.
            #expect(try run().code == 73)
            // An unreadable secret of one store does not stop uploads to the others.
            for name in ["aside", "http"] {
                try noted.write(to: URL(fileURLWithPath: work.path("out/.upload-\(name)")))
            }
            let aside = #"""
                { "type": "http", "outputId": "aside", "url": "http://127.0.0.1:9/",
                  "auth": { "type": "bearer", "secretEnv": "NOT_SET" } },
                """#
            let fourth = try Child(
                EndToEnd.binary, ["run", "-"], environment: environment,
                input: pipeline.replacingOccurrences(of: #""outputs": ["#, with: #""outputs": [ \#(aside)"#))
            #expect(try fourth.wait(timeout: 20) == 66, "\(fourth.errors)")
            #expect(fourth.outputLines.contains { $0.contains("output.finished") }, "\(fourth.outputLines)")
        }

        @Test(
            "an HTTP store that refuses the room's token gets uploads once the token file has changed; a missing token file is reported"
        )
        func renewed() throws {
            let python = try TestTool.require("python3")
            let work = try WorkDirectory()
            let (place, secret) = (work.path("origin"), work.path("secret"))
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let script = "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/origin.py"
            let origin = try Child(python, [script, place, work.path("away"), "of-today-0123456"])
            defer { origin.stop(SIGKILL) }
            let port = try #require(origin.line(from: 0, timeout: 10) { _ in true }).line
            try Data("of-yesterday-012\n".utf8).write(to: URL(fileURLWithPath: secret))
            // Another store, whose key does not change.
            let (otherPlace, otherSecret) = (work.path("other"), work.path("other-secret"))
            try FileManager.default.createDirectory(atPath: otherPlace, withIntermediateDirectories: true)
            let other = try Child(python, [script, otherPlace, work.path("other-away"), "of-the-other-012"])
            defer { other.stop(SIGKILL) }
            let otherPort = try #require(other.line(from: 0, timeout: 10) { _ in true }).line
            try Data("of-the-other-012\n".utf8).write(to: URL(fileURLWithPath: otherSecret))
            let room = try RunningRoom(
                Self.room(
                    work.path("out"),
                    output: #"""
                        { "type": "http", "outputId": "first", "url": "http://127.0.0.1:\#(port)/88231/", "queueSegments": 64,
                          "auth": { "type": "bearer", "secretFile": "\#(secret)" } },
                        { "type": "http", "outputId": "other", "url": "http://127.0.0.1:\#(otherPort)/88231/",
                          "auth": { "type": "bearer", "secretFile": "\#(otherSecret)" } }
                        """#))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop(SIGKILL) }
            try room.event("output.unreachable", timeout: 20) { $0.text("state") == "set" }
            try Data("of-today-0123456\n".utf8).write(to: URL(fileURLWithPath: secret), options: .atomic)
            try room.event("output.unreachable", timeout: 10) { $0.text("state") == "cleared" }
            try room.event("output.secretsRenewed")
            try FileManager.default.removeItem(atPath: secret)
            #expect(try room.event("output.secretsRefused", timeout: 10).text("reason")?.contains(secret) == true)
            #expect(room.events("output.secretsRenewed").map { $0.text("outputId") } == ["first"])
            #expect(try room.end() == 0)
            #expect(try Files.text(place + "/180p.m3u8").contains("#EXT-X-ENDLIST"))
        }
    }
}
