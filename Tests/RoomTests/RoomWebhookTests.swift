import Foundation
import MediaTypes
import PipelineSpec
import Testing

extension InProcess {
    @Suite("Webhooks of a live room, changed by a document")
    struct WebhookTests {
        private static func url(_ name: String) -> String { "https://\(name).example/?token=\(name)" }

        private static func hook(_ name: String, secret: String) -> String {
            #"{"type":"webhook","url":"\#(Self.url(name))","secretFile":"\#(secret)"}"#
        }

        private static func path(ofFirstMistake reply: RoomHarness.Reply) -> String? {
            guard case .array(let errors)? = reply.member("errors")?.content else { return nil }
            return errors.first?[key: "path"]?.string
        }

        @Test(
            "a webhook added by PATCH receives events from room.changed on; undelivered events of a removed webhook are dropped"
        )
        func comingAndGoing() async throws {
            let (directory, given) = (try RoomDirectory(), try RoomDirectory())
            defer { for directory in [directory, given] { directory.remove() } }
            try given.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", to: "hook")
            let control =
                #"{ "secretsDirectory": "\#(given.path)", "egress": { "allowedHosts": ["one.example", "two.example"] } }"#
            let pipeline = HarnessRooms.duel(directory.path, members: #""control": \#(control),"#)
            let receivers = ScriptedReceivers()
            let room = try await RoomHarness.open(pipeline, receivers: receivers)
            try await room.goLive(HarnessRooms.first)
            let (first, second) = (
                Self.hook("one", secret: "\(given.path)/hook"), Self.hook("two", secret: "\(given.path)/hook")
            )
            let (one, two) = (Self.url("one"), Self.url("two"))
            @discardableResult
            func hooks(_ list: [String], status: Int = 200) async throws -> RoomHarness.Reply {
                try await room.command(
                    .patch, "/v1/room", #"{"control":{"events":[\#(list.joined(separator: ","))]}}"#, status: status)
            }

            try await hooks([first])
            try await receivers.wait(for: "room.changed", by: one)
            #expect(receivers.taken(by: one).first?.type == "room.changed", "nothing from before it was named")
            receivers.set(two, refuses: true)
            try await hooks([first, second])
            try await room.told("webhook.failing")
            let missing = try await hooks([Self.hook("one", secret: "\(given.path)/none"), second], status: 403)
            #expect(Self.path(ofFirstMistake: missing) == "control.events[0].secretFile", "\(missing.body)")
            // As GET /v1/document shows it.
            let shown = try await hooks(
                [first.replacingOccurrences(of: "/?token=one", with: ""), second], status: 422)
            #expect(Self.path(ofFirstMistake: shown) == "control.events[0].url", "\(shown.body)")
            try await hooks([first])
            let gone = try await room.told("webhook.removed")
            #expect(try #require(gone.integer("undelivered")) > 0, "\(gone)")
            receivers.set(two, refuses: false)
            try await room.command(
                .patch, "/v1/room", #"{"scenes":[{"sceneId":"solo","layout":"solo","uids":["1001"],"revision":5}]}"#)
            try await receivers.wait(for: "scene.changed", by: one)
            #expect(receivers.taken(by: two).isEmpty, "what it did not take stays untaken")
            let mark = room.events.count
            try await hooks([second, first])
            let changed = try await room.told("room.changed", from: mark)
            try await receivers.wait(for: "room.changed", by: two)
            #expect(receivers.taken(by: two).first?.sequence == changed.integer("sequence"), "it is a new one")
            try await room.run(seconds: 1)
            let ticks = try await room.state().member("ticks")
            #expect(ticks?[key: "late"]?.integer == 0 && ticks?[key: "lost"]?.integer == 0)
            try await room.end()

            let numbers = receivers.taken(by: one).map(\.sequence)
            let from = try #require(numbers.first)
            #expect(numbers == Array(from..<from + Int64(numbers.count)), "in order, none lost")
            #expect(receivers.taken(by: one).last?.type == "room.closed")
            #expect(numbers.last == room.events.all("room.closed").first?.integer("sequence"))
            #expect(room.events.types().last == "room.closed")
        }
    }
}
