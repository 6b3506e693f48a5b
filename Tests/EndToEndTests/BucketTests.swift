import Foundation
import Glibc
import Testing

extension Unhurried.Stores {
    @Suite("HLS uploads to buckets of three S3 services that check AWS Signature Version 4")
    struct BucketTests {
        /// A room with short segments that are soon deleted, and sprite sheets.
        private static func room(_ directory: String, outputs: [String]) -> String {
            let image = #"""
                { "type": "image", "path": "\#(directory)/thumb.jpg", "intervalSeconds": 1, "sprites": { "columns": 2, "rows": 2,
                  "intervalSeconds": 1, "width": 64 } }
                """#
            return Rooms.small(directory, members: #""shutdown": { "endTimeoutMs": 5000 },"#)
                .replacingOccurrences(
                    of: #""windowSeconds": 600"#,
                    with: #""windowSeconds": 3, "segmentGops": 1, "deleteGraceSeconds": 0"#
                ).replacingOccurrences(
                    of: #""outputs": ["#, with: #""outputs": [ \#((outputs + [image]).joined(separator: ", ")),"#)
        }

        @Test(
            "listed files arrive in a bucket unchanged, old segments are deleted; with a wrong secret none arrive, and the room stays live",
            arguments: Bucket.Service.allCases)
        func bucket(_ service: Bucket.Service) throws {
            let work = try WorkDirectory()
            let bucket = try Bucket.start(service, work.path("bucket"))
            defer { bucket.stop() }
            let out = work.path("out")
            let room = try RunningRoom(
                Self.room(
                    out,
                    outputs: [
                        bucket.output("right", prefix: "live/", members: #", "retryForMs": 10000"#),
                        bucket.output("wrong", prefix: "wrong/", secret: "WRONG_SECRET"),
                    ]), environment: bucket.environment)
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop(SIGKILL) }
            let refused = try room.event("output.unreachable", timeout: 30) { $0.text("outputId") == "wrong" }
            #expect(refused.text("reason") == "status 403 SignatureDoesNotMatch")
            try room.segments(2)
            try room.event("output.lost") { $0.text("outputId") == "wrong" }
            try Self.expectDeletions(room, bucket, beside: out)
            let stores = try #require(try room.state()["outputs"] as? [[String: Any]]).filter { $0["target"] != nil }
            #expect(stores.first?["state"] as? String == "live" && stores.last?["objects"] as? Int == 0, "\(stores)")
            let viewer = try #require(room.viewer)
            #expect(try HTTPClient.request("GET", viewer, "/180p.m3u8").body.contains("#EXT-X-PART:"))
            // The store that accepted nothing still lacks everything.
            #expect(try room.end() == 75)
            #expect(room.events("output.finished").map { $0.text("outputId") } == ["right"])
            #expect(room.events("output.unfinished").map { $0.text("outputId") } == ["wrong"])
            #expect(room.events("output.lost").allSatisfy { $0.text("outputId") == "wrong" })
            try Self.expectAll(bucket.look(beside: out), service)
        }

        /// Checks that the segments that the bucket has now are deleted, within 30 segments.
        private static func expectDeletions(_ room: RunningRoom, _ bucket: Bucket, beside directory: String) throws {
            func segments() throws -> Set<String> {
                Set(try bucket.look(beside: directory).objects.map(\.key).filter { $0.hasSuffix(".m4s") })
            }
            let early = try segments()
            #expect(!early.isEmpty)
            var left = early
            for _ in 0..<30 where !left.isEmpty {
                try room.segments(1)
                left = try segments().intersection(early)
            }
            #expect(left.isEmpty, "objects that no player can need are deleted")
        }

        private static func expectAll(
            _ there: (objects: [Bucket.Object], playlists: [String: String]), _ service: Bucket.Service
        ) throws {
            let keys = Set(there.objects.map(\.key))
            #expect(keys.allSatisfy { $0.hasPrefix("live/") }, "\(keys)")
            let other = there.objects.filter {
                $0.isSame == false && !$0.key.hasSuffix(".m3u8") && $0.key != "live/thumb.jpg"
            }
            #expect(other.isEmpty, "bytes differ from the room's: \(other.map(\.key))")
            #expect(there.playlists.count >= 3 && there.playlists["live/index.m3u8"] != nil, "\(there.playlists.keys)")
            var listed = 0
            for (name, text) in there.playlists where name != "live/index.m3u8" {
                // Plain HLS, although the room's own listener serves low-latency HLS.
                #expect(text.contains("#EXT-X-ENDLIST") && !text.contains("#EXT-X-PART"), "\(name): \(text)")
                for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                    #expect(keys.contains("live/\(line)"), "\(name) lists \(line)")
                    listed += 1
                }
                for map in text.components(separatedBy: "#EXT-X-MAP:URI=\"").dropFirst() {
                    #expect(keys.contains("live/\(map.prefix { $0 != "\"" })"))
                }
            }
            #expect(listed >= 6)
            let index = try #require(there.objects.first { $0.key == "live/thumb.vtt" })
            #expect(index.isSame == true)
            let sheets = there.objects.filter { $0.key.hasPrefix("live/thumb-") && $0.isSame == true }
            #expect(sheets.count >= 2, "\(keys)")
            EndToEnd.report(
                "\(service.rawValue): \(keys.count) objects, \(listed) segments listed, \(sheets.count) sheets")
            guard service.keepsFields else { return }
            for (suffix, type, caching) in [
                (".m4s", "video/mp4", "public, max-age=31536000, immutable"), ("thumb.vtt", "text/vtt", "max-age=1"),
                ("index.m3u8", "application/vnd.apple.mpegurl", "max-age=1"),
                ("-0.jpg", "image/jpeg", "max-age=1"),
            ] {
                let object = try #require(there.objects.first { $0.key.hasSuffix(suffix) })
                #expect(object.type == type && object.caching == caching, "\(object)")
            }
        }
    }
}
