import Foundation
import Glibc
import Testing

extension Unhurried.Access {
    @Suite("Forged requests to the viewers' listener of a live room")
    struct ForgedRequestTests {
        private typealias Protection = EndToEnd.ProtectionTests

        /// Sends GET requests on one connection without waiting for replies. Returns the statuses in order.
        private static func pipelined(_ address: String, _ targets: [String]) throws -> [Int] {
            let parts = address.replacingOccurrences(of: "http://", with: "").split(separator: ":")
            let port = try #require(parts.last.flatMap { UInt16($0) })
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(socket) }
            var timeout = timeval(tv_sec: 10, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            guard LoopbackAddress.withAddress(port: port, { connect(socket, $0, $1) }) == 0 else {
                throw Missing("cannot connect to \(address)")
            }
            let text = targets.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
            let bytes = Array(text.utf8)
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { break }
                sent += count
            }
            var received: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            func statuses() -> [Int] {
                String(decoding: received, as: UTF8.self).matches(of: #/HTTP/1\.1 (\d{3}) /#).compactMap {
                    Int($0.output.1)
                }
            }
            while statuses().count < targets.count {
                let count = recv(socket, &chunk, chunk.count, 0)
                guard count > 0 else { break }
                received += chunk[..<count]
            }
            return statuses()
        }

        @Test(
            "viewers' HTTP requests that are forged, expired, misdirected or path-traversing are all refused; valid URLs continue to work"
        )
        func attacked() throws {
            let wanted = max(
                100, ProcessInfo.processInfo.environment["TANDEM_FORGED_REQUESTS"].flatMap { Int($0) } ?? 1_000)
            let work = try WorkDirectory()
            let pipeline = Protection.room(work.path("out"), encrypted: true)
            let room = try RunningRoom(pipeline, environment: ["PLAYBACK_SECRET": Protection.secret])
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.segments(3)
            let viewer = try #require(room.viewer)
            let good = try Protection.query(pipeline, seconds: 600)
            let short = try Protection.query(pipeline, seconds: 1)
            let elsewhere = try Protection.query(pipeline, seconds: 600, scope: "/other/")
            let list = try HTTPClient.request("GET", viewer, "/large.m3u8?\(good)")
            #expect(list.status == 200)
            let segment = try #require(
                list.body.split(separator: "\n").last { !$0.hasPrefix("#") }?.split(separator: "?").first.map(
                    String.init))
            let names = ["index.m3u8", "large.m3u8", "audio.m3u8", segment, "large-0.key", "large-1.mp4"]
            Thread.sleep(forTimeInterval: 1.5)
            var targets: [String] = []
            var random = SystemRandomNumberGenerator()
            while targets.count < wanted {
                let name = names[targets.count / 8 % names.count]
                var digits = Array(good.utf8)
                switch targets.count % 8 {
                case 0:
                    // One digit of the signature is changed.
                    let place = digits.count - 1 - Int.random(in: 0..<64, using: &random)
                    digits[place] = digits[place] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
                    targets.append("/\(name)?\(String(decoding: digits, as: UTF8.self))")
                case 1: targets.append("/\(name)?\(short)")
                case 2: targets.append("/\(name)?\(elsewhere)")
                case 3: targets.append("/\(name)")
                case 4:
                    // Valid for longer than it was signed for.
                    targets.append("/\(name)?" + good.replacingOccurrences(of: "exp=", with: "exp=9"))
                case 5:
                    let paths = [
                        "/../out/\(name)", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/./\(name)",
                        "//etc/passwd", "/a/../.keys.json", "/.keys.json", "/state.json", "/%5c..%5cetc", "/edge.json",
                    ]
                    targets.append("\(paths[targets.count / 8 % paths.count])?\(good)")
                case 6: targets.append("/\(name)?\(good)&\(good)")
                default: targets.append("/\(name)?exp=99999999999&scope=/&sig=\(String(repeating: "ab", count: 32))")
                }
            }
            let began = Date()
            var statuses: [Int] = []
            for start in stride(from: 0, to: targets.count, by: 100) {
                let batch = Array(targets[start..<min(start + 100, targets.count)])
                let got = try Self.pipelined(viewer, batch)
                #expect(got.count == batch.count, "\(got.count) of \(batch.count) answered")
                for (target, status) in zip(batch, got) where status != 403 && status != 404 && status != 400 {
                    Issue.record("\(target.prefix(60)) is answered \(status)")
                }
                statuses += got
            }
            let seconds = Date().timeIntervalSince(began)
            let counts = Dictionary(grouping: statuses) { $0 }.mapValues(\.count)
            EndToEnd.report(
                "\(targets.count) requests that must not be answered in \(String(format: "%.1f", seconds)) s: \(counts)"
            )
            #expect(statuses.count == targets.count)
            // The room and its valid URLs still work.
            try room.segments(1)
            #expect(try HTTPClient.request("GET", viewer, "/large.m3u8?\(good)").status == 200)
            #expect(try HTTPClient.request("GET", viewer, "/large-0.key?\(good)").status == 200)
            let alarms = room.events.filter { $0.type.hasPrefix("overload") || $0.type.hasPrefix("output.") }
            #expect(alarms.isEmpty, "\(alarms)")
            #expect(try room.end() == 0)
            anna.stop()
        }
    }
}
