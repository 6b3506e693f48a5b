import Foundation
import Testing

extension EndToEnd {
    @Suite("Protected rooms: signed URLs and encrypted segments")
    struct ProtectionTests {
        static let secret = "playback-secret-of-the-test-7f31c0"

        static func room(_ directory: String, encrypted: Bool) -> String {
            Rooms.live(
                directory,
                renditions: """
                    [ { "name": "large", "width": 640, "height": 360, "video": { "bitrate": 600000 } },
                      { "name": "small", "width": 320, "height": 180, "video": { "bitrate": 200000 } } ]
                    """, canvas: (640, 360)
            ).replacingOccurrences(
                of: #""windowSeconds": 600, "http": { "listen": "127.0.0.1:0" }"#,
                with: #""windowSeconds": 600, "preset": "lowLatency","#
                    + (encrypted ? #""encryption": { "rotateEverySegments": 2 },"# : "")
                    + #""http": { "listen": "127.0.0.1:0", "signedUrls": { "secretEnv": "PLAYBACK_SECRET" } }"#)
        }

        /// The query of a signed URL, as the program's own command prints it.
        static func query(_ pipeline: String, seconds: Int, scope: String = "/") throws -> String {
            let child = try Child(
                EndToEnd.binary,
                ["sign-url", "-", "http://a/index.m3u8", "--expires-in", "\(seconds)", "--scope", scope],
                environment: ["PLAYBACK_SECRET": self.secret], input: pipeline)
            #expect(try child.wait(timeout: 10) == 0, "\(child.errors)")
            return try #require(child.outputLines.first?.split(separator: "?").last.map(String.init))
        }

        @Test(
            "hls.js plays an encrypted room with signed URLs over key changes and a renewed signature; ffprobe reads it"
        )
        func plays() throws {
            let (media, viewers) = (try Media.require(), try Viewers.start(needsHLSJS: true))
            let work = try WorkDirectory()
            let directory = work.path("out")
            let pipeline = Self.room(directory, encrypted: true)
            let room = try RunningRoom(pipeline, environment: ["PLAYBACK_SECRET": Self.secret])
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.segments(3)
            let viewer = try #require(room.viewer)
            let first = try Self.query(pipeline, seconds: 8), second = try Self.query(pipeline, seconds: 600)
            #expect(try HTTPClient.request("GET", viewer, "/index.m3u8").status == 403)
            #expect(try HTTPClient.request("GET", viewer, "/large-0.key").status == 403)
            #expect(try HTTPClient.request("GET", viewer, "/.keys.json?\(second)").status == 404)
            let wish =
                #"{"url":"\#(viewer)/index.m3u8?\#(first)","player":"hls.js","config":{"startLevel":0}}"#
            let hash = wish.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let tab = try viewers.browser.open("\(viewers.pages.address)/player.html#\(hash)")
            try tab.evaluate("probe.pattern = { width: 640, height: 360 }; ''")
            let lint = try Child(
                EndToEnd.binary, ["lint-hls", "\(viewer)/index.m3u8?\(second)", "--duration", "10"])
            Thread.sleep(forTimeInterval: 4)
            // Like a page that has requested a new signature from its server.
            try tab.evaluate(
                """
                hls.config.xhrSetup = (xhr, url) => {
                  const fresh = new URL(url), directives = [...fresh.searchParams].filter(([name]) => name.startsWith('_HLS_'));
                  fresh.search = '\(second)' + directives.map(([name, value]) => `&${name}=${value}`).join('');
                  xhr.open('GET', fresh.href, true);
                }; ''
                """)
            Thread.sleep(forTimeInterval: 7)
            let report = try tab.report()
            EndToEnd.report("an encrypted, signed room in hls.js: \(report.summary)")
            #expect(report.faults.isEmpty, "\(report.errors)")
            report.expectNoStall("hls.js")
            #expect(try Double(tab.evaluate("probe.video.currentTime")).map { $0 > 8 } == true)
            #expect(try lint.wait(timeout: 20) == 0, "\(lint.outputLines.suffix(12).joined(separator: "\n"))")
            let expired = try HTTPClient.request("GET", viewer, "/index.m3u8?\(first)")
            #expect(expired.status == 403 && expired.body.contains("expired"))
            // While it is live: the keys come from the room.
            let lines = try media.probe(
                "\(viewer)/large.m3u8?\(second)",
                [
                    "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=codec_name,width", "-of",
                    "csv=p=0",
                ])
            #expect(lines.first?.hasPrefix("h264,640") == true, "\(lines)")
            let keys = "\(directory)/.keys.json"
            let mode = (try FileManager.default.attributesOfItem(atPath: keys)[.posixPermissions] as? Int) ?? 0
            #expect(mode == 0o600)
            let list = try Files.text("\(directory)/large.m3u8")
            #expect(list.components(separatedBy: "#EXT-X-KEY:METHOD=AES-128,URI=").count > 3)
            #expect(try room.end() == 0)
            anna.stop()
        }
    }
}
