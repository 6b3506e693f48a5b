import Foundation
import Testing

extension Unhurried.Doors {
    @Suite("The viewer page")
    struct ViewerPageTests {
        /// The page as the origin builds it; its browser opens media sources `delay` milliseconds late.
        private static func page(delay: Int) throws -> String {
            let folder = "\(EndToEnd.root)/Sources/Origin/Page"
            let late = """
                MediaSource.prototype.addEventListener = function (type, heard, options) {
                  const later = type === "sourceopen" ? (event) => setTimeout(() => heard(event), \(delay)) : heard;
                  return EventTarget.prototype.addEventListener.call(this, type, later, options);
                };
                """
            let scripts = try ["playlist.js", "player.js", "webrtc.js", "page.js"].map {
                try Files.text("\(folder)/\($0)")
            }
            return try Files.text("\(folder)/page.html")
                .replacingOccurrences(of: "{{title}}", with: "Room")
                .replacingOccurrences(of: "{{playlist}}", with: "index.m3u8")
                .replacingOccurrences(of: "{{whep}}", with: "")
                .replacingOccurrences(of: "/*style*/", with: try Files.text("\(folder)/page.css"))
                .replacingOccurrences(of: "/*script*/", with: ([late] + scripts).joined(separator: "\n"))
        }

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
            let pages = try PageServer([
                "/": ("text/html", Array(try Self.page(delay: 4000).utf8)),
                "/index.m3u8": ("application/vnd.apple.mpegurl", Array(playlist.utf8)),
            ])
            let tab = try browser.open("\(pages.address)/")
            // The tab may not have loaded the page yet.
            try tab.evaluate(
                """
                new Promise((done) => {
                  const look = () => typeof $ === "function" ? done() : setTimeout(look, 10);
                  look();
                })
                """)
            // The numbers below the video are updated twice a second. All times allow a busy machine more than a
            // second.
            try tab.evaluate(
                """
                states = [];
                new MutationObserver(() => states.push($("state").dataset.state)).observe($("state"), { attributes: true });
                new Promise((done) => setTimeout(done, 1200))
                """)
            #expect(try tab.evaluate("player !== null && player.main === undefined") == "1", "it is still opening")
            #expect(browser.errors.isEmpty, "\(browser.errors)")
            // The previous player's media source opens meanwhile; the next one's a second later.
            try tab.evaluate("restart(new Error('a test')); new Promise((done) => setTimeout(done, 3200))")
            #expect(
                try tab.evaluate("states.includes('failed')") == "0", "the previous player reports nothing more")
            #expect(browser.errors.isEmpty, "\(browser.errors)")
        }

        @Test("the page stops asking for the playlist once the room has ended, and asks again on request")
        func ended() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let pages = try PageServer(["/": ("text/html", Array(try Self.page(delay: 0).utf8))])
            let tab = try browser.open("\(pages.address)/")
            try tab.evaluate(
                """
                new Promise((done) => {
                  const look = () => typeof $ === "function" ? done() : setTimeout(look, 10);
                  look();
                })
                """)
            // A page that goes on asking never returns from `begin`.
            let isOver = try tab.evaluate(
                """
                window.fetch = async () => new Response("the room has ended", { status: 404 });
                begin().then(() => $("state").dataset.state === "ended")
                """)
            #expect(isOver == "1")
            #expect(try tab.evaluate("notice.querySelector('button').textContent === 'Check again'") == "1")
        }
    }
}
