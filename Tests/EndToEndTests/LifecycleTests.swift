import Foundation
import Glibc
import HLS
import Testing

extension Unhurried.Doors {
    @Suite("Lifecycle: how a room ends, and what an orchestrator is told")
    struct LifecycleTests {
        @Test("ReplayKit 2: unpublish does not end the room: it goes on in time, and the publisher can come back")
        func unpublish() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let first = try Publisher.ffmpeg(media.ffmpeg, to: room.url("a"), size: "320x180")
            try room.event("source.live", uid: "1001")
            try room.event("segment.published")
            let start = room.now
            let left = Date().timeIntervalSince1970
            first.child.signal(SIGKILL)
            let lost = try room.event("source.lost", uid: "1001", from: start, timeout: 5)
            EndToEnd.report(
                "source.lost \(String(format: "%.3f", lost.time - left)) s after the publisher was killed (bar: 1)")
            #expect(lost.time - left <= 1)
            // Behind the short segments that a room begins with.
            let before = try room.segments(2)
            let after = try room.segments(2)
            #expect(
                abs(after.time - before.time - 2 * 64.0 / 30) <= 0.5, "two segments in \(after.time - before.time) s")
            let back = room.now
            let second = try Publisher.ffmpeg(media.ffmpeg, to: room.url("a"), size: "320x180")
            try room.event("source.live", uid: "1001", from: back)
            try room.segments(1)
            #expect(try room.end() == 0)
            second.stop()
            #expect(try media.complaints(work.path("out/index.m3u8")) == "")
        }

        @Test("a signal ends the lingering at once; the exit code stays the room's", arguments: [SIGTERM, SIGINT])
        func signalled(signal: Int32) throws {
            let work = try WorkDirectory()
            let text = Rooms.small(work.path("out")).replacing(
                #""http": { "#, with: #""http": { "lingerSeconds": 60, "#)
            let room = try RunningRoom(text)
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(1)
            _ = try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}")
            try room.event("room.closed")
            #expect(room.child.isRunning)
            room.child.signal(signal)
            #expect(try room.child.wait(timeout: 10) == 0)
            publisher.stop()
        }

        @Test("a viewer who asks every two seconds finds the end, and a second room:end ends the lingering with 0")
        func slowViewer() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            func list() throws -> String { try HTTPClient.request("GET", viewer, "/180p.m3u8").body }
            #expect(try !list().contains("#EXT-X-ENDLIST"))
            _ = try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}")
            try room.event("room.closed")
            // Longer together than a room stays that nobody watches.
            for _ in 0..<2 {
                Thread.sleep(forTimeInterval: 2)
                #expect(try list().hasSuffix("#EXT-X-ENDLIST\n"))
            }
            let name = try #require(try list().split(separator: "\n").last { $0.hasSuffix(".m4s") })
            #expect(try HTTPClient.request("GET", viewer, "/\(name)").status == 200)
            let left = try ["/livez", "/readyz", "/v1/room"].map {
                try HTTPClient.request("GET", room.control, $0).status
            }
            #expect(left == [200, 503, 410])
            #expect(try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}").status == 202)
            #expect(try room.child.wait(timeout: 4) == 0)
            publisher.stop()
            // An engine that starts the room again is told that there is nothing to do, if it asks for that.
            let again = try [["run", "-"], ["run", "--ended-ok", "-"]].map {
                try Command.tandem($0, input: Rooms.small(work.path("out"))).code
            }
            #expect(again == [73, 0])
        }

        @Test("SIGTERM drains: 143, playlists open; the successor continues numbers and time")
        func drain() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            var lastSequence = -1
            var origins: [String?] = []
            var firstTicks: [Int] = []
            for run in 1...2 {
                let room = try RunningRoom(Rooms.small(directory))
                let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
                let first = try room.event("segment.published")
                #expect(first.integer("mediaSequence") == lastSequence + 1, "run \(run)")
                #expect(first.integer("incarnation") == run)
                try room.segments(1)
                if run == 1 {
                    #expect(try room.terminate(SIGTERM) == 143)
                    for (name, playlist) in try Playlist.all(in: directory) { #expect(!playlist.isEnded, "\(name)") }
                } else {
                    #expect(try room.terminate(SIGINT) == 0)
                }
                publisher.stop()
                origins.append(room.events("program.started").first?.text("origin"))
                firstTicks += room.events("segment.published").compactMap { $0.integer("firstTick") }
                if run == 1 {
                    lastSequence = try #require(room.events("segment.published").last?.integer("mediaSequence"))
                }
            }
            #expect(origins[0] != nil && origins[0] == origins[1], "one origin for the life of the room")
            for (name, playlist) in try Playlist.all(in: directory) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity }, "\(name): the outage is slate")
                #expect(Set(playlist.segments.map(\.map)).count == 1, "\(name)")
                try self.expectDates(playlist, name)
                guard name == "180p.m3u8" else { continue }
                let origin = try #require(origins[0].flatMap { ProgramDate.parse($0) })
                let dates = firstTicks.map { Double(origin) / 1e9 + Double($0) / 30 }
                let listed = playlist.segments.map { $0.date ?? 0 }
                #expect(listed.count == dates.count)
                #expect(zip(listed, dates).allSatisfy { abs($0 - $1) < 0.002 }, "a date is the origin plus the tick")
            }
            #expect(try media.complaints(work.path("out/180p.m3u8")) == "")
        }

        @Test("a room that is ended before anybody has come back ends what the worker before has listed")
        func endsWhatItFound() throws {
            let work = try WorkDirectory()
            let directory = work.path("out")
            let first = try RunningRoom(Rooms.small(directory))
            let publisher = try Publisher.pattern("ANNA", to: first.url("a"), size: "320x180")
            try first.segments(2)
            #expect(try first.terminate(SIGTERM) == 143)
            publisher.stop()
            // As long ago as no slate fills: nothing is on air until somebody publishes.
            let path = "\(directory)/state.json"
            let text = try Files.text(path)
            let match = text.firstMatch(of: /"origin": ([0-9]+)/)
            let origin = try #require(match.flatMap { Int64($0.output.1) })
            let earlier = origin - 7_200_000_000_000
            try text.replacingOccurrences(of: "\"origin\": \(origin),", with: "\"origin\": \(earlier),")
                .write(toFile: path, atomically: true, encoding: .utf8)
            let second = try RunningRoom(Rooms.small(directory))
            #expect(try second.end() == 0)
            #expect(second.events("program.started").isEmpty && second.events("playlist.ended").count == 1)
            let lists = try Playlist.all(in: directory)
            #expect(!lists.isEmpty)
            for (name, playlist) in lists { #expect(playlist.isEnded && playlist.segments.count >= 2, "\(name)") }
        }

        /// Each segment's date is the one before plus its duration.
        private func expectDates(_ playlist: Playlist, _ name: String) throws {
            for (before, after) in zip(playlist.segments, playlist.segments.dropFirst()) {
                let (old, new) = (try #require(before.date), try #require(after.date))
                let gap = new - old - before.duration
                #expect(abs(gap) < 0.03, "\(name) \(after.uri): \(gap) s")
            }
        }

        @Test("a second worker on the same directory takes over: the first publishes nothing more and exits 143")
        func superseded() throws {
            let work = try WorkDirectory()
            let first = try RunningRoom(Rooms.small(work.path("out")))
            let one = try Publisher.pattern("ANNA", to: first.url("a"), size: "320x180")
            try first.event("segment.published")
            let second = try RunningRoom(Rooms.small(work.path("out")))
            let two = try Publisher.pattern("ANNA", to: second.url("a"), size: "320x180")
            #expect(try first.child.wait(timeout: 20) == 143)
            #expect(first.events("room.superseded").count == 1)
            try second.segments(1)
            #expect(try second.end() == 0)
            for publisher in [one, two] { publisher.stop() }
            for (name, playlist) in try Playlist.all(in: work.path("out")) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(Set(playlist.segments.map(\.uri)).count == playlist.segments.count, "\(name)")
            }
        }

        @Test("a directory whose room has ended is refused with 73, and taken with --new-session")
        func endedDirectory() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("a.mp4"), size: "320x180", seconds: 1)
            let pipeline = Rooms.offline(
                (work.path("a.mp4"), work.path("a.mp4")), seconds: 1, renditions: Rooms.small,
                outputs: #"{ "type": "hls", "path": "\#(work.path("out"))" }"#, canvas: #""width": 320, "height": 180"#)
            #expect(try Command.tandem(["run", "-"], input: pipeline).code == 0)
            let refused = try Command.tandem(["run", "-"], input: pipeline)
            #expect(refused.code == 73)
            #expect(refused.errors.contains("--new-session"), "\(refused.errors)")
            #expect(try Command.tandem(["run", "-", "--new-session"], input: pipeline).code == 0)
            #expect(try Playlist(contentsOf: work.path("out/180p.m3u8")).isEnded)
        }

        @Test(
            "64: unknown flags",
            arguments: [
                ["run", "x.json", "--nope"], ["run"], ["run", "-", "--set", "noequals"], ["dance"],
                ["run", "-", "--duration", "0"],
                ["manifest", "-", "--for", "k8s", "--viewers", "9223372036854775807"],
            ])
        func usage(arguments: [String]) throws {
            let result = try Command.tandem(arguments, input: "{}")
            #expect(result.code == 64)
            #expect(!result.errors.isEmpty)
        }

        @Test("65: a broken pipeline, each mistake with path, line, column and remedy", arguments: ["run", "validate"])
        func brokenPipeline(command: String) throws {
            let work = try WorkDirectory()
            let text = Rooms.small(work.path("out")).replacingOccurrences(of: "\"canvas\"", with: "\"canvs\"")
                .replacingOccurrences(of: "\"layout\": \"sideBySide\"", with: "\"layout\": \"sidebyside\"")
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            let line = try #require(lines.firstIndex { $0.contains("canvs") }) + 1
            let column = try #require(lines[line - 1].firstIndex(of: "\"")).utf16Offset(in: lines[line - 1]) + 1
            let result = try Command.tandem([command, try work.write(text, to: "room.json")])
            #expect(result.code == 65)
            #expect(result.errors.contains(":\(line):\(column)"), "\(result.errors)")
            #expect(result.errors.contains("canvs") && result.errors.contains("\"canvas\""), "\(result.errors)")
            #expect(
                result.errors.contains("scenes[2].layout") && result.errors.contains("sideBySide"), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: work.path("out")), "nothing is made for a broken pipeline")
            #expect(result.errors.contains("[configInvalid]") == (command == "run"), "\(result.errors)")
        }

        @Test("66: a missing pipeline file, a missing source file, and a secret that URLs are signed with")
        func missingFiles() throws {
            let work = try WorkDirectory()
            let noPipeline = try Command.tandem(["run", work.path("no.json")])
            #expect(noPipeline.code == 66 && noPipeline.errors.contains("no.json"), "\(noPipeline.errors)")
            let pipeline = Rooms.offline(
                (work.path("no.mp4"), work.path("no.mp4")), seconds: 1, renditions: Rooms.small,
                outputs: #"{ "type": "hls", "path": "\#(work.path("out"))" }"#)
            let noSource = try Command.tandem(["run", "-"], input: pipeline)
            #expect(noSource.code == 66 && noSource.errors.contains("no.mp4"), "\(noSource.errors)")
            let listener = #""http": { "listen": "127.0.0.1:0""#
            let signed = Rooms.small(work.path("out")).replacingOccurrences(
                of: listener + " }",
                with: listener + #", "signedUrls": { "secretFile": "\#(work.path("no.key"))" } }"#)
            let noSecret = try Command.tandem(["sign-url", "-", "/index.m3u8"], input: signed)
            #expect(noSecret.code == 66 && noSecret.errors.contains("no.key"), "\(noSecret.code) \(noSecret.errors)")
        }

        @Test(
            "69: a port somebody else has, for publishers, viewers and operators",
            arguments: ["rtmp", "http", "control"])
        func takenPort(listener: String) throws {
            let work = try WorkDirectory()
            let path =
                [
                    "rtmp": "ingest.rtmp.listen", "http": "outputs[0].http.listen", "control": "control.listen",
                ][listener] ?? ""
            try LoopbackAddress.withTakenPort { port in
                let result = try Command.tandem(
                    ["run", "-", "--set", "\(path)=127.0.0.1:\(port)"], input: Rooms.small(work.path("out")),
                    timeout: 20)
                #expect(result.code == 69 && result.errors.contains("\(port)"), "\(result.code) \(result.errors)")
            }
        }

        @Test("73: an output directory that is a file")
        func outputIsFile() throws {
            let work = try WorkDirectory()
            let file = try work.write("not a directory", to: "out")
            let result = try Command.tandem(["run", "-"], input: Rooms.small(file), timeout: 20)
            #expect(result.code == 73 && result.errors.contains(file), "\(result.code) \(result.errors)")
            #expect(try Files.text(file) == "not a directory")
        }

        @Test(
            "a room nobody came to ends on SIGINT with 0, drains on SIGTERM with 143",
            arguments: [(SIGINT, Int32(0)), (SIGTERM, Int32(143))] as [(Int32, Int32)])
        func nobodyCame(signal: Int32, code: Int32) throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            #expect(try room.terminate(signal) == code)
            #expect(room.events("room.closed").count == 1)
        }
    }
}
