import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Access {
    @Suite("RTMPS and PROXY headers in a live room")
    struct DoorTests {
        /// The room has no plain RTMP listener, and a self-signed certificate.
        @Test(
            "if only RTMPS is open, ffmpeg publishes over rtmps:// and goes live; with a wrong key it gets an error message"
        )
        func secure() throws {
            let (openssl, ffmpeg) = (try TestTool.require("openssl"), try TestTool.require("ffmpeg"))
            let work = try WorkDirectory()
            let (certificate, key) = (work.path("room.crt"), work.path("room.key"))
            let made = try Command.run(
                openssl,
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    key,
                    "-out", certificate, "-subj", "/CN=room", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "30",
                ])
            try #require(made.code == 0, "\(made.errors)")
            let plain = Rooms.small(work.path("out"))
            let pipeline = plain.replacingOccurrences(
                of: #""rtmp": { "listen": "127.0.0.1:0" }"#,
                with: """
                    "rtmp": { "listen": null },
                    "rtmps": { "listen": "127.0.0.1:0", "tls": { "certificate": "\(certificate)", "key": "\(key)" } }
                    """)
            try #require(pipeline != plain)
            let room = try RunningRoom(pipeline)
            let ready = try room.event("room.ready")
            let url = try #require(ready.text("rtmps"))
            #expect(url.hasPrefix("rtmps://127.0.0.1:") && room.rtmp.isEmpty)
            let wrong = try Command.run(
                ffmpeg,
                Publisher.arguments(size: "320x180", seconds: 20, hertz: 440, isRealTime: true) + [
                    "-f", "flv", "\(url)/live/\(room.key("wrong"))",
                ])
            #expect(wrong.code != 0 && wrong.errors.contains("stream key is not valid"), "\(wrong.errors)")
            let publisher = try Publisher.ffmpeg(ffmpeg, to: "\(url)/live/\(room.key("a"))", size: "320x180")
            try room.event("source.live", uid: "1001")
            try room.segments(1)
            let sources = try #require(try room.state()["sources"] as? [[String: Any]])
            #expect(sources.first?["videoCodec"] as? String == "h264")
            publisher.stop()
            try room.event("ingest.unpublished", uid: "1001", timeout: 5)
            #expect(try room.end() == 0)
        }

        @Test("PROXY headers of version 1 and 2 give the publisher's address; a connection without one is refused")
        func proxied() throws {
            let work = try WorkDirectory()
            let plain = Rooms.small(work.path("out"))
            let pipeline = plain.replacingOccurrences(
                of: #""ingest": {"#,
                with: #""ingest": { "proxies": ["127.0.0.0/8"], "allowedAddresses": ["192.0.2.0/24"],"#)
            try #require(pipeline != plain)
            let room = try RunningRoom(pipeline)
            let port = try #require(room.rtmp.split(separator: ":").last.flatMap { UInt16($0) })
            let two: [UInt8] =
                [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12]
                + [192, 0, 2, 9, 10, 0, 0, 1, 0x9C, 0x40, 0x07, 0x8F]
            for (uid, stream, header, remote) in [
                ("1001", "a", Array("PROXY TCP4 192.0.2.7 10.0.0.1 40000 1935\r\n".utf8), "192.0.2.7:40000"),
                ("2002", "b", two, "192.0.2.9:40000"),
            ] {
                let proxy = try ResettingProxy(to: port, prefix: header)
                let publisher = try Publisher.pattern(
                    "ANNA", to: "rtmp://127.0.0.1:\(proxy.port)/live/\(room.key(stream))", size: "320x180")
                #expect(try room.event("ingest.publishing", uid: uid).text("remote") == remote)
                try room.event("source.live", uid: uid)
                publisher.stop()
                proxy.cut()
            }
            let bare = try Publisher.pattern("BEN", to: room.url("b"), size: "320x180", seconds: 5)
            #expect(try bare.child.wait(timeout: 20) != 0)
            #expect(try room.end() == 0)
        }
    }
}
