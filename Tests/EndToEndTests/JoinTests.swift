import Foundation
import Testing

extension EndToEnd {
    @Suite("Joining a room that has just started")
    struct JoinTests {
        /// Number of joins with the native player. The full test is `TANDEM_JOINS=60 TANDEM_TEST_MINUTES=20`.
        private static let wanted = ProcessInfo.processInfo.environment["TANDEM_JOINS"].flatMap { Int($0) }
        private static let joinsPerRoom = 3
        /// The first seconds of a room, in which its viewers join.
        private static let span = 6.0

        private struct Join {
            let way: Watching
            let tab: Tab
            /// Seconds after the first frame.
            let at: Double
        }

        /// When a tab showed its first frame, in seconds since the Unix epoch; nil: none within ten seconds.
        private static func firstPicture(_ tab: Tab) throws -> Double? {
            let text = try tab.evaluate(
                """
                new Promise((done) => {
                  const look = () => {
                    if (probe.firstPicture !== null) done(String(performance.timeOrigin + probe.firstPicture));
                    else setTimeout(look, 20);
                  };
                  look();
                  setTimeout(() => done(""), 10000);
                })
                """)
            return Double(text).map { $0 / 1_000 }
        }

        /// Waits until the multivariant playlist and every playlist that it names can be fetched.
        ///
        /// - Returns: Seconds since the Unix epoch, and the number of segments in the first version of each media
        ///   playlist.
        private static func listed(_ viewer: String) throws -> (time: Double, segments: [Int]) {
            let limit = Date().addingTimeInterval(15)
            while Date() < limit {
                let reply = try HTTPClient.request("GET", viewer, "/index.m3u8")
                if reply.status == 200 {
                    let time = Date().timeIntervalSince1970
                    let segments = try ["360p", "audio"].map { name in
                        let reply = try HTTPClient.request("GET", viewer, "/\(name).m3u8")
                        #expect(reply.status == 200, "\(name).m3u8 is named by index.m3u8")
                        return Playlist(reply.body).segments.count
                    }
                    return (time, segments)
                }
                Thread.sleep(forTimeInterval: 0.01)
            }
            throw Missing("no index.m3u8 within 15 s")
        }

        private static func median(_ values: [Double]) -> Double {
            values.isEmpty ? .infinity : values.sorted()[values.count / 2]
        }

        @Test(
            "Chromium's built-in player plays a room joined in its first six seconds; the first playlists have three or more segments"
        )
        func joins() throws {
            let viewers = try Viewers.start()
            let rooms = max(1, (Self.wanted ?? Self.joinsPerRoom) / Self.joinsPerRoom)
            var (native, failed) = (0, [String]())
            var (lists, frames): ([Double], [Double]) = ([], [])
            for number in 0..<rooms {
                let work = try WorkDirectory()
                let room = try RunningRoom(Rooms.watched(work.path("out")))
                let viewer = try #require(room.viewer)
                let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
                let begun = try room.event("source.first_frame").time
                var joins: [Join] = []
                func join(_ way: Watching, at offset: Double) throws {
                    Thread.sleep(until: Date(timeIntervalSince1970: begun + offset))
                    let tab = try viewers.watch(viewer, way)
                    joins.append(Join(way: way, tab: tab, at: Date().timeIntervalSince1970 - begun))
                }
                if viewers.hasHLSJS { try join(.hlsJS, at: 0) }
                let (time, segments) = try Self.listed(viewer)
                #expect(segments.allSatisfy { $0 >= 3 }, "the first playlists have \(segments) segments")
                lists.append(time - begun)
                // Every moment is covered by some room: the earliest in the first room, the latest in the last.
                for index in 0..<Self.joinsPerRoom {
                    let step = Self.span / Double(Self.joinsPerRoom)
                    let offset = (Double(index) + Double(number) / Double(max(1, rooms - 1))) * step
                    try join(.native, at: min(max(offset, time - begun), Self.span))
                }
                Thread.sleep(until: Date(timeIntervalSince1970: begun + Self.span + 5))
                for join in joins {
                    let report = try join.tab.report()
                    if join.way == .hlsJS {
                        frames.append((try Self.firstPicture(join.tab) ?? .infinity) - begun)
                        #expect(report.faults.isEmpty, "hls.js: \(report.errors)")
                    } else {
                        native += 1
                        if !report.faults.isEmpty || report.startedAt == nil || report.time < 1 {
                            failed.append("room \(number), \(String(format: "%.2f", join.at)) s: \(report.summary)")
                            join.tab.tell(report, join.way)
                        }
                    }
                    try viewers.browser.call("Page.navigate", ["url": "about:blank"], join.tab.session)
                }
                #expect(try room.end() == 0)
                publisher.stop()
            }
            EndToEnd.report(
                "\(native - failed.count) of \(native) native joins; playlist after \(PlayerReport.spread(lists)); hls.js' first "
                    + "frame after \(PlayerReport.spread(frames))")
            #expect(failed.isEmpty, "\(failed)")
            // Limits for an otherwise idle machine.
            guard Self.wanted != nil else { return }
            expectTiming(lists.max() ?? .infinity, atMost: 2.5, "seconds to the first playlist")
            if viewers.hasHLSJS { expectTiming(Self.median(frames), atMost: 4.7, "seconds to hls.js' first frame") }
        }
    }
}
