import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("tandem edge forwards publishers to the room of their key")
    struct PublisherEdgeTests {
        @Test(
            "tandem edge forwards an encoder to the room of its stream key, to the new room after a move, and refuses an unknown key"
        )
        func moves() throws {
            let ffmpeg = try Media.require().ffmpeg
            let work = try WorkDirectory()
            func start(_ name: String) throws -> RunningRoom {
                try RunningRoom(Rooms.small(work.path(name)), ["--set", #"ingest.proxies=["127.0.0.1"]"#])
            }
            let (first, second) = (try start("first"), try start("second"))
            let key = first.key("a")
            _ = second.key("a")
            let edge = try Edge(work, ["--proxy-header", "--drain", "5"])
            try edge.route("live/\(key)", to: first, worker: "r-1")
            let url = "\(edge.rtmp)/live/\(key)"
            let encoder = try Publisher.ffmpeg(ffmpeg, to: url, size: "320x180")
            try first.event("source.live", uid: "1001", timeout: 10)
            #expect(try edge.metric("tandem_edge_publishing") == 1)
            // The room has moved: the encoder is disconnected, and is forwarded to the new place when it returns.
            try edge.route("live/\(key)", to: second, worker: "r-2")
            // Meanwhile an unknown key is refused at the edge, and no key is in its log.
            let stranger = try Command.tandem(["publish", "pattern:EVE", "\(edge.rtmp)/live/nobody-knows-this"])
            #expect(stranger.code == 77, "\(stranger.errors)")
            _ = try encoder.child.wait(timeout: 6)
            let again = try Publisher.ffmpeg(ffmpeg, to: url, size: "320x180")
            try second.event("source.live", uid: "1001", timeout: 10)
            #expect(!edge.child.errors.contains(key) && !edge.child.errors.contains("nobody-knows-this"))
            // A worker that is killed closes its publisher at once; the edge stops by a signal when all have left.
            second.child.signal(SIGKILL)
            _ = try again.child.wait(timeout: 6)
            #expect(try edge.metric("tandem_edge_closed_total{reason=\"moved\"}") == 1)
            edge.child.signal(SIGTERM)
            #expect(try edge.child.wait(timeout: 6) == 0, "\(edge.child.errors)")
        }
    }
}
