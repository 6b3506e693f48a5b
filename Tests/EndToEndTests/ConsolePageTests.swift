import Foundation
import Glibc
import Testing

extension Unhurried.Access {
    @Suite("The operator page")
    struct ConsolePageTests {
        private static let token = "console-token-0123456789"
        private static let small =
            #"[{ "name": "360p", "width": 640, "height": 360, "video": { "bitrate": 500000, "preset": "ultrafast" } }]"#

        @Test(
            "with openReads the operator page shows the room to everybody; the token enables scenes, volume, mute and kick"
        )
        func page() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let work = try WorkDirectory()
            let control = #""control": { "tokenEnv": "ROOM_TOKEN", "openReads": true },"#
            // An address without a server.
            let push =
                #""outputs": [{ "type": "rtmp", "outputId": "cdn", "url": "rtmp://127.0.0.1:9/live/key-of-nobody" }, "#
            let room = try RunningRoom(
                Rooms.live(work.path("out"), renditions: Self.small, canvas: (640, 360), members: control)
                    .replacingOccurrences(of: #""outputs": ["#, with: push),
                environment: ["ROOM_TOKEN": Self.token])
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180"),
                try Publisher.pattern("BEN", to: room.url("b"), size: "320x180"),
            ]
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            let tab = try browser.open("\(room.control)/")
            try Self.wait(
                tab, "the picture plays",
                "document.getElementById('video')?.currentTime > 0.5",
                timeout: 25)
            try Self.wait(tab, "both sources are shown", "document.querySelectorAll('.source').length === 2")
            #expect(try tab.evaluate("document.querySelector('[data-scene=guest]').disabled") == "1", "read-only")
            #expect(try tab.evaluate("document.querySelector('.hands input').disabled") == "1", "read-only")
            #expect(
                try tab.evaluate(
                    "[...document.querySelectorAll('.hands button, .output button')].every((b) => b.hidden)")
                    == "1", "read-only")
            #expect(try tab.evaluate("document.querySelectorAll('#timeline rect').length > 4") == "1")

