import Foundation
import Testing

extension Unhurried.Access {
    @Suite("The viewer page")
    struct ViewerPageTests {
        /// The page's files as the origin serves them; its browser opens media sources `delay` milliseconds late.
        private static func files(delay: Int) throws -> [String: (type: String, content: [UInt8])] {
            let folder = "\(EndToEnd.root)/Sources/Origin/Page"
            let late = """
                <script>
                MediaSource.prototype.addEventListener = function (type, heard, options) {
                  const later = type === "sourceopen" ? (event) => setTimeout(() => heard(event), \(delay)) : heard;
                  return EventTarget.prototype.addEventListener.call(this, type, later, options);
                };
                </script>
                """
            var page = try Files.text("\(folder)/page.html")
                .replacingOccurrences(of: "<script type", with: "\(late)<script type")
            for (name, value) in [
                ("title", "Room"), ("embed", "page"), ("playlist", "index.m3u8"), ("whep", ""), ("still", ""),
                ("thumbnails", ""), ("recording", ""), ("window", ""),
            ] {
                page = page.replacingOccurrences(of: "{{\(name)}}", with: value)
            }
            var files = ["/": (type: "text/html", content: Array(page.utf8))]
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name != "page.html" {
                files["/\(name)"] = (
                    name.hasSuffix(".css") ? "text/css" : "text/javascript",
                    [UInt8](try Files.bytes("\(folder)/\(name)"))
                )
            }
            return files
        }

        private static let state = "document.getElementById('state').dataset.state"

        @Test(
            "a MediaSource that opens after 4 s causes no error in the viewer page, also if playback restarts before"
        )
        func slowToOpen() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let playlist = """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e",RESOLUTION=320x180
                180p.m3u8

                """
            var files = try Self.files(delay: 4000)
            files["/index.m3u8"] = ("application/vnd.apple.mpegurl", Array(playlist.utf8))
            let pages = try PageServer(files)
            let tab = try browser.open("\(pages.address)/")
            // The tab may not have loaded the page yet.
            #expect(try tab.wait("typeof tandem === 'object'"))
            // The numbers below the video are updated twice a second. All times allow a busy machine more than a
            // second.
            try tab.evaluate(
                """
                states = [];
                new MutationObserver(() => states.push(\(Self.state)))
                  .observe(document.getElementById("state"), { attributes: true });
                new Promise((done) => setTimeout(done, 1200))
                """)
            #expect(
                try tab.evaluate("tandem.session.player !== null && tandem.session.player.main === undefined") == "1",
                "it is still opening")
            #expect(browser.errors.isEmpty, "\(browser.errors)")
            // The previous player's media source opens meanwhile; the next one's a second later.
            try tab.evaluate(
                "tandem.session.restart(new Error('a test')); new Promise((done) => setTimeout(done, 3200))")
            #expect(
                try tab.evaluate("states.includes('failed')") == "0", "the previous player reports nothing more")
            #expect(browser.errors.isEmpty, "\(browser.errors)")
        }

        @Test(
            "the viewer page stops requesting the playlist once the room has ended, and shows a button to check again")
        func ended() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let pages = try PageServer(Self.files(delay: 0))
            let tab = try browser.open("\(pages.address)/")
            #expect(try tab.wait("typeof tandem === 'object'"))
            // A page that goes on asking never returns from `begin`.
            let isOver = try tab.evaluate(
                """
                window.fetch = async () => new Response("the room has ended", { status: 404 });
                tandem.session.begin().then(() => \(Self.state) === "ended")
                """)
            #expect(isOver == "1")
            #expect(try tab.evaluate("document.querySelector('#notice button').textContent === 'Check again'") == "1")
        }

        @Test(
            "the viewer page waits, plays, seeks and returns to live without console errors, in the user's language; listed sites embed it"
        )
        func broadcast() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let frame =
                #"<link rel="icon" href="data:,"><body><script>document.body.innerHTML = `<iframe src="${location.hash.slice(1)}">`</script>"#
            let hosts = try (0..<2).map { _ in try PageServer(["/": ("text/html", Array(frame.utf8))]) }
            let work = try WorkDirectory()
            let room = try RunningRoom(
                Rooms.small(work.path("out")).replacingOccurrences(
                    of: #""http": { "#, with: #""http": { "embedOrigins": ["\#(hosts[0].address)"], "#
                ).replacingOccurrences(
                    of: #""listen": "127.0.0.1:0" } },"#,
                    with: #""listen": "127.0.0.1:0", "reconnectGraceMs": 500 } },"#))
            let viewer = try #require(room.viewer)
            let tab = try browser.open("\(viewer)/")
            #expect(try tab.wait("\(Self.state) === 'waiting'"))
            let other = try browser.open("about:blank")
            try browser.call(
                "Emulation.setUserAgentOverride", ["userAgent": "test", "acceptLanguage": "ko-KR,en"], other.session)
            try browser.call("Page.navigate", ["url": "\(viewer)/"], other.session)
            #expect(try other.wait("document.getElementById('state').innerText === '대기 중'"))
            // Two questions for the status, while nothing can be played.
            Thread.sleep(forTimeInterval: 1.5)
            #expect(tab.consoleErrors.isEmpty && other.consoleErrors.isEmpty, "\(tab.consoleErrors)")

            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            #expect(try tab.wait("\(Self.state) === 'live' && tandem.session.window()?.end > 7", seconds: 25))
            #expect(try other.wait("document.getElementById('state').innerText === '라이브'"))
            let ready = "!tandem.video.seeking && tandem.video.readyState >= 3"
            try tab.evaluate("tandem.session.seek(tandem.session.window().start + 1)")
            #expect(
                try tab.wait(
                    "\(ready) && tandem.video.currentTime < 5 && /behind live/.test(document.getElementById('position').textContent)"
                ))
            try tab.press("l")
            #expect(
                try tab.wait(
                    "\(ready) && tandem.session.player.isFollowing && tandem.session.window().end - tandem.video.currentTime < 5"
                ))

            // In frames.
            let frames = try hosts.map { try browser.open("\($0.address)/#\(viewer)/embed") }
            func shown(_ tab: Tab) throws -> String {
                let tree = try browser.call("Page.getFrameTree", [:], tab.session)["frameTree"] as? [String: Any]
                let child = (tree?["childFrames"] as? [[String: Any]])?.first?["frame"] as? [String: Any]
                return child?["url"] as? String ?? ""
            }
            let deadline = Date(timeIntervalSinceNow: 10)
            while try shown(frames[0]) != "\(viewer)/embed" || frames[1].consoleErrors.isEmpty, Date() < deadline {
                Thread.sleep(forTimeInterval: 0.05)
            }
            #expect(try shown(frames[0]) == "\(viewer)/embed" && frames[0].consoleErrors.isEmpty)
            #expect(frames[1].consoleErrors.contains { $0.contains("frame-ancestors") }, "\(frames[1].consoleErrors)")

            anna.stop()
            #expect(try tab.wait("\(Self.state) === 'left'"))
            #expect(try other.wait("document.getElementById('banner').innerText.includes('모든 스트리머가 나갔습니다')"))
            #expect(try room.end() == 0)
            #expect(try tab.wait("['ending', 'ended'].includes(\(Self.state))"))
            #expect(
                tab.consoleErrors.isEmpty && other.consoleErrors.isEmpty, "\(tab.consoleErrors + other.consoleErrors)")
        }
    }
}
