import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Sources added to and removed from a live room")
    struct GuestTests {
        private struct Guest {
            var uid: String
            var key: String
        }

        private static let trio =
            #"{ "sceneId": "trio", "layout": "grid", "uids": ["1001", "2002", "3003"], "transition": { "type": "cut" } }"#
        private static let pk = #"{ "sceneId": "pk", "layout": "sideBySide", "uids": ["1001", "2002"] }"#

        private static func document(_ room: RunningRoom, _ guests: [Guest], scenes: [String], program: String)
            -> String
        {
            let sources = guests.map { #"{ "uid": "\#($0.uid)", "streamKey": "\#(room.key($0.key))" }"# }
            return #"""
                { "sources": [\#(sources.joined(separator: ", "))], "scenes": [\#(scenes.joined(separator: ", "))],
                  "program": { "scene": "\#(program)" } }
                """#
        }

        private static func patch(_ room: RunningRoom, _ body: String, status: Int = 200) throws -> [String: Any] {
            let reply = try HTTPClient.request("PATCH", room.control, "/v1/room", body: body)
            #expect(reply.status == status, "\(reply.body)")
            room.secrets.note(reply.body)
            return reply.json()
        }

        /// Whether an unknown publisher with this key is refused.
        private static func isRefused(_ key: String, by room: RunningRoom) throws -> Bool {
            let stranger = try Publisher.pattern("NOBODY", to: room.url(key), size: "320x180")
            defer { stranger.stop(SIGKILL) }
            return try stranger.child.wait(timeout: 10) == 77
        }

        /// Resident memory in MiB, and threads.
        private static func cost(of room: RunningRoom) throws -> (memory: Double, threads: Int) {
            let text = try Files.text("/proc/\(room.child.pid)/status")
            func number(_ name: String) throws -> Int {
                let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name):") })
                return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
            }
            return (Double(try number("VmRSS")) / 1024, try number("Threads"))
        }

        @Test(
            "after a source and its scene on air are added and removed 200 times, memory is within 8 MiB and threads within 2 of before"
        )
        func many() throws {
            _ = try Media.require()
            let work = try WorkDirectory()
            let room = try RunningRoom(
                Rooms.live(work.path("out"), renditions: Rooms.small, canvas: (320, 180), scene: "pk"))
            let (a, b, c) = (
                Guest(uid: "1001", key: "a"), Guest(uid: "2002", key: "b"), Guest(uid: "3003", key: "c")
            )
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.event("source.live")
            try room.segments(1)
            let with = Self.document(room, [a, c, b], scenes: [Self.pk, Self.trio], program: "trio")
            let without = Self.document(room, [a, b], scenes: [Self.pk], program: "pk")
            func cycle() throws {
                _ = try Self.patch(room, with)
                _ = try Self.patch(room, without)
            }
            // Memory that the first cycles allocate permanently is not growth.
            for _ in 0..<20 { try cycle() }
            let before = try Self.cost(of: room)
            var most = before
            let start = Date()
            for _ in 0..<200 {
                try cycle()
                let now = try Self.cost(of: room)
                most = (max(most.memory, now.memory), max(most.threads, now.threads))
            }
            let spent = Date().timeIntervalSince(start)
            #expect(try Self.isRefused("c", by: room))
            try room.segments(1)
            let after = try Self.cost(of: room)
            EndToEnd.report(
                "200 guests in \(String(format: "%.1f", spent)) s: from \(before) over \(most) to \(after) (MiB, threads)"
            )
            #expect(after.memory - before.memory < 8 && after.threads <= before.threads + 2)
            #expect(most.memory - before.memory < 16 && most.threads <= before.threads + 6)
            #expect(room.events("source.removed").count == 220 && room.events("source.added").count == 220)
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            expectOnTime(ticks)
            #expect(try room.end() == 0)
            publisher.stop(SIGKILL)
            #expect(!(try Files.text(work.path("out/180p.m3u8"))).contains("#EXT-X-DISCONTINUITY\n"))
        }
    }
}