            // The token: a wrong one is refused, the right one enables the buttons, and it is kept only in this tab.
            for word in ["wrong", Self.token] {
                try tab.evaluate(
                    "document.getElementById('key').click(); document.getElementById('token').value = '\(word)'; "
                        + "document.getElementById('unlock-form').requestSubmit(); ''")
                if word == "wrong" {
                    try Self.wait(
                        tab, "a refusal",
                        "/not the token|does not allow/.test(document.getElementById('unlock-error').textContent)")
                }
            }
            try Self.wait(tab, "buttons", "!document.querySelector('[data-scene=guest]').disabled")
            #expect(try tab.evaluate("localStorage.length + document.cookie.length") == "0")
            let before = try Self.color(tab)
            let start = room.now
            try tab.evaluate(
                "document.querySelector('[data-scene=guest]').click(); document.getElementById('cut').click(); ''")
            try room.event("program.scene", from: start) { $0.text("scene") == "guest" }
            try Self.wait(
                tab, "the other picture",
                "(() => { const c = (\(Self.colorScript)); const b = [\(before)]; return Math.abs(c[0]-b[0]) + Math.abs(c[2]-b[2]) > 40; })()",
                timeout: 15)
            try Self.wait(
                tab, "the button",
                "document.querySelector('[data-scene=guest]').dataset.air === '1'")
            try Self.wait(
                tab, "the event",
                "[...document.querySelectorAll('#events b')].some((row) => row.textContent === 'program.scene')")
            EndToEnd.report("the page: picture \(before) before the click, \(try Self.color(tab)) after")
            try Self.operate(tab, room)
            try Self.screenshots(tab)
            #expect(browser.errors.isEmpty, "\(browser.errors)")
            #expect(try tab.evaluate("probe.errors.length") == "0")
            #expect(try room.terminate(SIGTERM) == 143)
            for publisher in publishers { publisher.stop() }
        }

        @Test("the operator page plays an encrypted room with signed URLs, and shows each event once")
        func encrypted() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let work = try WorkDirectory()
            let listener = #""http": { "listen": "127.0.0.1:0" }"#
            let pipeline = Rooms.live(
                work.path("out"), renditions: Self.small, canvas: (640, 360),
                members: #""control": { "tokenEnv": "ROOM_TOKEN" },"#)
            #expect(pipeline.contains(listener))
            let room = try RunningRoom(
                pipeline.replacingOccurrences(
                    of: listener,
                    with: #""multivariantPlaylist": "room.m3u8", "encryption": { "rotateEverySegments": 1 }, "#
                        + #""http": { "listen": "127.0.0.1:0", "signedUrls": { "secretEnv": "PLAYBACK_SECRET" } }"#),
                environment: ["ROOM_TOKEN": Self.token, "PLAYBACK_SECRET": "playback-secret-of-the-page-7f31c0"])
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try room.event("broadcast.active", timeout: 20)
            let tab = try browser.open("\(room.control)/")
            try Self.wait(tab, "it asks for the token", "document.getElementById('unlock')?.open")
            try tab.evaluate(
                "document.getElementById('token').value = '\(Self.token)'; "
                    + "document.getElementById('unlock-form').requestSubmit(); ''")
            // Over more than one key.
            try Self.wait(tab, "the picture plays", "document.getElementById('video')?.currentTime > 0.5", timeout: 25)
            let start = try #require(Double(tab.evaluate("document.getElementById('video').currentTime")))
            try Self.wait(
                tab, "it plays on over the next keys", "document.getElementById('video').currentTime > \(start + 5)",
                timeout: 20)
            let rows = "[...document.querySelectorAll('#events b')].map((row) => row.textContent)"
            #expect(try tab.evaluate("\(rows).filter((type) => type === 'broadcast.active').length") == "1")
            // As after a renewed token: the page reconnects once it is unlocked.
            try tab.evaluate(
                "window.asked = 0; (() => { const was = fetch; window.fetch = async (path, more) => { "
                    + "const reply = await was(path, more); "
                    + "if (String(path).includes('after=0&limit=1')) setTimeout(() => { window.asked += 1; }, 500); "
                    + "return reply; }; })(); tandem.feed.follow(); ''")
            try Self.wait(tab, "the events, asked for again", "window.asked > 0")
            #expect(try tab.evaluate("\(rows).filter((type) => type === 'broadcast.active').length") == "1")
            #expect(try room.terminate(SIGTERM) == 143)
            anna.stop()
        }

        @Test(
            "with a read-only token the operator page shows the room and refuses commands; the full token enables them")
        func reader() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let work = try WorkDirectory()
            let reader = "reader-token-0123456789"
            // For old devices, listed before the stream that pages play.
            let transport = #""outputs": [{ "type": "hls", "segmentFormat": "ts", "path": "\#(work.path("ts"))" }, "#
            let room = try RunningRoom(
                Rooms.live(
                    work.path("out"), renditions: Self.small, canvas: (640, 360),
                    members: #""control": { "tokenEnv": "ROOM_TOKEN", "readTokenEnv": "LOOK_TOKEN" },"#
                ).replacingOccurrences(of: #""outputs": ["#, with: transport),
                environment: ["ROOM_TOKEN": Self.token, "LOOK_TOKEN": reader])
            let tab = try browser.open("\(room.control)/")
            try Self.wait(tab, "it asks for the token", "document.getElementById('unlock')?.open")
            func enter(_ word: String) throws {
                try tab.evaluate(
                    "document.getElementById('token').value = '\(word)'; "
                        + "document.getElementById('unlock-form').requestSubmit(); ''")
            }
            try enter(reader)
            try Self.wait(
                tab, "the room, without the dialog",
                "document.querySelectorAll('.source').length === 2 && !document.getElementById('unlock').open")
            #expect(try tab.evaluate("document.querySelector('[data-scene=guest]').disabled") == "1", "read-only")
            try tab.evaluate("document.getElementById('key').click(); ''")
            try enter(reader)
            try Self.wait(
                tab, "a refusal",
                "document.getElementById('unlock-error').textContent.includes('does not allow commands')")
            try enter(Self.token)
            try Self.wait(tab, "buttons", "!document.querySelector('[data-scene=guest]').disabled")
            // The page was open before anyone published.
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            try Self.wait(tab, "the canvas", "!document.getElementById('snapshot').hidden", timeout: 20)
            try Self.wait(tab, "the picture plays", "document.getElementById('video').currentTime > 0.5", timeout: 25)
            // As with a worker that lost its journal: its numbers are lower than those the page knows.
            let ready =
                "[...document.querySelectorAll('#events b')].filter((row) => row.textContent === 'room.ready').length"
            try Self.wait(tab, "the first event", "\(ready) === 1")
            // Another event of the existing stream may come between the two.
            try Self.wait(
                tab, "the events of numbers that begin anew",
                "\(ready) > 1 || (() => { tandem.feed.last = 1e9; tandem.feed.stream(); return false; })()")
            #expect(try room.terminate(SIGTERM) == 143)
            anna.stop()
        }

        /// Checks outputs and state on the page, sets a volume, mutes, kicks, and filters the log.
        private static func operate(_ tab: Tab, _ room: RunningRoom) throws {
            try Self.wait(
                tab, "the output that is not reached",
                "document.querySelector('[data-output=cdn] .causes')?.textContent.includes('cdn cannot be reached')")
            try Self.wait(
                tab, "the output on the disk",
                "[...document.querySelectorAll('.output')].some((row) => row.textContent.includes('written'))")
            try Self.wait(
                tab, "the room's state", "document.getElementById('state').textContent.includes('Recovering')")
            let start = room.now
            try tab.evaluate(
                "(() => { const s = document.querySelector('.source .hands input'); s.value = '50'; "
                    + "s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change')); return ''; })()")
            #expect(try room.event("source.changed", uid: "1001", from: start).integer("volume") == 50)
            try Self.wait(tab, "the volume", "document.querySelector('.source .hands output').textContent === '50 %'")
            try tab.evaluate("document.querySelector('.source [data-part=mute]').click(); ''")
            try Self.wait(
                tab, "muted",
                "document.querySelector('.source [data-part=mute]').getAttribute('aria-pressed') === 'true'")
            try tab.evaluate(
                "window.confirm = () => true; "
                    + "document.querySelectorAll('.source')[1].querySelector('[data-part=kick]').click(); ''")
            try room.event("source.kicked", uid: "2002", from: start)
            try Self.wait(
                tab, "who was sent away",
                "document.querySelectorAll('.source')[1].textContent.includes('kicked until')")
            try tab.evaluate("document.getElementById('logs').open = true; ''")
            try Self.wait(
                tab, "log lines",
                "[...document.querySelectorAll('#log-lines li')].some((row) => row.textContent.includes('publisher kicked'))"
            )
            try tab.evaluate(
                "document.getElementById('log-filter').value = 'no such line'; "
                    + "document.getElementById('log-filter').dispatchEvent(new Event('input')); ''")
            try Self.wait(tab, "filtered", "document.querySelectorAll('#log-lines li').length === 0")
            try tab.evaluate(
                "document.getElementById('log-filter').value = ''; "
                    + "document.getElementById('log-filter').dispatchEvent(new Event('input')); ''")
        }

        /// Mean red, green and blue of the frame shown.
        private static let colorScript = """
            (() => { const c = document.createElement('canvas'); c.width = 16; c.height = 9; const x = c.getContext('2d');
            x.drawImage(document.getElementById('video'), 0, 0, 16, 9); const d = x.getImageData(0, 0, 16, 9).data;
            const s = [0, 0, 0]; for (let i = 0; i < d.length; i += 4) for (let k = 0; k < 3; k += 1) s[k] += d[i + k];
            return s.map((v) => Math.round(v / 144)); })()
            """

        private static func color(_ tab: Tab) throws -> String { try tab.evaluate("(\(Self.colorScript)).join(',')") }

        private static func wait(_ tab: Tab, _ what: String, _ condition: String, timeout: Double = 10) throws {
            let deadline = Date(timeIntervalSinceNow: timeout)
            while try tab.evaluate("(\(condition)) ? 'yes' : 'no'") != "yes" {
                guard Date() < deadline else {
                    let text = try tab.evaluate("document.body.innerText")
                    throw Missing("the page has not reached: \(what); it shows: \(text.prefix(600))")
                }
                usleep(100_000)
            }
        }

        /// If `TANDEM_PICTURES` is set, keeps screenshots for desktop and phone, dark and light, and checks that nothing is too
        /// wide.
        private static func screenshots(_ tab: Tab) throws {
            guard ProcessInfo.processInfo.environment["TANDEM_PICTURES"] != nil else { return }
            for (name, width, height) in [("desktop", 1366, 900), ("phone", 390, 844)] {
                for scheme in ["light", "dark"] {
                    try tab.browser.call(
                        "Emulation.setDeviceMetricsOverride",
                        ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500], tab.session)
                    try tab.browser.call(
                        "Emulation.setEmulatedMedia",
                        ["features": [["name": "prefers-color-scheme", "value": scheme]]], tab.session)
                    sleep(1)
                    try Contact.keep(tab, "console-\(name)-\(scheme)")
                    #expect(
                        try tab.evaluate("document.documentElement.scrollWidth <= innerWidth") == "1",
                        "nothing is wider than the \(name)")
                }
            }
        }
    }
}
