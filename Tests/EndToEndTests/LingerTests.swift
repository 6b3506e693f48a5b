import Foundation
import Testing

extension EndToEnd {
    @Suite("Behind the end of a room its viewers are served on")
    struct LingerTests {
        // SIGTERM is how the other tests end it.
        @Test("a late viewer gets the ended playlist, and a second room:end ends the lingering with 0")
        func late() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Rooms.small(work.path("out")))
            let publisher = try Publisher.pattern("P", to: room.url("a"), size: "320x180")
            defer { publisher.stop() }
            try room.segments(1)
            let viewer = try #require(room.viewer)
            #expect(try HTTPClient.request("GET", viewer, "/180p.m3u8").status == 200)
            #expect(try HTTPClient.request("POST", room.control, "/v1/room:end").status == 202)
            try room.event("room.closed")
            // Longer than the three seconds of a room that nobody watches.
            Thread.sleep(forTimeInterval: 3.5)
            let late = try HTTPClient.request("GET", viewer, "/180p.m3u8")
            #expect(late.status == 200 && late.body.contains("#EXT-X-ENDLIST"), "\(late.body)")
            let name = try #require(late.body.split(separator: "\n").last { $0.hasSuffix(".m4s") })
            #expect(try HTTPClient.request("GET", viewer, "/\(name)").status == 200)
            #expect(try HTTPClient.request("GET", room.control, "/livez").status == 200)
            #expect(try HTTPClient.request("GET", room.control, "/readyz").status == 503)
            #expect(try HTTPClient.request("GET", room.control, "/v1/room").status == 410)
            #expect(try HTTPClient.request("POST", room.control, "/v1/room:end").status == 202)
            #expect(try room.child.wait(timeout: 4) == 0)
        }
    }
}
