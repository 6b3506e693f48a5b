import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("A PK on the operator page")
    struct ConsolePKTests {
        private static func pipeline(_ work: WorkDirectory) -> String {
            """
            {
              "room": { "roomId": "e2e" },
              "ingest": { "rtmp": { "listen": "127.0.0.1:0" } },
              "sources": [
                { "uid": "1001", "name": "Anna", "streamKey": "a" }, { "uid": "2002", "name": "Ben", "streamKey": "b" }
              ],
              "canvas": { "width": 320, "height": 180 },
              "scenes": [
                { "sceneId": "solo", "layout": "solo", "uids": ["1001"] },
                { "sceneId": "guest", "layout": "solo", "uids": ["2002"] },
                { "sceneId": "pk", "panes": [
                    { "uid": "1001", "x": 0, "y": 20, "width": 160, "height": 120 },
                    { "uid": "2002", "x": 160, "y": 20, "width": 160, "height": 120 }],
                  "scoreBars": [{ "scoreId": "pk", "x": 0, "y": 0, "width": "100%", "height": 12 }],
                  "countdowns": [{ "countdownId": "pk", "of": "pk", "x": "50%", "y": 20, "size": 16, "align": "center" }] }
              ],
              "program": { "scene": "guest" },
              "pk": { "scene": "pk", "countdownMs": 0, "durationMs": 300000, "punishMs": 60000, "endScene": "solo" },
              "renditions": \(Rooms.small),
              "outputs": [
                { "type": "hls", "path": "\(work.path("out"))", "http": { "listen": "127.0.0.1:0" } },
                { "type": "record", "outputId": "record", "path": "\(work.path("recording"))" }
              ]
            }
            """
        }

        @Test(
            "inviting a guest, a PK, recording, a clip and a moved pane take at most 40 mouse actions; scenes and layout work by keyboard"
        )
        func mouse() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let work = try WorkDirectory()
            let room = try RunningRoom(Self.pipeline(work))
            var publishers = [
                try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180"),
                try Publisher.pattern("BEN", to: room.url("b"), size: "320x180"),
            ]
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            let tab = try browser.open("\(room.control)/")
            try browser.call(
                "Emulation.setDeviceMetricsOverride",
                ["width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": false], tab.session)
            try Self.wait(tab, "the canvas", "document.getElementById('snap')?.naturalWidth > 0", timeout: 20)
            let hand = Hand(tab)
            let ben = try Self.color(tab)

            try hand.click("[data-scene=solo]")
            try hand.click("#cut")
            try room.event("program.scene") { $0.text("scene") == "solo" }
            try Self.wait(
                tab, "Anna on the canvas",
                "(() => { const c = \(Self.colorScript), b = [\(ben)]; return Math.abs(c[0] - b[0]) + Math.abs(c[2] - b[2]) > 40; })()"
            )

            try hand.click("#pk-invite")
            try hand.click("#invite-make")
            let code = "document.querySelector('#invite-address code')?.textContent"
            try Self.wait(tab, "the guest's address", "\(code)?.startsWith('rtmp://')")
            publishers.append(try Publisher.pattern("GUEST", to: tab.evaluate(code), size: "320x180"))
            try hand.click("#invite-close")
            try room.event("source.live", uid: "guest-3")

            try hand.click("#pk-start")
            try room.event("pk.started")
            #expect(try Self.pk(room)["scene"] as? String == "pk-guest-3")
            try hand.click("[data-half=left] [data-step=\"100\"]")
            try hand.click("[data-half=right] [data-step=\"10\"]")
            try Self.until("the scores") {
                let score = try (Self.get(room, "/v1/scenes")["scores"] as? [[String: Any]])?.first
                return score?["left"] as? Int == 100 && score?["right"] as? Int == 10
            }
            try Self.wait(tab, "the time left", "/0[0-5]:\\d\\d/.test(document.getElementById('pk-left').textContent)")
            try hand.click("#pk-punish")
            try room.event("pk.punish")
            try hand.click("#pk-end")
            try room.event("pk.ended")
            #expect(try Self.pk(room)["phase"] as? String == "idle")

            try hand.click("#record")
            try room.event("output.stopped")
            try Self.wait(
                tab, "the button that records",
                "document.querySelector('#record[aria-pressed=false]:not([disabled])') !== null")
            try hand.click("#record")
            try room.event("output.started")
            try hand.click("#clip")
            try Self.file(of: room.event("clip.ready"), room)
            try hand.click("#still")
            try Self.wait(
                tab, "the still", "document.querySelector('#captured [data-sort=still] img')?.naturalWidth > 0")

            try hand.click("[data-scene=pk]")
            try hand.click("#edit")
            try hand.drag("[data-item=\"panes:1\"]", -60, 40)
            try hand.click("#apply")
            try room.event("room.changed") { $0.line.contains("scenes[2].panes[1].x") }
            try hand.click("#cut")
            try room.event("program.scene") { $0.text("scene") == "pk" && $0.text("reason") == "command" }
            let moved = try Self.pane(room)
            #expect(moved.x < 160 && moved.y > 20)

            try hand.click("[data-uid=\"2002\"] [data-part=kick]")
            try room.event("source.kicked", uid: "2002") { $0.integer("refuseSeconds") == 60 }
            try hand.click(".toast .link:not(.close)")
            try room.event("source.kicked", uid: "2002") { $0.integer("refuseSeconds") == 0 }
            #expect(hand.actions <= 40, "\(hand.actions) actions")
            EndToEnd.report("a PK with \(hand.actions) actions of the mouse")

            try Self.keyboard(hand, tab, room)
            #expect(browser.errors.isEmpty, "\(browser.errors)")
            #expect(try room.terminate(SIGTERM) == 143)
            for publisher in publishers { publisher.stop() }
        }

        /// Scenes and the layout with keys only.
        private static func keyboard(_ hand: Hand, _ tab: Tab, _ room: RunningRoom) throws {
            try tab.evaluate("document.activeElement?.blur(); ''")
            let start = room.now
            try hand.press("2")
            try hand.press("Enter")
            try room.event("program.scene", from: start) { $0.text("scene") == "guest" }
            try hand.press("3")
            try self.wait(tab, "the preview", "document.getElementById('preview-name').textContent === 'pk'")
            let before = try self.pane(room)
            try hand.press("e")
            try hand.tabTo("[data-item=\"panes:1\"]")
            for _ in 0..<3 { try hand.press("ArrowRight") }
            try hand.tabTo("#apply")
            try hand.press("Enter")
            try room.event("room.changed", from: start)
            let after = try self.pane(room)
            #expect(after.x == before.x + 6 && after.y == before.y)
        }

        // MARK: The room

        private static func get(_ room: RunningRoom, _ path: String) throws -> [String: Any] {
            try HTTPClient.request("GET", room.control, path).json()
        }

        private static func pk(_ room: RunningRoom) throws -> [String: Any] {
            try room.state()["pk"] as? [String: Any] ?? [:]
        }

        /// The second pane of the scene `pk`.
        private static func pane(_ room: RunningRoom) throws -> (x: Int, y: Int) {
            let scenes = try Self.get(room, "/v1/scenes")["scenes"] as? [[String: Any]] ?? []
            let panes = scenes.first { $0["sceneId"] as? String == "pk" }?["panes"] as? [[String: Any]] ?? []
            let pane = try #require(panes.last)
            return (try #require(pane["x"] as? Int), try #require(pane["y"] as? Int))
        }

        /// Fetches the file of a clip.
        private static func file(of event: Event, _ room: RunningRoom) throws {
            let clips = try Self.get(room, "/v1/clips")["clips"] as? [[String: Any]] ?? []
            let clip = try #require(clips.last)
            let reply = try HTTPClient.request("GET", room.control, "/v1/clips/\(clip["id"] ?? "")/file")
            #expect(reply.status == 200 && reply.bytes.count == clip["bytes"] as? Int, "\(event.line)")
        }

        // MARK: The page

        /// Mean red, green and blue of the canvas that the page shows.
        private static let colorScript = """
            (() => { const c = document.createElement('canvas'); c.width = 16; c.height = 9; const x = c.getContext('2d');
            x.drawImage(document.getElementById('snap'), 0, 0, 16, 9); const d = x.getImageData(0, 0, 16, 9).data;
            const s = [0, 0, 0]; for (let i = 0; i < d.length; i += 4) for (let k = 0; k < 3; k += 1) s[k] += d[i + k];
            return s.map((v) => Math.round(v / 144)); })()
            """

        private static func color(_ tab: Tab) throws -> String { try tab.evaluate("(\(Self.colorScript)).join(',')") }

        private static func wait(_ tab: Tab, _ what: String, _ condition: String, timeout: Double = 30) throws {
            try Self.until("on the page: \(what)", timeout: timeout) {
                try tab.evaluate("(\(condition)) ? 'yes' : 'no'") == "yes"
            }
        }

        private static func until(_ what: String, timeout: Double = 30, _ condition: () throws -> Bool) throws {
            let deadline = Date(timeIntervalSinceNow: timeout)
            while try !condition() {
                guard Date() < deadline else { throw Missing("not reached: \(what)") }
                usleep(100_000)
            }
        }
    }
}
