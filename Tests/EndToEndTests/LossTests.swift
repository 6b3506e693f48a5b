import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("A publisher is lost and returns while the program continues")
    struct LossTests {
        /// How a publisher disconnects.
        enum Way: String, CaseIterable { case clean, reset, silent, killed }

        @Test(
            "after any disconnect of a publisher, playlists and the other pane go on; its return is on air at most 1 s after its key frame"
        )
        func cycles() throws {
            let media = try Media.require()
            let wanted = ProcessInfo.processInfo.environment["TANDEM_CYCLES"].flatMap { Int($0) } ?? 8
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(
                Rooms.live(directory, renditions: Rooms.large, scene: "pk"),
                ["--set", "ingest.rtmp.idleTimeoutMs=1500"])
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.event("source.live", uid: "1001")
            var notices: [Double] = []
            for cycle in 0..<wanted {
                let way = Way.allCases[cycle % Way.allCases.count]
                let notice = try self.comeAndGo(room, way, stay: 0.5 + 0.13 * Double(cycle % 5))
                if way != .silent { notices.append(notice) }
            }
            try room.segments(1)
            #expect(try room.end() == 0)
            anna.stop()
            EndToEnd.report(
                "\(wanted) cycles: loss noticed at most \(Self.text(notices.max() ?? 9)) s after the end (bar: 1)")
            expectTiming(notices.max() ?? 9, atMost: 1, "seconds from the end of a publisher to source.lost")
            #expect(room.events("source.lost").count == wanted)
            try self.expectUndisturbed(room, directory, media, returns: wanted)
        }

        /// One publication of uid 2002.
        ///
        /// - Returns: Seconds from its end to `source.lost`.
        private func comeAndGo(_ room: RunningRoom, _ way: Way, stay: Double) throws -> Double {
            let start = room.now
            var url = room.url("b")
            var proxy: ResettingProxy?
            if way == .reset, let port = room.rtmp.split(separator: ":").last.flatMap({ UInt16($0) }) {
                let wire = try ResettingProxy(to: port)
                url = "rtmp://127.0.0.1:\(wire.port)/live/\(room.key("b"))"
                proxy = wire
            }
            let ben = try Publisher.pattern("BEN", to: url, size: "640x360")
            try room.event("source.live", uid: "2002", from: start)
            // At a different position of the GOP each time.
            Thread.sleep(forTimeInterval: stay)
            let mark = room.now
            let left = Date().timeIntervalSince1970
            switch way {
            case .clean: ben.child.signal(SIGTERM)
            case .reset: proxy?.cut()
            case .silent: ben.child.signal(SIGSTOP)
            case .killed: ben.child.signal(SIGKILL)
            }
            let lost = try room.event("source.lost", uid: "2002", from: mark, timeout: 6)
            ben.child.signal(SIGKILL)
            return lost.time - left
        }

        private static func text(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

        /// The pane of the remaining source, the pane of the returned source, and the playlists.
        private func expectUndisturbed(
            _ room: RunningRoom, _ directory: String, _ media: Media, returns: Int
        ) throws {
            let decoded = try Decoded("\(directory)/720p.m3u8", [.left, .right], media)
            try self.expectReturns(room, decoded, returns)
            let (steps, good) = decoded.steps(0, from: 1.5)
            EndToEnd.report("the other pane's counter advances in \(good) of \(steps) steps (bar: 99 %)")
            #expect(steps > 100)
            expectTiming(
                Double(good) / Double(max(1, steps)), atLeast: 0.99, "share of steps that advance the other counter")
            let segments = room.events("segment.published")
            let gaps = zip(segments, segments.dropFirst()).map { $1.time - $0.time }
            let length = 64.0 / 30
            EndToEnd.report("segments at most \(String(format: "%.3f", gaps.max() ?? 0)) s apart (\(length) s each)")
            expectTiming(gaps.dropLast().max() ?? 0, atMost: length + 0.7, "seconds between two segments")
            for (name, playlist) in try Playlist.all(in: directory) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(playlist.segments.count == segments.count, "\(name)")
            }
            let counts =
                try #require(room.events("room.closed").first).object("summary")["ticks"] as? [String: Any] ?? [:]
            expectOnTime(counts, isLateAllowed: true)
        }

        /// Measured on the program: from the arrival of a publication's key frame to its first frame on air.
        private func expectReturns(_ room: RunningRoom, _ decoded: Decoded, _ returns: Int) throws {
            let frames = room.events("source.first_frame").filter { $0.text("uid") == "2002" }
            let counters = decoded.panes[1].map(\.counter)
            let first = try #require(room.events("program.started").first?.integer("firstTick"))
            var delays: [Double] = []
            for frame in frames {
                let key = try #require(frame.integer("programTimeMs")) - #require(frame.integer("sinceKeyFrameMs"))
                let from = max(1, key * 30 / 1000 - first)
                // The held frame, or the card, is replaced by a new counter.
                let shown = counters.indices.dropFirst(from).first {
                    counters[$0] != nil && counters[$0] != counters[$0 - 1]
                }
                delays.append(Double((try #require(shown) + first) * 1000 / 30 - key) / 1000)
            }
            let (worst, mean) = (delays.max() ?? 9, delays.reduce(0, +) / Double(max(1, delays.count)))
            EndToEnd.report(
                "\(delays.count) returns: on air \(Self.text(mean)) s after the key frame, at most \(Self.text(worst)) "
                    + "(bar: 1)")
            #expect(delays.count == returns)
            expectTiming(worst, atMost: 1, "seconds from a key frame until it is on air")
        }
    }
}
