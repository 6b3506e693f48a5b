import Foundation
import HLS
import MediaTypes
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("Unpublish, drain, and takeover by another worker")
    struct LifecycleTests {
        /// A room whose first source is live and that has published several segments.
        private static func live(_ directory: RoomDirectory) async throws -> RoomHarness {
            let room = try await RoomHarness.open(HarnessRooms.duel(directory.path))
            try await room.goLive(HarnessRooms.first)
            try await room.publish(seconds: 5)
            return room
        }

        /// Checks that each segment starts where the one before ended.
        private static func expectContiguous(_ segments: [ToldEvent]) throws {
            for (one, next) in zip(segments, segments.dropFirst()) {
                let end = try #require(one.integer("firstTick")) + #require(one.integer("ticks"))
                #expect(next.integer("firstTick") == end, "\(next.line)")
            }
        }

        @Test("a room whose publisher leaves runs on without a gap in its segments, and the publisher can return")
        func unpublish() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let room = try await Self.live(directory)
            let mark = room.events.count
            try await room.drop(HarnessRooms.first)
            try await room.run(until: "source.lost", uid: HarnessRooms.first, from: mark)
            try await room.publish(seconds: 5)
            #expect(room.events.all("segment.published", from: mark).count >= 2)
            try await room.goLive(HarnessRooms.first)
            try await room.publish(seconds: 3)
            let ticks = try await room.state().member("ticks")
            #expect(ticks?[key: "late"]?.integer == 0 && ticks?[key: "lost"]?.integer == 0)
            guard case .ended = try await room.end() else {
                Issue.record("the room has not ended")
                return
            }
            try Self.expectContiguous(room.segments)
            let playlist = try directory.playlist("90p.m3u8")
            #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity } && playlist.isEnded)
            directory.lint()
        }

        @Test(
            "a drained worker leaves its playlists without ENDLIST; its successor continues segment numbers and dates"
        )
        func drain() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let first = try await Self.live(directory)
            try await first.command(.post, "/v1/room:drain", status: 202)
            guard case .drained = try await first.finish() else {
                Issue.record("the worker has not drained")
                return
            }
            for (name, playlist) in try directory.playlists() { #expect(!playlist.isEnded, "\(name)") }
            let second = try await RoomHarness.open(
                HarnessRooms.duel(directory.path), at: first.wall.now() + 2 * RoomHarness.second, .slate)
            try await second.goLive(HarnessRooms.first)
            try await second.publish(seconds: 5)
            try await second.end()

            let last = try #require(first.segments.last?.integer("mediaSequence"))
            #expect(second.segments.first?.integer("mediaSequence") == last + 1)
            #expect(first.segments.allSatisfy { $0.integer("incarnation") == 1 })
            #expect(second.segments.allSatisfy { $0.integer("incarnation") == 2 })
            let origins = [first, second].map { $0.events.all("program.started").first?.text("origin") }
            #expect(origins[0] != nil && origins[0] == origins[1], "one origin for the life of the room")
            let segments = first.segments + second.segments
            try Self.expectContiguous(segments)
            let origin = try #require(origins[0].flatMap { ProgramDate.parse($0) })
            for (name, playlist) in try directory.playlists() {
                #expect(playlist.isEnded, "\(name)")
                #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity }, "\(name): the outage is slate")
                #expect(Set(playlist.segments.map(\.map)).count == 1, "\(name)")
                guard name == "90p.m3u8" else { continue }
                let dates = segments.map { origin + ($0.integer("firstTick") ?? 0) * RoomHarness.second / 10 }
                let listed = playlist.segments.map { $0.date ?? 0 }
                #expect(listed.count == dates.count)
                #expect(
                    zip(listed, dates).allSatisfy { abs($0 - $1) <= 2_000_000 }, "a date is the origin plus the tick")
            }
            directory.lint()
        }

        @Test("a successor that is ended before a publisher returns adds ENDLIST to its predecessor's playlists")
        func endsWhatItFound() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let first = try await Self.live(directory)
            try await first.command(.post, "/v1/room:drain", status: 202)
            _ = try await first.finish()
            // Too long ago for slate: nothing is on air until a source publishes.
            let second = try await RoomHarness.open(
                HarnessRooms.duel(directory.path), at: first.wall.now() + 7_200 * RoomHarness.second)
            guard case .ended = try await second.end() else {
                Issue.record("the room has not ended")
                return
            }
            #expect(second.events.all("program.started").isEmpty && second.events.all("playlist.ended").count == 1)
            let lists = try directory.playlists()
            #expect(!lists.isEmpty)
            for (name, playlist) in lists { #expect(playlist.isEnded && playlist.segments.count >= 2, "\(name)") }
        }

        @Test("a second worker on the same directory takes over; the first one publishes no further segment")
        func superseded() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let first = try await Self.live(directory)
            let second = try await RoomHarness.open(
                HarnessRooms.duel(directory.path), at: first.wall.now() + RoomHarness.second, .slate)
            try await second.goLive(HarnessRooms.first)
            let mark = first.events.count
            // Its next write finds the newer worker.
            try await first.run(seconds: 3)
            try await first.told("room.superseded")
            guard case .superseded = try await first.finish() else {
                Issue.record("the first worker has not been superseded")
                return
            }
            #expect(first.events.all("room.superseded").count == 1)
            #expect(first.events.all("segment.published", from: mark).isEmpty)
            try await second.publish(seconds: 5)
            try await second.end()
            for (name, playlist) in try directory.playlists() {
                #expect(playlist.isEnded, "\(name)")
                #expect(Set(playlist.segments.map(\.uri)).count == playlist.segments.count, "\(name)")
            }
            directory.lint()
        }

        @Test(
            "a successor starts at the overload level recorded in the directory; a new room ignores the record")
        func overloadHandedOn() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            func keep(at date: Int64) throws {
                let record =
                    #"{"version":1,"level":"halfPictures","distanceMs":60000,"writtenAt":\#(date / 1_000_000)}"#
                try directory.write(record, to: "overload.json")
            }
            try keep(at: RoomHarness.date)
            let first = try await Self.live(directory)
            #expect(first.events.all("encoder.overload_step").isEmpty)
            first.kill()
            let date = first.wall.now() + 2 * RoomHarness.second
            try keep(at: date)
            let second = try await RoomHarness.open(HarnessRooms.duel(directory.path), at: date, .slate)
            #expect(second.events.types().first == "room.ready", "room.ready is the first event")
            let steps = second.events.all("encoder.overload_step")
            #expect(steps.map { $0.text("step") } == ["decoding", "halfPictures"])
            #expect(
                steps.allSatisfy { $0.member("taken")?.content == .boolean(true) && $0.integer("lagMs") == 0 })
            try await second.run(until: "alarm.set") {
                $0.member("alarm", "message")?.string?.contains("this machine cannot keep up") == true
            }
            try await second.end()
        }
    }
}
