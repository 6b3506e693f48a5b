import Foundation
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("Moderation: stills for a service that can cover sources, and stills on request")
    struct ModerationTests {
        private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

        @Test(
            "a moderation service receives signed stills of key frames before viewers see them, and its answer covers the source"
        )
        func covers() throws {
            let python = try TestTool.require("python3")
            _ = try Media.require()
            let work = try WorkDirectory()
            let service = try Child(python, ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/moderator.py", Self.secret])
            defer { service.stop(SIGKILL) }
            let port = try #require(service.line(from: 0, timeout: 10) { _ in true }).line
            let pipeline = Rooms.small(
                work.path("out"),
                members: """
                    "moderation": { "stills": { "intervalSeconds": 1, "width": 160,
                      "webhook": { "url": "http://127.0.0.1:\(port)/stills", "secretEnv": "HOOK_SECRET" } } },
                    """
            ).replacingOccurrences(
                of: #""program": { "scene": "solo" }"#, with: #""program": { "scene": "solo", "delayMs": 3000 }"#)
            let room = try RunningRoom(pipeline, environment: ["HOOK_SECRET": Self.secret])
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop() }
            let first = try #require(service.line(from: 0, timeout: 10) { $0.hasPrefix("still") })
            let words = first.line.split(separator: " ").map(String.init)
            #expect(words.count == 6 && words[2] == "1001" && (Int(words[3]) ?? .max) < 1_500, "\(first.line)")
            #expect(room.events("source.first_frame").isEmpty, "the still is made before the decoder gets the frame")

            let address = "/v1/sources/1001/still.jpg?width=64"
            let still = try HTTPClient.request("GET", room.control, address)
            #expect(still.status == 200 && still.bytes.starts(with: [0xFF, 0xD8]), "\(still.head)")
            let tag = try #require(
                still.head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("etag: ") })
            #expect(still.head.lowercased().contains("x-tandem-age-ms: "))
            let known = ["If-None-Match": String(tag.dropFirst(6))]
            let again = try HTTPClient.request("GET", room.control, address, fields: known)
            #expect([200, 304].contains(again.status) && (again.status == 304) == again.bytes.isEmpty, "\(again.head)")
            #expect(try HTTPClient.request("GET", room.control, "/v1/sources/2002/still.jpg").status == 404)

            // A still on request arrives whatever the interval.
            let asked = try HTTPClient.request("POST", room.control, "/v1/sources/1001:still", body: "{}")
            #expect(asked.status == 202, "\(asked.body)")
            #expect(try HTTPClient.request("POST", room.control, "/v1/sources/2002:still", body: "{}").status == 409)

            let moderated = try room.event("source.moderated", uid: "1001")
            #expect(moderated.text("action") == "cover" && moderated.text("reason") == "a test")
            let source = try HTTPClient.request("GET", room.control, "/v1/sources/1001").json()
            #expect(source["videoPush"] as? Bool == false && source["delayMs"] as? Int == 3_000)
            let metrics = try HTTPClient.request("GET", room.control, "/metrics").body
            #expect(metrics.contains(#"tandem_moderation_actions_total{action="cover"} 1"#))
            #expect(try room.end() == 0)
        }
    }
}
