import Foundation
import Glibc
import HLS
import Testing

extension EndToEnd {
    @Suite("A PK: phases by timers and by command, and what a loss does to it")
    struct PKTests {
        private static func room(_ work: WorkDirectory, grace: Int, pk: String?, onLost: String = "") -> String {
            var text = Rooms.small(work.path("out"), members: pk.map { "\"pk\": \($0), " } ?? "")
            text = text.replacingOccurrences(
                of: #""listen": "127.0.0.1:0" } },"#,
                with: #""listen": "127.0.0.1:0", "reconnectGraceMs": \#(grace) } },"#)
            guard !onLost.isEmpty else { return text }
            return text.replacingOccurrences(
                of: #""streamKey": "b","#, with: #""streamKey": "b", "onLost": \#(onLost),"#)
        }

        private static func publish(_ key: String, _ work: WorkDirectory, to room: RunningRoom) throws -> Publisher {
            try Publisher(EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url(key), "--loop"])
        }

        private static func post(_ room: RunningRoom, _ verb: String, _ body: String = "{}") throws -> HTTPClient.Reply
        {
            try HTTPClient.request("POST", room.control, "/v1/pk:\(verb)", body: body)
        }

        private static func scene(_ room: RunningRoom) throws -> String? {
            (try room.state()["program"] as? [String: Any])?["scene"] as? String
        }

        @Test(
            "NetEase 4, NetEase 5, NetEase 6: by timers: ready, countdown, pk, punish, end, each on program time; then a final loss ends one by itself"
        )
        func wholePK() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
            let pk = """
                { "scene": "pk", "start": "whenReady", "countdownMs": 1000, "durationMs": 2000, "punishMs": 1000,
                  "punishScene": "guest", "endScene": "solo" }
                """
            let room = try RunningRoom(Self.room(work, grace: 1500, pk: pk))
            let a = try Self.publish("a", work, to: room)
            let b = try Self.publish("b", work, to: room)
            try room.event("pk.ready")
            let ended = try room.event("pk.ended", timeout: 10)
            #expect(ended.text("reason") == "timer")
            let phases = room.events.filter { $0.type.hasPrefix("pk.") && $0.type != "pk.ready" }
            #expect(phases.map(\.type) == ["pk.countdown", "pk.started", "pk.punish", "pk.ended"])
            let times = phases.compactMap { $0.integer("programTimeMs") }
            for (step, length) in zip(zip(times, times.dropFirst()).map { $1 - $0 }, [1000, 2000, 1000]) {
                EndToEnd.report("a phase of \(length) ms took \(step) ms")
                #expect(abs(step - length) <= 100)
            }
            // The end's scene is composed after the end is told.
            try room.event("program.scene") { $0.text("scene") == "solo" }
            #expect(room.events("program.scene").map { $0.text("scene") } == ["pk", "guest", "solo"])

            #expect(try Self.post(room, "punish").status == 409)
            let started = try Self.post(room, "start", #"{"countdownMs":0,"durationMs":60000}"#)
            #expect(started.status == 200 && started.json()["phase"] as? String == "pk", "\(started.body)")
            #expect(try Self.scene(room) == "pk")
            let mark = room.now
            b.child.signal(SIGKILL)
            let lost = try room.event("source.lost", uid: "2002", from: mark)
            let final = try room.event("source.lost_final", uid: "2002", from: mark)
            #expect(abs(final.time - lost.time - 1.5) <= 0.3)
            let end = try room.event("pk.ended", from: mark)
            #expect(end.text("reason") == "sourceLost" && end.text("uid") == "2002")
            try room.event("program.scene", from: mark) { $0.text("scene") == "solo" }
            let back = room.now
            let again = try Self.publish("b", work, to: room)
            try room.event("source.live", uid: "2002", from: back)
            try room.segments(1)
            #expect(try Self.scene(room) == "solo", "it is live, and in no scene until a command shows it")
            try room.put(scene: "pk")
            #expect(try Self.scene(room) == "pk")
            #expect(try room.end() == 0)
            for publisher in [a, b, again] { publisher.stop(SIGKILL) }
        }

        @Test(
            "then: leavePane and fallbackScene; both return with the source", arguments: ["leavePane", "fallbackScene"])
        func absence(then: String) throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
            let fallback = then == "fallbackScene" ? #", "fallbackScene": "solo""# : ""
            let room = try RunningRoom(
                Self.room(
                    work, grace: 15_000, pk: nil, onLost: #"{ "holdMs": 500, "then": "\#(then)"\#(fallback) }"#))
            let a = try Self.publish("a", work, to: room)
            let b = try Self.publish("b", work, to: room)
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            try room.put(scene: "pk")
            try room.event("program.scene") { $0.text("scene") == "pk" }
            let mark = room.now
            b.child.signal(SIGKILL)
            let lost = try room.event("source.lost", uid: "2002", from: mark)
            let change = try room.event("program.scene", from: mark)
            EndToEnd.report("\(then) \(String(format: "%.3f", change.time - lost.time)) s after the loss (hold 0.5)")
            #expect(change.time - lost.time >= 0.45 && change.time - lost.time <= 1)
            #expect(change.text("scene") == (then == "leavePane" ? "pk" : "solo"))
            #expect(change.line.contains(#""without":["2002"]"#) == (then == "leavePane"))
            let back = room.now
            let again = try Self.publish("b", work, to: room)
            let live = try room.event("source.live", uid: "2002", from: back)
            let restored = try room.event("program.scene", from: back)
            #expect(restored.text("scene") == "pk" && restored.line.contains(#""without":[]"#))
            #expect(restored.time - live.time <= 0.5)
            #expect(try room.end() == 0)
            for publisher in [a, b, again] { publisher.stop(SIGKILL) }
        }

        @Test("offline a PK runs on program time: each phase begins at its very tick")
        func offline() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            for name in ["a.mp4", "b.mp4"] { try media.make(work.path(name), size: "320x180", seconds: 4) }
            let text = Rooms.offline(
                (work.path("a.mp4"), work.path("b.mp4")), seconds: 4, renditions: Rooms.small,
                outputs: #"{ "type": "hls", "path": "\#(work.path("out"))" }"#, canvas: #""width": 320, "height": 180"#)
            let pk = #""pk": { "scene": "scene", "start": "whenReady", "countdownMs": 500, "durationMs": 1000 },"#
            let result = try Command.tandem(
                ["run", "-"],
                input: text.replacingOccurrences(of: #""clock": "offline","#, with: #""clock": "offline", "# + pk))
            #expect(result.code == 0, "\(result.errors)")
            let events = result.output.split(separator: "\n").compactMap { Event(String($0)) }
            let phases = events.filter { ["pk.countdown", "pk.started", "pk.ended"].contains($0.type) }
            let dates = phases.compactMap { $0.text("at").flatMap { ProgramDate.parse($0) } }
            #expect(phases.map(\.type) == ["pk.countdown", "pk.started", "pk.ended"])
            #expect(zip(dates, dates.dropFirst()).map { ($1 - $0) / 1_000_000 } == [500, 1000])
        }

        private static let takeover = [
            "ingest.lost", "ingest.publishing", "source.reconnecting", "source.first_frame", "source.live",
        ]

        @Test("two encoders fight for a key: the third takeover in ten seconds is refused, and an event says so")
        func flapping() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
            let room = try RunningRoom(Self.room(work, grace: 15_000, pk: nil))
            var publishers: [Publisher] = []
            for round in 0..<4 {
                let mark = room.now
                publishers.append(try Self.publish("a", work, to: room))
                try room.event(round < 3 ? "ingest.publishing" : "ingest.flapping", uid: "1001", from: mark)
                // Only a publisher that sends is a rival.
                if round < 3 { try room.event("source.live", uid: "1001", from: mark) }
                guard (1...2).contains(round) else { continue }
                let told = room.child.outputLines.dropFirst(mark).compactMap { Event($0)?.type }
                #expect(told.filter { Self.takeover.contains($0) } == Self.takeover, "always in this order")
            }
            #expect(try publishers[3].child.wait(timeout: 5) == 77)
            #expect(publishers[2].child.isRunning, "the one that is on stays")
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop(SIGKILL) }
        }
    }
}
