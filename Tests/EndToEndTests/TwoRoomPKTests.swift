import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

extension Unhurried.Access {
    @Suite("A PK of two rooms that relay their publishers to each other")
    struct TwoRoomPKTests {
        /// Largest difference between the ends of the two PKs, in milliseconds.
        private static let bar = 100.0

        /// A room whose own publisher has the key `own`; the other room's publisher arrives over a relay.
        private static func room(_ work: WorkDirectory, own: String, far: String, rtmp: String = "127.0.0.1:0")
            -> String
        {
            Rooms.small(
                work.path(own), rtmp: rtmp,
                members: #""pk": { "scene": "pk", "durationMs": 120000, "endScene": "solo" }, "#
            ).replacingOccurrences(of: #""streamKey": "a""#, with: #""streamKey": "own""#)
                .replacingOccurrences(of: #""streamKey": "b""#, with: #""streamKey": "far-9f31c2""#)
                .replacingOccurrences(of: "1001", with: own).replacingOccurrences(of: "2002", with: far)
        }

        /// When the PK of a room ends, in seconds since the Unix epoch: the earliest and latest time that its reply
        /// allows.
        private static func end(_ room: RunningRoom) throws -> ClosedRange<Double> {
            let sent = Date().timeIntervalSince1970
            let state = try room.state()
            let answered = Date().timeIntervalSince1970
            let pk = try #require(state["pk"] as? [String: Any])
            let remaining = Double(try #require(pk["remainingMs"] as? Int, "\(pk)")) / 1000
            #expect(pk["phase"] as? String == "pk")
            #expect((state["program"] as? [String: Any])?["scene"] as? String == "pk")
            return sent + remaining...answered + remaining + 0.001
        }

        private static func knowsEnd(_ room: RunningRoom) throws -> Bool {
            (try room.state()["pk"] as? [String: Any])?["remainingMs"] is Int
        }

        private static func expectSameEnd(_ one: RunningRoom, _ two: RunningRoom, _ when: String) throws {
            let (first, second) = (try Self.end(one), try Self.end(two))
            // The distance between the two ranges is not an uncertainty of the requests.
            let apart = max(0, first.lowerBound - second.upperBound, second.lowerBound - first.upperBound) * 1000
            let middle = (first.lowerBound + first.upperBound - second.lowerBound - second.upperBound) * 500
            EndToEnd.report(
                String(format: "%@: the PKs end %.0f ms apart, %.0f ms at least (bar: 100)", when, abs(middle), apart))
            expectTiming(apart, atMost: Self.bar, "milliseconds between the ends of the PKs, \(when)")
        }

        @Test(
            "the PKs of two rooms, started together, end at most 100 ms apart, also if one worker is killed and replaced"
        )
        func sameEnd() throws {
            let work = try WorkDirectory()
            let one = try RunningRoom(Self.room(work, own: "anna", far: "ben"))
            let two = try RunningRoom(Self.room(work, own: "ben", far: "anna"))
            let anna = try Publisher.pattern("ANNA", to: one.url("own"), size: "320x180")
            let ben = try Publisher.pattern("BEN", to: two.url("own"), size: "320x180")
            for (near, far, uid) in [(one, two, "anna"), (two, one, "ben")] {
                let reply = try HTTPClient.request(
                    "PUT", near.control, "/v1/sources/\(uid)/relays/pk",
                    body: #"{"url":"\#(far.rtmp)/live/far-9f31c2"}"#)
                #expect(reply.status == 200, "\(reply.body)")
            }
            for room in [one, two] { for uid in ["anna", "ben"] { try room.event("source.live", uid: uid) } }
            let statuses = Mutex<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                let reply = try? HTTPClient.request("POST", [one, two][index].control, "/v1/pk:start", body: "{}")
                statuses.withLock { $0.append(reply?.status ?? 0) }
            }
            #expect(statuses.withLock { $0 } == [200, 200])
            for room in [one, two] { try room.event("program.scene") { $0.text("scene") == "pk" } }
            try Self.expectSameEnd(one, two, "two PKs started together")
            // A successor shows slate only if viewers saw something before.
            try two.segments(1, countsShort: true)

            let mark = one.now
            #expect(try two.terminate(SIGKILL) == 137)
            ben.stop(SIGKILL)
            try one.event("source.lost", uid: "ben", from: mark)
            let address = two.rtmp.replacingOccurrences(of: "rtmp://", with: "")
            let successor = try RunningRoom(Self.room(work, own: "ben", far: "anna", rtmp: address))
            #expect(try successor.event("room.resumed").line.contains(#""notRestored":[]"#))
            // The end of a restored phase is known once the program clock runs.
            let limit = Date().addingTimeInterval(5)
            while Date() < limit, try !Self.knowsEnd(successor) { Thread.sleep(forTimeInterval: 0.02) }
            try Self.expectSameEnd(one, successor, "after a kill, before anybody publishes again")
            let again = try Publisher.pattern("BEN", to: successor.url("own"), size: "320x180")
            // The relays of both rooms connect again.
            for uid in ["anna", "ben"] { try successor.event("source.live", uid: uid) }
            try one.event("source.live", uid: "ben", from: mark)
            try Self.expectSameEnd(one, successor, "with the publishers of both rooms back")
            for room in [one, successor] { #expect(try room.end() == 0) }
            for publisher in [anna, again] { publisher.stop(SIGKILL) }
        }
    }
}
