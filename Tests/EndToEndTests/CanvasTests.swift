import Foundation
import Testing

extension Unhurried.Pictures {
    @Suite("A canvas for each scene")
    struct CanvasTests {
        @Test(
            "NetEase 9: a canvas for each scene: another map and a discontinuity in all playlists, where a segment begins"
        )
        func perScene() throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            let pipeline = Rooms.small(directory)
                .replacingOccurrences(of: #""height": 180 },"#, with: #""height": 180, "policy": "perScene" },"#)
                .replacingOccurrences(
                    of: #""sceneId": "pk","#, with: #""sceneId": "pk", "canvas": { "width": 320, "height": 90 },"#)
            let room = try RunningRoom(pipeline)
            let publishers = try ["a", "b"].map { try Publisher.pattern("P", to: room.url($0), size: "320x180") }
            try room.event("source.live", uid: "2002")
            try room.segments(1)
            let there = try #require(try room.put(scene: "pk").json()["tick"] as? Int)
            try room.segments(3)
            let back = try #require(try room.put(scene: "solo").json()["tick"] as? Int)
            try room.segments(3)
            #expect(try room.end() == 0)
            for publisher in publishers { publisher.stop() }
            let start = try #require(room.events("program.started").first?.integer("firstTick"))
            #expect((there - start) % 64 == 0 && (back - start) % 64 == 0, "\(there), \(back) from \(start)")
            for (name, playlist) in try Playlist.all(in: directory) {
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                let seams = playlist.segments.indices.filter { playlist.segments[$0].isDiscontinuity }
                // A live room cuts the first 64 ticks into four segments.
                #expect(seams == [(there - start) / 64 + 3, (back - start) / 64 + 3], "\(name)")
                let maps = try Files.text("\(directory)/\(name)").split(separator: "\n").filter {
                    $0.hasPrefix("#EXT-X-MAP")
                }
                guard name != "audio.m3u8" else { continue }
                #expect(maps.count == 3 && maps[0] == maps[2] && maps[0] != maps[1], "\(name): \(maps)")
                let frames = try media.frameCount("\(directory)/\(name)")
                EndToEnd.report("a canvas for each scene: \(frames) pictures over two seams")
                let last = try #require(room.events("segment.published").last)
                #expect(frames == (last.integer("firstTick") ?? 0) + (last.integer("ticks") ?? 0) - start)
            }
        }
    }
}
