import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("RTMP outputs and HTTP-FLV of a live room")
    struct OutputTests {
        /// A listening socket whose program never accepts a connection; the kernel completes the handshake, and then it
        /// is silent.
        private final class Hanging {
            let port: UInt16
            private let file: Int32

            init() throws {
                let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                var yes: Int32 = 1
                setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
                let bound = LoopbackAddress.withAddress(port: 0) { bind(file, $0, $1) }
                guard bound == 0, listen(file, 8) == 0 else { throw Missing("no port for the hanging server") }
                var address = sockaddr_in()
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let named = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &length) }
                }
                guard named == 0 else { throw Missing("the port has no number") }
                self.file = file
                self.port = UInt16(bigEndian: address.sin_port)
            }

            func end() { close(self.file) }
        }

        private static func text(_ event: Event, _ key: String) -> String { event.text(key) ?? "" }

        /// The document with RTMPS beside RTMP, and the path of its self-signed certificate.
        private static func secured(_ document: String, _ work: WorkDirectory) throws -> (String, String) {
            let openssl = try TestTool.require("openssl")
            let (certificate, key) = (work.path("far.crt"), work.path("far.key"))
            try TLSTests.make(openssl, certificate, key)
            let plain = #""rtmp": { "listen": "127.0.0.1:0" }"#
            try #require(document.contains(plain))
            let tls = #"{ "certificate": "\#(certificate)", "key": "\#(key)" }"#
            return (
                document.replacingOccurrences(
                    of: plain, with: #"\#(plain), "rtmps": { "listen": "127.0.0.1:0", "tls": \#(tls) }"#), certificate
            )
        }

        private static func output(_ id: String, of room: RunningRoom) throws -> [String: Any] {
            let outputs = try room.state()["outputs"] as? [[String: Any]] ?? []
            return try #require(outputs.first { $0["outputId"] as? String == id })
        }

        /// An alarm in the room's state; alarms are checked once a second.
        private static func alarm(_ type: String, _ state: String, _ room: RunningRoom) throws -> [String: Any] {
            for _ in 0..<30 {
                let alarms = try room.state()["alarms"] as? [[String: Any]] ?? []
                let found = alarms.last { $0["type"] as? String == type }
                if let found, found["state"] as? String == state { return found }
                usleep(100_000)
            }
            throw Missing("\(type) is not \(state)")
        }

        /// Plays a second of the rendition over a WebSocket into a file; returns false, and records it, if Python is
        /// missing.
        private static func playSocket(_ room: RunningRoom, to file: String) throws -> Bool {
            guard let python = TestTool.find("python3") else { return false }
            let viewer = try #require(URLComponents(string: room.viewer ?? ""))
            let played = try Command.run(
                python,
                [
                    "\(EndToEnd.root)/Tests/EndToEndTests/Scripts/websocket.py", viewer.host ?? "",
                    "\(viewer.port ?? 0)", "/live/180p.flv", file, "1000",
                ])
            #expect(played.code == 0, "\(played.errors)")
            return true
        }

        @Test(
            "an RTMP target that hangs raises an alarm until a working server replaces it; an RTMPS target loses nothing; HTTP-FLV plays meanwhile"
        )
        func twoTargets() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let (farDocument, authorities) = try Self.secured(Rooms.small(work.path("far")), work)
            let far = try RunningRoom(farDocument)
            let farAddress = far.events("room.ready").first?.text("rtmps") ?? far.rtmp
            #expect(farAddress.hasPrefix("rtmps://"))
            let hanging = try Hanging()
            let key = far.key("a")
            let near = try RunningRoom(
                Rooms.small(work.path("near"), members: #""sei": { "intervalMs": 0, "extraInfo": "in each IDR" },"#)
                    .replacingOccurrences(
                        of: #""http": { "listen": "127.0.0.1:0" } }"#,
                        with: """
                            "http": { "listen": "127.0.0.1:0", "flv": true } },
                            { "type": "rtmp", "outputId": "good", "url": "\(farAddress)/live", "keyEnv": "FAR_KEY",
                              "tls": { "authorities": "\(authorities)" } },
                            { "type": "rtmp", "outputId": "hung", "url": "rtmp://127.0.0.1:\(hanging.port)/live/hung_5ecret31c0",
                              "retry": { "maxDelayMs": 1000 } }
                            """), environment: ["FAR_KEY": key])
            let publisher = try Publisher.pattern("ANNA", to: near.url("a"), size: "320x180")
            defer { publisher.stop() }
            try far.event("source.live", uid: "1001", timeout: 10)
            let asked = try near.event("output.connecting") { Self.text($0, "outputId") == "hung" }
            let failed = try near.event("output.failed") { Self.text($0, "outputId") == "hung" }
            EndToEnd.report("a target that accepts and hangs noticed after \(failed.time - asked.time) s (bar: 6)")
            expectTiming(failed.time - asked.time, atMost: 6, "seconds until a target that hangs is noticed")
            #expect(failed.text("code") == "outputWedged")

            let raised = try Self.alarm("output.stalled", "set", near)
            #expect(
                raised["severity"] as? String == "alert_2"
                    && (raised["scope"] as? [String: Any])?["id"] as? String == "hung")
            let metrics = try HTTPClient.request("GET", near.control, "/metrics").body
            #expect(metrics.contains(#"tandem_output_alarm_level{output="hung"} 2"#))
            #expect(metrics.contains(#"tandem_output_alarm_level{output="good"} 0"#))

            let flv = try Command.run(
                media.ffmpeg,
                [
                    "-nostdin", "-v", "warning", "-xerror", "-i", "\(near.viewer ?? "")/live/180p.flv", "-t", "1",
                    "-map", "0:v",
                    "-map", "0:a", "-c", "copy", "-y", work.path("viewer.flv"),
                ])
            #expect(flv.code == 0 && flv.errors == "", "\(flv.errors)")

            // A working server replaces it.
            hanging.end()
            let file = work.path("hung.flv")
            let server = try Publisher(
                media.ffmpeg,
                [
                    "-nostdin", "-loglevel", "error", "-f", "live_flv", "-listen", "1", "-i",
                    "rtmp://127.0.0.1:\(hanging.port)/live/hung_5ecret31c0", "-t", "2", "-c", "copy", "-y", file,
                ])
            try near.event("output.live", timeout: 8) { Self.text($0, "outputId") == "hung" }
            _ = try Self.alarm("output.stalled", "cleared", near)
            let told = try HTTPClient.request(
                "POST", near.control, "/v1/metadata", body: #"{"type":"gift","id":"rose-1","text":"안나"}"#)
            #expect(told.status == 202, "\(told.body)")
            let isPlayed = try Self.playSocket(near, to: work.path("socket.flv"))
            _ = try server.child.wait(timeout: 10)
            if isPlayed { #expect(try TransportRoom.complaints(work.path("socket.flv"), media) == "") }
            for name in ["hung.flv", "viewer.flv"] + (isPlayed ? ["socket.flv"] : []) {
                let videoPackets = try media.packets(work.path(name), "v:0")
                let audioPackets = try media.packets(work.path(name), "a:0")
                let (first, start) = try (#require(videoPackets.first), #require(audioPackets.first))
                let (last, end) = try (#require(videoPackets.last), #require(audioPackets.last))
                #expect(first.isKey, "\(name) starts with a key frame")
                #expect(abs(first.time - start.time) < 0.1 && abs(last.time - end.time) < 0.2, "\(name) in sync")
                #expect(videoPackets.count >= 25)
                for (one, next) in zip(videoPackets, videoPackets.dropFirst()) {
                    #expect((0.02...0.1).contains(next.time - one.time))
                }
            }
            #expect(try media.complaints(work.path("hung.flv")) == "")
            func holds(_ name: String, _ text: String) throws -> Bool {
                String(decoding: try Files.bytes(work.path(name)), as: UTF8.self).contains(text)
            }
            #expect(try holds("hung.flv", #"\"id\":\"rose-1\""#) && holds("hung.flv", "in each IDR"))
            #expect(try holds("viewer.flv", "in each IDR"), "a later viewer gets the frames as they were sent")

            let good = try Self.output("good", of: near)
            #expect(good["state"] as? String == "live", "\(good)")
            expectTiming(try #require(good["dropped"] as? Int), atMost: 0, "frames dropped for the target that works")
            #expect((good["acknowledged"] as? Int ?? 0) > 100_000, "\(good)")
            #expect(near.events("output.failed").allSatisfy { Self.text($0, "outputId") == "hung" })
            let ticks = try near.state()["ticks"] as? [String: Any]
            EndToEnd.report("late frames while a target hung: \(ticks?["late"] ?? "?"), lost: \(ticks?["lost"] ?? "?")")
            expectOnTime(ticks ?? [:], isLateAllowed: true)
            #expect(try near.end() == 0)
            #expect(near.events("output.stopped").count == 2)
            let gone = try far.event("source.lost", uid: "1001", timeout: 5)
            #expect(gone.type == "source.lost", "ended at once")
            #expect(try far.end() == 0)
        }
    }
}
