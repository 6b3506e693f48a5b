import Foundation
import Testing

extension EndToEnd {
    @Suite("Two publishers are shown in sync with each other")
    struct SyncTests {
        private static let bar = 50.0

        /// Offsets between two panes and two audio signals, in milliseconds; positive: the right one is later.
        private struct Offsets {
            var video: [Double]
            var audio: [Double]
            /// The offsets of the video over time: the start of each stretch.
            var steps: [String] = []

            init(_ decoded: Decoded, _ tones: Tones, _ hertz: (Int, Int), from start: Double, to end: Double) {
                let panes = (decoded.panes[0], decoded.panes[1])
                self.video = decoded.times.indices.compactMap { index in
                    guard (start...end).contains(decoded.times[index]), let left = panes.0[index].counter,
                        let right = panes.1[index].counter
                    else { return nil }
                    return Double(Int(left) - Int(right)) * 1000 / 30
                }
                var before: Int?
                for index in decoded.times.indices {
                    let apart = panes.0[index].counter.flatMap { left in
                        panes.1[index].counter.map { Int(left) - Int($0) }
                    }
                    if apart != before {
                        self.steps.append(String(format: "%.2f s: ", decoded.times[index]) + "\(apart ?? -999)")
                    }
                    before = apart
                }
                let right = tones.onsets(hertz.1)
                self.audio = tones.onsets(hertz.0).filter { (start...end).contains($0) }.compactMap { onset in
                    right.map { ($0 - onset) * 1000 }.min { abs($0) < abs($1) }
                }
            }

            var worst: Double { (self.video + self.audio).map { abs($0) }.max() ?? .infinity }

            var text: String {
                func range(_ values: [Double]) -> String {
                    String(format: "%.1f to %.1f", values.min() ?? .nan, values.max() ?? .nan)
                }
                return "\(self.video.count) pictures \(range(self.video)) ms, \(self.audio.count) beeps "
                    + "\(range(self.audio)) ms"
            }
        }

        @Test(
            "without wall-clock times, simultaneous frames and beeps of two publishers are at most 50 ms apart, also after a reconnect"
        )
        func byArrival() throws {
            let media = try Media.require()
            let rounds = ProcessInfo.processInfo.environment["TANDEM_TOGETHER"].flatMap { Int($0) } ?? 1
            for _ in 0..<rounds { try self.round(media, delay: 0, hasStamps: false, returns: true) }
        }

        @Test(
            "with wall-clock times, simultaneous frames and beeps of two publishers are at most 50 ms apart, though one is 400 ms late"
        )
        func byWallClock() throws {
            let media = try Media.require()
            let rounds = ProcessInfo.processInfo.environment["TANDEM_TOGETHER"].flatMap { Int($0) } ?? 1
            for _ in 0..<rounds { try self.round(media, delay: 0.4, hasStamps: true, returns: rounds > 1) }
        }

        /// - Parameters:
        ///   - delay: Additional network delay of the right one, in seconds.
        ///   - returns: The right one is killed and reconnects.
        private func round(_ media: Media, delay: Double, hasStamps: Bool, returns: Bool) throws {
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.live(directory, renditions: Rooms.large, scene: "pk"))
            let clips = (
                try LiveClip("ANNA", hasStamps: hasStamps), try LiveClip("BEN", hasStamps: hasStamps)
            )
            try #require(clips.0.beepHertz != clips.1.beepHertz)
            let start = Date().timeIntervalSince1970 + 0.3
            let feeds = (LiveFeed(clips.0, start: start), LiveFeed(clips.1, start: start, delay: delay))
            defer {
                feeds.0.stop()
                feeds.1.stop()
            }
            let anna = try Publisher.relay(media.ffmpeg, feeds.0, work.path("anna"), to: room.url("a"))
            var ben = try Publisher.relay(media.ffmpeg, feeds.1, work.path("ben"), to: room.url("b"))
            for uid in ["1001", "2002"] { try room.event("source.live", uid: uid) }
            var spans: [(from: Double, to: Double)] = []
            let origin = try #require(
                room.event("program.started").text("origin").flatMap {
                    ISO8601DateFormatter.milliseconds.date(from: $0)
                }
            ).timeIntervalSince1970
            func watch() {
                // A second to settle; the measurement ends a moment before now, since it must be on air.
                Thread.sleep(forTimeInterval: 5.2)
                let now = Date().timeIntervalSince1970 - origin
                spans.append((now - 4.2, now - 0.2))
            }
            // A source on air before the other's delay was known takes one step of the whole difference, half a second
            // later.
            if hasStamps { try self.alignment(room, by: delay) }
            watch()
            if hasStamps { try self.expectWallClock(room) }
            if returns {
                let mark = room.now
                ben.stop(SIGKILL)
                try room.event("source.lost", uid: "2002", from: mark)
                ben = try Publisher.relay(media.ffmpeg, feeds.1, work.path("ben again"), to: room.url("b"))
                try room.event("source.live", uid: "2002", from: mark)
                watch()
            }
            let state = try HTTPClient.request("GET", room.control, "/v1/sources").body
            #expect(try room.end() == 0)
            for publisher in [anna, ben] { publisher.stop(SIGKILL) }
            let decoded = try Decoded("\(directory)/720p.m3u8", [.left, .right], media)
            let tones = try Tones("\(directory)/audio.m3u8", media)
            for (index, span) in spans.enumerated() {
                let apart = Offsets(
                    decoded, tones, (clips.0.beepHertz, clips.1.beepHertz), from: span.from, to: span.to)
                let way = hasStamps ? "by wall clock, one way 400 ms longer" : "by arrival"
                EndToEnd.report(
                    "\(way), \(index == 0 ? "from the start" : "after a return"): \(apart.text) (bar: \(Self.bar)), "
                        + "\(room.events("encoder.overload_step").count) steps against overload")
                #expect(apart.video.count >= 100 && apart.audio.count >= 3, "\(state)")
                let seams =
                    room.events("source.reanchored").map { "\($0.time - origin) s: \($0.text("uid") ?? "")" }
                    + room.events("encoder.overload_step").map {
                        "\($0.time - origin) s: \($0.text("step") ?? "") lag \($0.integer("lagMs") ?? -1) ms"
                    }
                expectTiming(
                    apart.worst, atMost: Self.bar,
                    "ms apart, in span \(span): \(apart.steps); seams \(seams); \(state)")
            }
        }

        /// Waits until the left one is delayed by as much as the right one's path is longer.
        private func alignment(_ room: RunningRoom, by delay: Double) throws {
            let began = Date(), deadline = Date(timeIntervalSinceNow: 15)
            while true {
                let wait = try Self.sources(room).first?["wallMs"] as? Int ?? 0
                if abs(Double(wait) - delay * 1000) <= 50 {
                    expectTiming(Date().timeIntervalSince(began), atMost: 3, "seconds until the panes are aligned")
                    return
                }
                guard Date() < deadline else { throw Missing("1001 waits \(wait) ms for the other's longer path") }
                Thread.sleep(forTimeInterval: 0.05)
            }
        }

        private func expectWallClock(_ room: RunningRoom) throws {
            #expect(try Self.sources(room).map { $0["clock"] as? String } == ["wall", "wall"])
        }

        private static func sources(_ room: RunningRoom) throws -> [[String: Any]] {
            try HTTPClient.request("GET", room.control, "/v1/sources").json()["sources"] as? [[String: Any]] ?? []
        }
    }
}

extension ISO8601DateFormatter {
    /// The format of program dates.
    static var milliseconds: ISO8601DateFormatter {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter
    }
}
