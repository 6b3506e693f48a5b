import Foundation
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("Publishers reach their room through an RTMP edge that looks up its address")
    struct RoutingTests {
        private static let module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"

        /// A port that is free at the time of the call.
        private static func port() throws -> UInt16 { try LoopbackAddress.withTakenPort { $0 } }

        /// The path of nginx. If it or its RTMP module is missing, then the current test ends as skipped.
        private static func nginx() throws -> String {
            let place = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].first {
                FileManager.default.isExecutableFile(atPath: $0)
            }
            guard let place, FileManager.default.isReadableFile(atPath: Self.module) else {
                try TestTool.skip("nginx with libnginx-mod-rtmp")
            }
            return place
        }

        /// The committed configuration, with ports of the test.
        private static func configuration(_ work: WorkDirectory, _ edge: UInt16, _ finder: UInt16) throws -> String {
            var text = try Files.text("\(EndToEnd.root)/deploy/edge/rtmp.conf")
            for (before, after) in [
                (
                    "load_module modules/ngx_rtmp_module.so;",
                    "load_module \(Self.module); daemon off; error_log stderr warn;"
                ),
                ("worker_processes 1;", "master_process off; pid \(work.path("nginx.pid"));"),
                ("listen 1935;", "listen 127.0.0.1:\(edge);"),
                ("127.0.0.1:8099/publish", "127.0.0.1:\(finder)/publish"),
                ("127.0.0.1:8099/update", "127.0.0.1:\(finder)/update"),
            ] {
                #expect(text.contains(before), "\(before)")
                text = text.replacingOccurrences(of: before, with: after)
            }
            return try work.write(text, to: "nginx.conf")
        }

        @Test(
            "nginx-rtmp as an edge forwards a publisher to the room of its stream key, and to the new room after a move"
        )
        func edge() throws {
            let (nginx, python) = (try Self.nginx(), try TestTool.require("python3"))
            let work = try WorkDirectory()
            let (edge, finder) = (try Self.port(), try Self.port())
            let first = try RunningRoom(Rooms.small(work.path("first")))
            let second = try RunningRoom(Rooms.small(work.path("second")))
            let key = first.key("a")
            _ = second.key("a")
            func lives(in room: RunningRoom, worker: String = "") throws {
                let address = room.rtmp.replacingOccurrences(of: "rtmp://", with: "")
                _ = try work.write(
                    address.replacingOccurrences(of: "127.0.0.1", with: "localhost") + worker, to: "keys/\(key)")
            }
            try FileManager.default.createDirectory(atPath: work.path("keys"), withIntermediateDirectories: true)
            try lives(in: first)
            let answers = try Publisher(
                python, ["\(EndToEnd.root)/deploy/edge/where.py", work.path("keys"), "127.0.0.1:\(finder)"])
            let server = try Publisher(nginx, ["-c", Self.configuration(work, edge, finder), "-p", work.path])
            usleep(400_000)
            let encoder = try Publisher.pattern("ANNA", to: "rtmp://127.0.0.1:\(edge)/live/\(key)", size: "320x180")
            try first.event("source.live", uid: "1001", timeout: 10)
            // Text that a publisher adds after its key affects no other connection.
            let finding = "http://127.0.0.1:\(finder)"
            for (words, status) in [
                ("publish?name=\(key)&clientid=900", 302), ("publish?name=nobody&clientid=901&name=\(key)", 404),
                ("update?name=\(key)&clientid=902&name=nobody", 200),
            ] { #expect(try HTTPClient.request("GET", finding, "/\(words)").status == status, "\(words)") }
            // The room has moved: the encoder is disconnected, and returns.
            try lives(in: second)
            let moved = Date()
            _ = try encoder.child.wait(timeout: 6)
            EndToEnd.report(
                "an edge closes a publisher whose room has moved after \(Date().timeIntervalSince(moved)) s")
            let again = try Publisher.pattern("ANNA", to: "rtmp://127.0.0.1:\(edge)/live/\(key)", size: "320x180")
            try second.event("source.live", uid: "1001", timeout: 10)
            try first.event("source.lost", uid: "1001", timeout: 10)
            // Another worker at the same address: nginx would not retry it without a new name.
            try lives(in: second, worker: " second-2")
            _ = try again.child.wait(timeout: 6)
            // An unknown key is refused at the edge.
            let stranger = try Publisher.pattern("EVE", to: "rtmp://127.0.0.1:\(edge)/live/nobody", size: "320x180")
            #expect(try stranger.child.wait(timeout: 6) != 0)
            for process in [answers, server] { process.stop() }
            for room in [first, second] { #expect(try room.end() == 0) }
        }
    }
}
