import Foundation
import Testing

extension Unhurried.Access {
    @Suite("A live room checked by tandem lint-hls")
    struct LintTests {
        // A measurement needs longer: TANDEM_LINT_SECONDS=120.
        @Test(
            "lint-hls finds nothing in a live room with two publishers and scene changes, nor in its directory afterwards"
        )
        func liveRoom() throws {
            let seconds = ProcessInfo.processInfo.environment["TANDEM_LINT_SECONDS"].flatMap { Int($0) } ?? 10
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Rooms.live(directory, renditions: Rooms.small, canvas: (320, 180)))
            let publishers = [
                try Publisher.pattern("ANNA", to: room.url("a"), size: "320x180"),
                try Publisher.pattern("BEN", to: room.url("b"), size: "320x180"),
            ]
            try room.event("source.live", uid: "1001")
            try room.event("source.live", uid: "2002")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            let lint = try Child(
                EndToEnd.binary, ["lint-hls", "\(viewer)/index.m3u8", "--duration", "\(seconds)"], environment: [:])
            for second in 0..<seconds {
                usleep(1_000_000)
                if second % 3 == 1 { try room.put(scene: second % 2 == 0 ? "pk" : "solo") }
            }
            #expect(try lint.wait(timeout: 20) == 0, "\(lint.outputLines.joined(separator: "\n"))")
            #expect(lint.outputLines.last == "no findings")
            lint.outputLines.forEach { EndToEnd.report("lint: \($0)") }
            #expect(try room.end() == 0)
            publishers.forEach { $0.stop() }
            let after = try Child(EndToEnd.binary, ["lint-hls", "\(directory)/index.m3u8", "--json"], environment: [:])
            #expect(try after.wait(timeout: 20) == 0, "\(after.outputLines)")
            #expect(after.outputLines.last?.contains("\"findingCount\":0") == true)
            let missing = try Child(EndToEnd.binary, ["lint-hls", work.path("nowhere.m3u8")], environment: [:])
            #expect(try missing.wait(timeout: 10) == 66)
        }
    }
}
