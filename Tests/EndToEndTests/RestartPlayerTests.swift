import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("Real players while a worker is killed and replaced")
    struct RestartPlayerTests {
        /// Number of restarts. The full test is `TANDEM_RESTARTS=10`, with all players.
        private static let wanted = ProcessInfo.processInfo.environment["TANDEM_RESTARTS"].flatMap { Int($0) }
        private static let restarts = max(1, Self.wanted ?? 2)
        /// Seconds from the death of a worker to the start of the next; its first segment is out about 0.4 s later.
        private static let pauses = [0.3, 1.5, 0.9, 0.1, 1.2]
        private static let lists = ["/360p.m3u8", "/180p.m3u8", "/audio.m3u8"]

        /// The type of the first slice of a video segment (ITU-T H.264 table 7-1): 5 is an IDR slice.
        private static func firstSlice(_ path: String) throws -> Int? {
            let bytes = [UInt8](try Files.bytes(path))
            func number(_ at: Int) -> Int { bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
            var at = 0
            while at + 8 <= bytes.count {
                let size = number(at)
                guard size >= 8, at + size <= bytes.count else { return nil }
                if bytes[(at + 4)..<(at + 8)].elementsEqual("mdat".utf8) {
                    var unit = at + 8
                    while unit + 5 <= at + size {
                        let type = Int(bytes[unit + 4] & 31)
                        if (1...5).contains(type) { return type }
                        unit += 4 + number(unit)
                    }
                }
                at += size
            }
            return nil
        }

        @Test(
            "when a worker is killed and replaced, players continue, hls.js stalls 2 s at most, and playlists keep their history"
        )
        func players() throws {
            let viewers = try Viewers.find()
            let work = try WorkDirectory()
            let directory = work.path("out")
            var room = try RunningRoom(Rooms.watched(directory, second: true))
            var anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.segments(4)
            let viewer = try #require(room.viewer)
            let (rtmp, http) = (room.rtmp.dropFirst("rtmp://".count), viewer.dropFirst("http://".count))
            let watch = PlaylistWatch(viewer, Self.lists)
            // It ends with the room.
            let lint = try Child(EndToEnd.binary, ["lint-hls", "\(viewer)/index.m3u8", "--duration", "600"])
            let inits = try Files.names(in: directory).filter { $0.hasSuffix(".mp4") }
            let initBytes = try inits.map { try Files.bytes("\(directory)/\($0)") }
            // FFmpeg, and mpv with it, ends a live stream if its server refuses one connection, and hls.js gives up
            // after three refusals; Chromium and GStreamer retry.
            let front = try WaitingFront(to: try #require(UInt16(http.split(separator: ":").last ?? "")))
            let plays = try LongPlay.Player.allCases.filter { Self.wanted != nil || $0 == .ffmpeg }.compactMap {
                try LongPlay.start($0, "\($0 == .gstreamer ? viewer : front.address)/index.m3u8")
            }
            let tabs = try (viewers?.ways ?? []).filter { $0 != .page }.map { way in
                (way, try viewers?.watch(way == .hlsJS ? front.address : viewer, way))
            }
            Thread.sleep(forTimeInterval: 5)
            let start = Date().timeIntervalSince1970
            var liveSegments: [(number: Int, incarnation: Int)] = []
            for run in 0..<Self.restarts {
                #expect(try room.terminate(SIGKILL) == 128 + SIGKILL)
                let killed = Date().timeIntervalSince1970
                anna.stop(SIGKILL)
                Thread.sleep(forTimeInterval: Self.pauses[run % Self.pauses.count])
                room = try RunningRoom(Rooms.watched(directory, rtmp: String(rtmp), http: String(http), second: true))
                let ready = Date().timeIntervalSince1970 - killed
                anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
                let live = try room.event("segment.published") { $0.integer("slate") == 0 }
                liveSegments.append((live.integer("mediaSequence") ?? -1, run + 2))
                // At different positions of a segment, with time for players to refill their buffers.
                Thread.sleep(forTimeInterval: 4 + 0.37 * Double(run % 5))
                EndToEnd.report(
                    String(
                        format:
                            "restart %d: ready %.2f s after the kill, away %.2f s, filled %d ms, live segment after %.2f s",
                        run + 1, ready, watch.outages.last ?? 0,
                        room.events("output.filled").first?.integer("durationMs") ?? 0, live.time - killed))
            }
            let before = try tabs.map { try $0.1?.report().time ?? 0 }
            let positions = plays.map(\.position)
            Thread.sleep(forTimeInterval: 3)
            for ((way, tab), before) in zip(tabs, before) {
                guard let report = try tab?.report() else { continue }
                EndToEnd.report(
                    "\(Self.restarts) restarts, \(way.rawValue): stalls \(report.stalls.map { ($0 * 100).rounded() / 100 }), \(report.summary)"
                )
                let log = tab?.tell(report, way) ?? []
                // Chromium's built-in player does not request a reply again that a kill has cut off. That is rare.
                if way == .native, log.contains(where: { $0.contains("Network read stopped") }) { continue }
                #expect(!report.errors.contains { $0.fatal == true }, "\(way.rawValue)")
                expectTiming(
                    report.time - before, atLeast: 2.4, "seconds that \(way.rawValue) played in the last 3 s")
                if way == .hlsJS {
                    expectTiming(report.stalls.max() ?? 0, atMost: 2, "seconds of the longest stall: \(report.waits)")
                    expectTiming(report.longestStandstill, atMost: 2_000, "ms for which hls.js stalled")
                }
            }
            for (play, before) in zip(plays, positions) {
                let standstill = play.longestStandstill(since: start)
                EndToEnd.report(
                    "\(Self.restarts) restarts, \(play.player.rawValue): \(String(format: "%.1f s played, standstill at most %.2f s", play.position, standstill)), says \(play.complaints.prefix(5))"
                )
                #expect(play.isRunning, "\(play.player.rawValue) stopped")
                expectTiming(
                    play.position - before, atLeast: 2.4, "seconds that \(play.player.rawValue) played in the last 3 s")
                expectTiming(standstill, atMost: 2, "seconds for which \(play.player.rawValue) stalled")
                play.stop()
            }
            watch.stop()
            #expect(try room.end() == 0)
            #expect(try lint.wait(timeout: 40) == 0)
            for line in lint.outputLines { EndToEnd.report("lint: \(line)") }
            #expect(lint.outputLines.last == "no findings")
            anna.stop()

            EndToEnd.report(
                "\(watch.reads) playlists read, away \(watch.outages.map { String(format: "%.2f", $0) }.joined(separator: " ")) s"
            )
            #expect(watch.faults.isEmpty)
            #expect(watch.outages.count >= Self.restarts)
            expectTiming(watch.reads, atLeast: 100 * Self.restarts + 1, "playlists read")
            #expect(watch.maps.count == 3 && watch.maps.values.allSatisfy { $0.count == 1 }, "\(watch.maps)")
            #expect(watch.promises.values.allSatisfy { $0.count == 4 }, "\(watch.promises)")
            #expect(try Files.names(in: directory).filter { $0.hasSuffix(".mp4") } == inits && inits.count == 3)
            #expect(try inits.map { try Files.bytes("\(directory)/\($0)") } == initBytes)
            for (number, incarnation) in liveSegments {
                for name in ["360p", "180p"] {
                    let slice = try Self.firstSlice("\(directory)/\(name)-\(incarnation)-\(number).m4s")
                    #expect(slice == 5, "\(name) \(number) does not start with an IDR frame")
                }
            }
            let after = try Command.tandem(["lint-hls", "\(directory)/index.m3u8"])
            #expect(after.code == 0 && after.output.hasSuffix("no findings\n"), "\(after.output)")
        }
    }
}
