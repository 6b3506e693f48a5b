import Foundation
import Testing

extension EndToEnd {
    @Suite("WebRTC viewers: the viewers' page in Chromium")
    struct WebRTCViewerTests {
        private static func room(_ directory: String) -> String {
            Rooms.live(
                directory,
                renditions: #"[{ "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 300000 } }]"#,
                canvas: (320, 180)
            ).replacingOccurrences(
                of: #""http": { "listen": "127.0.0.1:0" } }"#,
                with: """
                    "http": { "listen": "127.0.0.1:0" } },
                    { "type": "webrtc", "udp": "127.0.0.1:0", "publicAddresses": ["127.0.0.1"] }
                    """)
        }

        /// Waits until an expression of the page is true.
        private static func wait(_ tab: Tab, _ condition: String, seconds: Int) throws -> String {
            try tab.evaluate(
                """
                new Promise((done) => {
                  const end = performance.now() + \(seconds) * 1000;
                  const look = () => {
                    let isTrue = false;
                    try { isTrue = Boolean(\(condition)); } catch {}
                    if (isTrue || performance.now() > end) done(isTrue); else setTimeout(look, 20);
                  };
                  look();
                })
                """)
        }

        private static let isWebRTC = "tandem.session.player.constructor.name === 'WHEPPlayer'"
        private static let isHLS = "tandem.session.player.constructor.name === 'MSEPlayer'"

        @Test(
            "the viewer page plays WebRTC with audio, changes to HLS and back, returns to WebRTC after a failure, and shows the end"
        )
        func page() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Self.room(work.path("out")))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop() }
            try room.event("source.live", uid: "1001")
            try room.segments(4)
            let viewer = try #require(room.viewer)
            #expect(room.events("room.ready").first?.text("whep") == "\(viewer)/whep")
            let browser = try Browser.start()
            defer { browser.close() }
            let tab = try browser.open("\(viewer)/")
            let isShown = try Self.wait(
                tab, "\(Self.isWebRTC) && tandem.video.videoWidth === 320 && tandem.video.currentTime > 0.1",
                seconds: 15)
            #expect(isShown == "1")
            let heard = try Self.wait(
                tab, "tandem.video.srcObject.getAudioTracks().some((track) => !track.muted)", seconds: 5)
            #expect(heard == "1")
            // The statistics are copied once a second.
            var reply = ""
            for _ in 0..<50 {
                reply = try HTTPClient.request("GET", room.control, "/v1/room").body
                if reply.contains(#""viewers":1"#) { break }
                Thread.sleep(forTimeInterval: 0.1)
            }
            #expect(reply.contains(#""viewers":1"#), "\(reply)")
            let metrics = try HTTPClient.request("GET", room.control, "/metrics").body
            #expect(metrics.contains(#"tandem_viewers{protocol="webrtc"} 1"#))
            #expect(metrics.contains(#"tandem_whep_viewers{rendition="180p"} 1"#))

            try tab.evaluate("document.getElementById('delay').click()")
            let isHLS = try Self.wait(tab, "\(Self.isHLS) && tandem.video.currentTime > 0.5", seconds: 15)
            #expect(isHLS == "1")
            try tab.evaluate("document.getElementById('delay').click()")
            let isBack = try Self.wait(tab, "\(Self.isWebRTC) && tandem.session.hasPlayed", seconds: 15)
            #expect(isBack == "1")
            let before = try tab.evaluate("tandem.session.stalls")
            Thread.sleep(forTimeInterval: 3)
            #expect(try tab.evaluate("tandem.session.stalls") == before)
            // Two failures in a row, as of a worker that is replaced.
            try tab.evaluate(
                """
                const { lowDelay } = tandem.session;
                lowDelay.tries = 1;
                lowDelay.lost(Object.assign(new Error("a test"), { status: 0 }))
                """)
            #expect(try Self.wait(tab, "\(Self.isHLS) && tandem.session.isLive", seconds: 10) == "1")
            let isBackByItself = try Self.wait(tab, "\(Self.isWebRTC) && tandem.session.isLive", seconds: 15)
            #expect(isBackByItself == "1", "the page returns to low delay by itself")
            #expect(browser.errors.isEmpty, "\(browser.errors)")
            #expect(try room.end() == 0)
            let isEnded = try Self.wait(tab, "document.getElementById('state').dataset.state === 'ended'", seconds: 15)
            #expect(isEnded == "1", "the page shows the end of the room")
        }

        @Test(
            "a WHEP request with another content type, an unknown rendition or a broken offer is refused; OPTIONS gets 204"
        )
        func statuses() throws {
            let work = try WorkDirectory()
            let room = try RunningRoom(Self.room(work.path("out")))
            let viewer = try #require(room.viewer)
            func status(_ method: String, _ path: String, _ fields: [String: String] = [:], body: String = "") throws
                -> Int
            {
                try HTTPClient.request(method, viewer, path, body: body, fields: fields).status
            }
            let type = ["Content-Type": "application/sdp"]
            #expect(try status("POST", "/whep", ["Content-Type": "text/plain"], body: "x") == 415)
            #expect(try status("POST", "/whep/other", type, body: "v=0\r\n") == 404)
            #expect([400, 409, 422].contains(try status("POST", "/whep", type, body: "v=0\r\n")))
            #expect(try status("OPTIONS", "/whep") == 204)
            #expect(try status("DELETE", "/whep/session/00112233445566778899aabbccddeeff") == 404)
            #expect(try status("POST", "/index.m3u8") == 405)
            #expect(try room.end() == 0)
        }
    }
}
