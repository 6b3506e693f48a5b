import Foundation
import Testing

extension Unhurried.Stores {
    @Suite("An output directory that is moved away while a room runs")
    struct MovedRoomTests {
        private static func waitFor(_ paths: [String], seconds: Double) -> [String] {
            let limit = Date().addingTimeInterval(seconds)
            var missing = paths
            while !missing.isEmpty, Date() < limit {
                missing = missing.filter { !FileManager.default.fileExists(atPath: $0) }
                Thread.sleep(forTimeInterval: 0.05)
            }
            return missing
        }

        @Test("within five seconds all of it is written again, with an alarm, and no segment is lost")
        func moved() throws {
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.small(directory))
            let publisher = try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180")
            defer { publisher.stop(SIGKILL) }
            try room.segments(3)
            let names = try Files.names(in: directory)
            // Without the parts that are kept for a successor.
            let before = names.filter { $0.hasSuffix(".m4s") && $0.split(separator: ".").count == 2 }
            let maps = names.filter { $0.hasSuffix(".mp4") }
            try #require(before.count >= 4 && maps.count == 2)
            let mark = room.now
            try FileManager.default.moveItem(atPath: directory, toPath: work.path("away"))
            let wanted = ["index.m3u8", "180p.m3u8", "audio.m3u8", "state.json"] + maps + before
            let missing = Self.waitFor(wanted.map { "\(directory)/\($0)" }, seconds: 5)
            #expect(missing.isEmpty, "five seconds after the move there is no \(missing)")
            try room.event("alarm.set", from: mark, timeout: 5) {
                $0.object("alarm")["type"] as? String == "output.moved"
            }
            try room.segments(2)
            let playlist = try Playlist(contentsOf: "\(directory)/180p.m3u8")
            #expect(playlist.mistakes.isEmpty && !playlist.text.contains("#EXT-X-GAP"))
            for segment in playlist.segments {
                #expect(FileManager.default.fileExists(atPath: "\(directory)/\(segment.uri)"), "\(segment.uri)")
            }
            #expect(try room.end() == 0)
            #expect(try Playlist(contentsOf: "\(directory)/180p.m3u8").isEnded)
        }
    }
}
