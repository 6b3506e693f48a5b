import Foundation
import Glibc
import Testing

extension EndToEnd {
    @Suite("The automatic scene follows who is live")
    struct AutoSceneTests {
        @Test(
            "NetEase 12: one alone, two side by side, one again: each at the tick the event says, and not a picture between them",
            arguments: [(1_500, 200), (0, 1_000)])
        func headCount(graceMs: Int, bufferMs: Int) throws {
            guard let media = Media.find() else { return }
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(
                Rooms.live(directory, renditions: Rooms.large)
                    .replacingOccurrences(of: #""layout": "solo", "uids": ["1001"]"#, with: #""layout": "auto""#)
                    // A pane waits as long for whoever was in it, and until what it has sent is shown.
                    .replacingOccurrences(
                        of: #""listen": "127.0.0.1:0" } },"#,
                        with: #""listen": "127.0.0.1:0", "reconnectGraceMs": \#(graceMs) } },"#
                    )
                    .replacingOccurrences(
                        of: #""streamKey": "b","#, with: #""streamKey": "b", "jitterBufferMs": \#(bufferMs),"#))
            let anna = try Publisher.pattern("ANNA", to: room.url("a"))
            try room.event("source.live", uid: "1001")
            let start = try #require(room.events("program.started").first)
            let firstTick = try #require(start.integer("firstTick"))
            try room.segments(1)

            let ben = try Publisher.pattern("BEN", to: room.url("b"))
            let joined = try room.event("scene.layout") { $0.strings("live") == ["1001", "2002"] }
            try room.segments(1)
            let mark = room.now
            ben.stop(SIGKILL)
            let left = try room.event("scene.layout", from: mark) { $0.strings("live") == ["1001"] }
            try room.segments(1)
            #expect(try room.end() == 0)
            anna.stop()

            let decoded = try Decoded("\(directory)/720p.m3u8", [.solo, .left, .right], media)
            func counter(_ pane: Int, _ tick: Int) -> UInt16? {
                let index = tick - firstTick
                return decoded.panes[pane].indices.contains(index) ? decoded.panes[pane][index].counter : nil
            }
            // The seam of each change: the counter of ANNA goes on from one pane to the other, at most one picture apart.
            for (change, before, after) in [(joined, 0, 1), (left, 1, 0)] {
                let tick = try #require(change.integer("tick"))
                let (last, first) = (try #require(counter(before, tick - 1)), try #require(counter(after, tick)))
                #expect((0...2).contains(first &- last), "\(last) and \(first) at \(tick)")
            }
            #expect(try media.complaints("\(directory)/index.m3u8") == "")
        }
    }
}
