import Foundation
import Glibc
import HLS
import Synchronization
import Testing

extension Unhurried.Stores {
    @Suite("A worker is killed while its playlists are read every 20 ms")
    struct KilledRoomTests {
        /// Number of kills. Twenty in a row are a manual measurement: TANDEM_KILLS=20.
        private static let kills =
            ProcessInfo.processInfo.environment["TANDEM_KILLS"].flatMap { Int($0) }.map { max(1, $0) } ?? 2
        private static let lists = ["360p", "180p", "audio"]

        private static func room(_ directory: String) -> String {
            Rooms.live(
                directory,
                renditions: """
                    [ { "name": "360p", "width": 640, "height": 360,
                        "video": { "bitrate": 800000, "preset": "ultrafast", "bFrames": 2, "lookaheadFrames": 40 } },
                      { "name": "180p", "width": 320, "height": 180,
                        "video": { "bitrate": 300000, "preset": "ultrafast", "bFrames": 1, "lookaheadFrames": 40 } } ]
                    """, canvas: (640, 360)
            ).replacingOccurrences(of: #""windowSeconds": 600"#, with: #""windowSeconds": 600, "lowLatency": true"#)
        }

        /// Reads all playlists of a room repeatedly, and every named file once.
        private final class Reader: Sendable {
            struct Seen {
                /// Names of segments by playlist and number; of parts by playlist, number and index.
                var names: [String: String] = [:]
                /// Segments and parts as they were first fetched.
                var bytes: [String: [UInt8]] = [:]
                /// Files fetched from the current worker.
                var fetched: Set<String> = []
                var faults: [String] = []
                var reads = 0
            }

            private let viewer: String
            let seen: Mutex<Seen>
            private let isStopped = Mutex(false)
            private let done = DispatchSemaphore(value: 0)

            init(_ viewer: String, _ seen: Seen) {
                self.viewer = viewer
                self.seen = Mutex(seen)
                Thread.detachNewThread {
                    while !self.isStopped.withLock({ $0 }) {
                        for list in KilledRoomTests.lists { self.read(list) }
                        Thread.sleep(forTimeInterval: 0.02)
                    }
                    self.done.signal()
                }
            }

            func stop() -> Seen {
                self.isStopped.withLock { $0 = true }
                self.done.wait()
                return self.seen.withLock { $0 }
            }

            private func read(_ list: String) {
                guard let reply = try? HTTPClient.request("GET", self.viewer, "/\(list).m3u8"), reply.status == 200
                else {
                    return
                }
                var missing: [String] = []
                self.seen.withLock { seen in
                    seen.reads += 1
                    if reply.body.contains("#EXT-X-GAP") { seen.faults.append("\(list) has a gap") }
                    for (place, uri) in KilledRoomTests.named(reply.body) {
                        let place = "\(list) \(place)"
                        if let known = seen.names[place], known != uri {
                            seen.faults.append("\(place) was \(known) and is \(uri)")
                        }
                        seen.names[place] = uri
                        if !seen.fetched.contains(uri) { missing.append(uri) }
                    }
                }
                for name in missing {
                    // A file whose request fails because the worker dies is fetched from the next one.
                    guard let reply = try? HTTPClient.request("GET", self.viewer, "/\(name)") else { continue }
                    self.seen.withLock { seen in
                        seen.fetched.insert(name)
                        if reply.status != 200 {
                            seen.faults.append("\(name) is answered \(reply.status)")
                        } else if let known = seen.bytes[name], known != reply.bytes {
                            seen.faults.append("\(name) has other bytes")
                        } else {
                            seen.bytes[name] = reply.bytes
                        }
                    }
                }
            }
        }

        /// Segments and parts of a playlist: the media sequence number, for parts with the index, and the URI.
        private static func named(_ text: String) -> [(place: String, uri: String)] {
            var number = Playlist(text).mediaSequence
            var index = 0
            var named: [(place: String, uri: String)] = []
            for line in text.split(separator: "\n") {
                if line.hasPrefix("#EXT-X-PART:"), let start = line.firstRange(of: "URI=\"")?.upperBound {
                    named.append(("\(number).\(index)", String(line[start...].prefix { $0 != "\"" })))
                    index += 1
                } else if !line.hasPrefix("#") {
                    named.append(("\(number)", String(line)))
                    (number, index) = (number + 1, 0)
                }
            }
            return named
        }

        /// Media sequence number of the incomplete segment, and its number of parts.
        private static func open(_ text: String) -> (number: Int, parts: Int) {
            let playlist = Playlist(text)
            let lines = text.split(separator: "\n")
            let tail = lines.reversed().prefix { $0.hasPrefix("#") }
            return (playlist.mediaSequence + playlist.segments.count, tail.count { $0.hasPrefix("#EXT-X-PART:") })
        }

        /// Waits for the moment to kill: audio has the first part of a segment, or a rendition has a certain part.
        private static func wait(for list: String, part: Int, at viewer: String) throws {
            let begun = Date()
            var before = 0
            while Date().timeIntervalSince(begun) < 20 {
                let reply = try HTTPClient.request("GET", viewer, "/\(list).m3u8")
                let (number, parts) = Self.open(reply.body)
                if before > 0, number > before || part > 1, parts == part { return }
                before = max(before, number)
                Thread.sleep(forTimeInterval: 0.004)
            }
            throw Missing("\(list) never got part \(part)")
        }

        /// Presentation times of the frames of a playlist, in ticks.
        private static func times(_ directory: String, _ playlist: Playlist) throws -> [Int64] {
            var times: [Int64] = []
            for segment in playlist.segments {
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(segment.uri)")))
                let samples = try #require(SegmentSamples(bytes), "\(segment.uri)")
                for fragment in samples.fragments {
                    var time = fragment.decodeTime
                    for sample in fragment.samples {
                        times.append(time + Int64(sample.offset))
                        time += Int64(sample.duration)
                    }
                }
            }
            return times.sorted()
        }

        @Test(
            "after a worker is killed and replaced, listed segments and parts keep number, URI and bytes; every video frame appears once"
        )
        func killed() throws {
            let work = try WorkDirectory()
            let directory = work.path("out")
            var seen = Reader.Seen()
            for run in 0...Self.kills {
                let room = try RunningRoom(Self.room(directory))
                let viewer = try #require(room.viewer)
                let reader = Reader(viewer, seen)
                let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
                try room.segments(2, countsShort: run < 2)
                if run < Self.kills {
                    // After the first part of an audio segment, which is ahead of video; or after the first part of the
                    // video's second GOP, where B-frames may be pending, or before it.
                    let isAhead = run % 2 == 0
                    try Self.wait(for: isAhead ? "audio" : "360p", part: isAhead ? 1 : 3 - run / 2 % 2, at: viewer)
                    #expect(try room.terminate(SIGKILL) == 128 + SIGKILL)
                    seen = reader.stop()
                    seen.fetched = []
                    publisher.stop()
                    Thread.sleep(forTimeInterval: run % 4 == 0 ? 0.2 : 1.2)
                    continue
                }
                seen = reader.stop()
                // Parts are removed before the room ends.
                let segments = Set(seen.names.filter { !$0.key.contains(".") }.values)
                for (name, before) in seen.bytes.sorted(by: { $0.key < $1.key }) where segments.contains(name) {
                    let reply = try HTTPClient.request("GET", viewer, "/\(name)")
                    #expect(reply.status == 200 && reply.bytes == before, "\(name): \(reply.status)")
                }
                #expect(try room.end() == 0)
                publisher.stop()
            }
            EndToEnd.report(
                "\(Self.kills) kills: \(seen.reads) playlists read, \(seen.bytes.count) segments and parts fetched again, "
                    + "\(seen.faults.count) faults")
            #expect(seen.faults.isEmpty, "\(seen.faults.prefix(20))")
            for list in Self.lists {
                let playlist = try Playlist(contentsOf: "\(directory)/\(list).m3u8")
                #expect(playlist.mistakes.isEmpty && playlist.segments.allSatisfy { !$0.isDiscontinuity }, "\(list)")
                for (offset, segment) in playlist.segments.enumerated() {
                    let known = seen.names["\(list) \(playlist.mediaSequence + offset)"]
                    #expect(known == nil || known == segment.uri)
                }
                guard list != "audio" else { continue }
                let times = try Self.times(directory, playlist)
                let faults = zip(times, times.dropFirst()).filter { $1 - $0 != 1_000 }
                #expect(faults.isEmpty, "\(list): \(faults.map { "\($0.0) \($0.1)" })")
            }
        }
    }
}
