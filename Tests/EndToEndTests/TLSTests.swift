import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("HTTPS for viewers in a live room")
    struct TLSTests {
        @Test(
            "HTTPS viewers get HTTP/2 and HTTP/1.1; SIGHUP loads a new certificate, ignores an unusable one, and reports an expired one"
        )
        func renewal() throws {
            let (openssl, curl) = (try TestTool.require("openssl"), try TestTool.require("curl"))
            let work = try WorkDirectory()
            let (certificate, key) = (work.path("room.crt"), work.path("room.key"))
            try Self.make(openssl, certificate, key)
            let old = work.path("old.crt")
            try FileManager.default.copyItem(atPath: certificate, toPath: old)

            let plain = #""http": { "listen": "127.0.0.1:0" }"#
            let secure =
                #""http": { "listen": "127.0.0.1:0", "tls": { "certificate": "\#(certificate)", "key": "\#(key)" } }"#
            let pipeline = Rooms.small(work.path("out"))
            try #require(pipeline.contains(plain))
            let room = try RunningRoom(pipeline.replacingOccurrences(of: plain, with: secure))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            #expect(viewer.hasPrefix("https://127.0.0.1:"))

            /// Returns the body, then HTTP version and status.
            func get(_ path: String, _ trusted: String, _ options: [String] = []) throws -> Command.Result {
                try Command.run(
                    curl,
                    ["-sS", "-m", "10", "--cacert", trusted, "-w", "\\n%{http_version} %{http_code}\\n"] + options
                        + ["\(viewer)/\(path)"])
            }
            let list = try get("180p.m3u8", old, ["--http2"])
            #expect(list.output.hasSuffix("\n2 200\n") && list.output.hasPrefix("#EXTM3U"), "\(list)")
            #expect(try get("index.m3u8", old, ["--http1.1"]).output.hasSuffix("\n1.1 200\n"))
            #expect(try get("index.m3u8", old, ["--tls-max", "1.1"]).code != 0)

            // The signal reloads the files as they are; a waiting player does not notice.
            let hint = list.output.firstMatch(of: /PRELOAD-HINT:TYPE=PART,URI="180p-1-(\d+)\./)
            let number = try #require(hint?.output.1)
            let next = (Int(number) ?? 0) + 1
            let waiting = try Child(
                curl, ["-sS", "-m", "10", "--http2", "--cacert", old, "\(viewer)/180p.m3u8?_HLS_msn=\(next)"],
                environment: [:])
            usleep(200_000)
            /// Sends SIGHUP, and waits until the room has read the files.
            func renewed(from start: Int) throws -> Event {
                let told = Date().timeIntervalSince1970
                room.child.signal(SIGHUP)
                let event = try room.event("tls.renewed", from: start)
                expectTiming(event.time - told, atMost: 3, "seconds from SIGHUP to tls.renewed")
                return event
            }
            var start = room.now
            #expect(try renewed(from: start).text("listener") == "viewer")

            // The signal loads new files.
            start = room.now
            try Self.make(openssl, certificate, key)
            _ = try renewed(from: start)
            #expect(try get("index.m3u8", certificate).output.hasSuffix("\n2 200\n"))
            let refused = try get("index.m3u8", old)
            #expect(refused.code == 60, "the old certificate is no longer used: \(refused)")
            #expect(try waiting.wait(timeout: 10) == 0)
            #expect(waiting.outputLines.contains { $0.hasPrefix("180p-1-\(next).m4s") }, "\(waiting.outputLines)")

            // Unusable files change nothing.
            start = room.now
            let good = work.path("good.crt")
            try FileManager.default.copyItem(atPath: certificate, toPath: good)
            _ = try work.write("no key", to: "room.key")
            room.child.signal(SIGHUP)
            #expect(try room.event("tls.refused", from: start, timeout: 5).text("fix") != nil)
            #expect(try get("index.m3u8", good).output.hasSuffix("\n2 200\n"))

            // A certificate that clients refuse is an alarm until it is replaced.
            start = room.now
            try Self.make(openssl, certificate, key, hasExpired: true)
            room.child.signal(SIGHUP)
            let alarm = try room.event("alarm.set", from: start, timeout: 10) {
                $0.object("alarm")["type"] as? String == "tls.certificate"
            }
            #expect(alarm.text("level") == "alert_3" && alarm.text("reason")?.contains("listener viewer") == true)
            start = room.now
            try Self.make(openssl, certificate, key)
            room.child.signal(SIGHUP)
            try room.event("alarm.cleared", from: start, timeout: 10) { $0.text("id") == alarm.text("id") }

            #expect(try room.end() == 0)
            publisher.stop()
        }

        /// A self-signed certificate for 127.0.0.1, written like a renewal: new files replace the old ones.
        ///
        /// - Parameter hasExpired: It was valid until yesterday.
        static func make(_ openssl: String, _ certificate: String, _ key: String, hasExpired: Bool = false) throws {
            let result = try Command.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    key + ".new", "-out", certificate + ".new", "-subj", "/CN=room", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-days", "30",
                ])
            try #require(result.code == 0, "\(result.errors)")
            if hasExpired {
                // A new certificate must have days left; the same one issued again has not.
                let again = try Command.run(
                    openssl,
                    [
                        "x509", "-in", certificate + ".new", "-signkey", key + ".new", "-days", "-1", "-out",
                        certificate + ".again",
                    ])
                try #require(again.code == 0, "\(again.errors)")
                try #require(rename(certificate + ".again", certificate + ".new") == 0)
            }
            for path in [certificate, key] { try #require(rename(path + ".new", path) == 0) }
        }
    }
}
