import Foundation
import Testing

extension EndToEnd {
    @Suite("MPEG-TS segments and I-frame playlists in players")
    struct TransportPlayerTests {
        /// A room with all its players.
        private struct Watched {
            let isEncrypted: Bool
            let streams: String
            let room: RunningRoom
            let viewer: String
            let publishers: [Publisher]
            var tabs: [(name: String, tab: Tab)] = []
            var lints: [Child] = []

            var name: String { self.isEncrypted ? "encrypted" : "clear" }

            init(_ work: WorkDirectory, isEncrypted: Bool) throws {
                let name = isEncrypted ? "encrypted" : "clear"
                self.isEncrypted = isEncrypted
                self.streams = work.path("\(name)-ts")
                let renditions = """
                    [ { "name": "large", "width": 640, "height": 360, "video": { "bitrate": 600000 } },
                      { "name": "small", "width": 320, "height": 180, "video": { "bitrate": 200000 } } ]
                    """
                let encryption = isEncrypted ? #""encryption": { "rotateEverySegments": 2 },"# : ""
                let pipeline = try TransportRoom.beside(
                    self.streams, Rooms.live(work.path(name), renditions: renditions, canvas: (640, 360))
                ).replacingOccurrences(
                    of: #""windowSeconds": 600,"#,
                    with: #""windowSeconds": 600, "iFramePlaylists": true, \#(encryption)"#)
                let room = try RunningRoom(pipeline)
                self.room = room
                self.viewer = try #require(room.viewer)
                self.publishers = [
                    try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360"),
                    try Publisher.pattern("BEN", to: room.url("b"), size: "640x360"),
                ]
            }

            /// Starts players of both playlists, and lint for as long as they play.
            mutating func watch(_ viewers: Viewers?) throws {
                let watched = [
                    ("the list with I-frame playlists", self.viewer), ("transport streams", "\(self.viewer)/ts"),
                ]
                // Without a browser only FFmpeg and lint check it.
                if let viewers, viewers.hasHLSJS {
                    for (name, address) in watched { self.tabs.append((name, try viewers.watch(address, .hlsJS))) }
                }
                self.lints = try ["index.m3u8", "ts/index.m3u8"].map {
                    try Child(EndToEnd.binary, ["lint-hls", "\(self.viewer)/\($0)", "--duration", "9"])
                }
            }

            func expectPlayed() throws {
                for (name, tab) in self.tabs {
                    let report = try tab.report()
                    EndToEnd.report("\(self.name) \(name) in hls.js: \(report.summary)")
                    #expect(
                        report.faults.isEmpty && report.corrupted == 0, "\(self.name) \(name): \(report.errors)")
                    report.expectNoStall("\(self.name) \(name)")
                    expectTiming(report.time, atLeast: 6, "seconds played of \(self.name) \(name)")
                }
            }

            func expectLegal(_ media: Media) throws {
                for lint in self.lints {
                    let code = try lint.wait(timeout: 30)
                    #expect(code == 0, "\(self.name): \(lint.outputLines.suffix(12).joined(separator: "\n"))")
                }
                // While it is live: the keys come from the room.
                #expect(try TransportRoom.complaints("\(self.viewer)/ts/large.m3u8", media, seconds: 4) == "")
                let list = try Files.text("\(self.streams)/large.m3u8")
                let keys = list.components(separatedBy: "#EXT-X-KEY:METHOD=AES-128,URI=\"large-").count - 1
                #expect((keys > 2) == self.isEncrypted, "\(self.name): \(keys) keys")
                for bytes in try TransportRoom.segments(self.streams) {
                    #expect((bytes.first == 0x47 && bytes.count.isMultiple(of: 188)) == !self.isEncrypted)
                    #expect(!self.isEncrypted || bytes.count.isMultiple(of: 16))
                }
            }
        }

        /// One room after the other: two rooms with four pages at once need more than two cores, and the pages stall.
        @Test(
            "hls.js plays the MPEG-TS and fMP4 playlists of a room with I-frame playlists; ffmpeg decodes the MPEG-TS; also encrypted",
            arguments: [false, true])
        func players(isEncrypted: Bool) throws {
            let media = try Media.require()
            let viewers = try Viewers.find()
            let work = try WorkDirectory()
            var watched = try Watched(work, isEncrypted: isEncrypted)
            try watched.room.event("source.live", uid: "2002")
            // hls.js starts three target durations of one second before the end; JoinTests covers viewers who join earlier.
            try watched.room.event("segment.published", timeout: 30) { ($0.integer("mediaSequence") ?? 0) >= 8 }
            let master = try HTTPClient.request("GET", watched.viewer, "/index.m3u8").body
            #expect(master.components(separatedBy: "#EXT-X-I-FRAME-STREAM-INF:").count == 3, "\(master)")
            try watched.watch(viewers)
            for scene in ["pk", "solo"] {
                Thread.sleep(forTimeInterval: 3)
                try watched.room.put(scene: scene)
            }
            Thread.sleep(forTimeInterval: 4)
            try watched.expectPlayed()
            try watched.expectLegal(media)
            #expect(try watched.room.end() == 0)
            for publisher in watched.publishers { publisher.stop() }
        }
    }
}
