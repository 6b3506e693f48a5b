import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Chromium publishes with the publishers' page")
    struct WHIPPageTests {
        /// Number of worker kills. Twenty in a row are a manual measurement: TANDEM_PAGE_KILLS=20.
        private static let kills =
            ProcessInfo.processInfo.environment["TANDEM_PAGE_KILLS"].flatMap { Int($0) }.map { max(1, $0) } ?? 1
        /// Greatest time between the POST and the frame on air, in seconds, without the jitter buffer.
        private static let onAir = 1.0

        private static func pipeline(
            _ directory: String, rtmp: String = "127.0.0.1:0", listen: String = "127.0.0.1:0"
        ) -> String {
            Rooms.withWHIP(
                Rooms.live(
                    directory, renditions: Rooms.medium, canvas: (640, 360), scene: "guest", rtmp: rtmp),
                listen: listen)
        }

        @Test(
            "Chromium on the publishers' page is on air in 720p from the first frame, and again within 4 s after its worker was killed"
        )
        func page() throws {
            let browser = try Browser.start()
            defer { browser.close() }
            let work = try WorkDirectory()
            var room = try RunningRoom(Self.pipeline(work.path("out")))
            let origin = try room.whip.split(separator: "/").prefix(2).joined(separator: "//")
            let tab = try browser.open("\(origin)/#key=\(room.key("b"))")
            try Self.wait(tab, "the page", "document.readyState === 'complete'")
            try Self.goOnAir(tab, codec: "H264", size: "1280x720")
            try self.expectOnAir(tab, room, from: 0, "1280x720", "H.264")
            // The page regards a connection of less than 5 s as failed, and waits longer before the next one.
            Thread.sleep(forTimeInterval: 5.5)
            try self.expectWhole(room, "H.264")
            #expect(room.events("source.format").isEmpty, "the size changed")

            for run in 0..<Self.kills {
                #expect(try room.terminate(SIGKILL) == 128 + SIGKILL)
                let killed = Date().timeIntervalSince1970
                Thread.sleep(forTimeInterval: 0.2)
                room = try RunningRoom(
                    Self.pipeline(
                        work.path("out"), rtmp: String(room.rtmp.dropFirst("rtmp://".count)),
                        listen: String(origin.dropFirst("http://".count))))
                let frame = try room.event("source.first_frame", uid: "2002", timeout: 15)
                EndToEnd.report(
                    String(format: "kill %d: frame back after %.2f s (bar: 4)", run + 1, frame.time - killed))
                expectTiming(frame.time - killed, atMost: 4, "seconds from the kill of the worker to the next frame")
                Thread.sleep(forTimeInterval: run + 1 < Self.kills ? 5.5 : 1)
            }

            // The end of the page's connection without DELETE.
            var mark = room.now
            let closed = try #require(Double(try tab.evaluate("publication.link.peer.close(), Date.now()"))) / 1_000
            let end = try room.event("ingest.unpublished", uid: "2002", from: mark, timeout: 3)
            EndToEnd.report(String(format: "pc.close() seen after %.0f ms (bar: 200)", (end.time - closed) * 1_000))
            expectTiming(end.time - closed, atMost: 0.2, "seconds from pc.close() to ingest.unpublished")
            try tab.evaluate("stop(), ''")

            for codec in ["VP8", "VP9"] {
                mark = room.now
                try Self.goOnAir(tab, codec: codec, size: "640x360")
                try self.expectOnAir(tab, room, from: mark, "640x360", codec)
                Thread.sleep(forTimeInterval: 2)
                try self.expectWhole(room, codec)
                mark = room.now
                try tab.evaluate("document.getElementById('stop').click(), ''")
                try room.event("ingest.unpublished", uid: "2002", from: mark, timeout: 3)
            }
            #expect(browser.errors.isEmpty, "\(browser.errors)")
            #expect(try room.end() == 0)
        }

        /// Sends the test pattern and the test tone.
        private static func goOnAir(_ tab: Tab, codec: String, size: String) throws {
            try tab.evaluate(
                """
                document.querySelector('[name=source][value=pattern]').click();
                for (const [id, value] of [['audio', 'tone'], ['size', '\(size)'], ['codec', '\(codec)']]) {
                  document.getElementById(id).value = value;
                  document.getElementById(id).dispatchEvent(new Event('change'));
                }
                performance.clearResourceTimings();
                document.getElementById('air').click();
                ''
                """)
            try self.wait(tab, "on air", "document.getElementById('state').dataset.state === 'onair'")
        }

        private func expectOnAir(
            _ tab: Tab, _ room: RunningRoom, from mark: Int, _ size: String, _ codec: String
        ) throws {
            let frame = try room.event("source.first_frame", uid: "2002", from: mark)
            let posted = try tab.evaluate(
                """
                performance.timeOrigin
                  + performance.getEntriesByType('resource').find(({ name }) => name.includes('/whip')).startTime
                """)
            let buffer = Double(try room.statistics("2002").bufferMs) / 1_000
            let seconds = frame.time - (try #require(Double(posted))) / 1_000
            EndToEnd.report(
                String(
                    format: "%@ of Chromium on air %.2f s after the POST, with %.2f s in the jitter buffer", codec,
                    seconds, buffer))
            expectTiming(seconds, atMost: Self.onAir + buffer, "seconds from the POST to the first frame of \(codec)")
            #expect(frame.text("picture")?.hasPrefix(size) == true, "\(frame.line)")
        }

        private func expectWhole(_ room: RunningRoom, _ codec: String) throws {
            let counters = try room.statistics("2002")
            #expect(counters.packets > 0, "\(codec)")
            expectTiming(counters.damagedFrames, atMost: 0, "frames of \(codec) with missing packets")
            expectTiming(counters.damaged, atMost: 0, "packets of \(codec) that could not be decoded")
        }

        private static func wait(_ tab: Tab, _ what: String, _ condition: String, timeout: Double = 15) throws {
            let limit = Date(timeIntervalSinceNow: timeout)
            while try !["1", "true"].contains(tab.evaluate("Boolean(\(condition))")) {
                guard Date() < limit else {
                    let problem = try tab.evaluate("document.getElementById('problem')?.textContent")
                    throw Missing("the page did not show \(what) within \(timeout) s: \(problem)")
                }
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }
}
