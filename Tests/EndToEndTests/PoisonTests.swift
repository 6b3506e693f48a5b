import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("A stream that crashes the decoder is quarantined")
    struct PoisonTests {
        private static let room = """
            [{ "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 300000, "preset": "ultrafast" } }]
            """

        /// A library that makes libavcodec crash. If there is no C compiler or no FFmpeg headers, then the current test
        /// ends as skipped.
        private static func poison(_ work: WorkDirectory) throws -> String {
            let compiler = try TestTool.require("cc")
            let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("Scripts/poison.c").path
            let library = work.path("poison.so")
            let result = try Command.run(compiler, ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
            guard result.code == 0 else {
                guard result.errors.contains("No such file or directory") else { throw Missing(result.errors) }
                try TestTool.skip("FFmpeg's headers", String(result.errors.prefix(200)))
            }
            return library
        }

        @Test(
            "after a source has crashed two workers, the third refuses it and the room continues; each successor is back in 2 s"
        )
        func quarantine() throws {
            let work = try WorkDirectory()
            let library = try Self.poison(work)
            let directory = work.path("out")
            let pipeline = Rooms.live(directory, renditions: Self.room, canvas: (320, 180), scene: "pk")
            // When the fatal publisher was admitted, some tenths of a second before the crash.
            var fatal: Double?
            for run in 1...3 {
                // Like a supervisor: restart at once.
                let room = try RunningRoom(pipeline, environment: ["LD_PRELOAD": library])
                let honest = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
                if let fatal {
                    let back = try room.event("program.started").time - fatal
                    let live = try room.event("source.live", uid: "1001").time - fatal
                    try room.event("segment.published") { $0.integer("slate") == 0 }
                    EndToEnd.report(
                        String(
                            format:
                                "poison, worker %d: viewers go on %.2f s after it, the honest one is back after %.2f s",
                            run, back, live))
                    expectTiming(back, atMost: 2, "seconds until viewers continue")
                    expectTiming(live, atMost: 2, "seconds until the good publisher is back")
                } else {
                    // Before the first segment there is nothing to continue.
                    try room.segments(1)
                }
                let poisoned = try Publisher.pattern("BEN", to: room.url("b"), size: "336x192")
                if run < 3 {
                    #expect(room.events("source.quarantined").isEmpty)
                    #expect(try room.child.wait(timeout: 20) == 128 + SIGSEGV, "\(room.child.errors.suffix(300))")
                    #expect(room.child.errors.contains(#""codec":"h264""#), "the last log lines named the source")
                    fatal = try room.event("ingest.publishing", uid: "2002").time
                    for publisher in [honest, poisoned] { publisher.stop() }
                    continue
                }
                let told = try room.event("source.quarantined")
                #expect(told.text("uid") == "2002" && told.text("codec") == "h264")
                #expect(try poisoned.child.wait(timeout: 20) != 0, "it is refused")
                #expect(poisoned.child.errors.contains("could not be decoded safely"), "\(poisoned.child.errors)")
                try room.segments(1)
                let sources = try #require(try room.state()["sources"] as? [[String: Any]])
                let refused = sources.first { $0["uid"] as? String == "2002" }?["refused"] as? [String: Any]
                #expect(refused?["reason"] as? String == "quarantined")
                #expect(sources.first?["state"] as? String == "live" && sources.first?["refused"] is NSNull)
                let kicked = try HTTPClient.request(
                    "POST", room.control, "/v1/sources/2002:kick", body: #"{"refuseSeconds":1}"#)
                #expect(kicked.body.contains(#""reason":"quarantined""#), "a kick does not shorten it: \(kicked.body)")
                // The operator may lift the quarantine.
                let lifted = try HTTPClient.request(
                    "POST", room.control, "/v1/sources/2002:kick", body: #"{"refuseSeconds":0}"#)
                #expect(lifted.status == 200, "\(lifted.body)")
                let healthy = try Publisher.pattern("BEN", to: room.url("b"), size: "320x180")
                try room.event("source.live", uid: "2002")
                try Self.expectKicked(healthy, from: room)
                #expect(try room.end() == 0)
                for publisher in [honest, healthy] { publisher.stop() }
            }
            let lists = try Playlist.all(in: directory)
            for (name, playlist) in lists {
                #expect(playlist.isEnded && playlist.segments.allSatisfy { !$0.isDiscontinuity }, "\(name)")
            }
        }

        /// Checks that a kicked `tandem publish` prints the reason, and that `tandem ctl kick` names a stream type that the room
        /// does not have.
        private static func expectKicked(_ publisher: Publisher, from room: RunningRoom) throws {
            let reply = try HTTPClient.request(
                "POST", room.control, "/v1/sources/2002:kick", body: #"{"refuseSeconds":600}"#)
            #expect(reply.status == 200, "\(reply.body)")
            #expect(try publisher.child.wait(timeout: 10) != 0)
            #expect(publisher.child.errors.contains("operator has ended"), "\(publisher.child.errors)")
            let sub = try Command.tandem(["ctl", "kick", "1001", "--stream-type", "sub", "-a", room.control])
            #expect(sub.code == 1 && sub.errors.contains("1001 (sub)"), "\(sub.code) \(sub.output)\(sub.errors)")
        }
    }
}
