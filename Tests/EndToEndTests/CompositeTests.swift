import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("The program video equals FFmpeg's composition, bit for bit")
    struct CompositeTests {
        struct Case: CustomTestStringConvertible, Sendable {
            var testDescription: String
            /// nil: side by side.
            var panes: String?
            /// FFmpeg's filter graph for the same frames, from `[a]` and `[b]` to `[v]`.
            var graph: String
            var portrait = false
        }

        static let cases = [
            Case(
                testDescription: "side by side, cropped: crop and hstack", panes: nil,
                graph: "[a]crop=640:720[l];[b]crop=640:720[r];[l][r]hstack[v]"),
            Case(
                testDescription: "a small picture over a whole one: scale and overlay",
                panes: """
                    { "uid": "1001", "width": 1280, "height": 720 },
                    { "uid": "2002", "x": 900, "y": 60, "width": 320, "height": 180, "zOrder": 1 }
                    """,
                graph: "[b]scale=320:180:flags=bicubic[s];[a][s]overlay=900:60:format=yuv420[v]"),
            Case(
                testDescription: "two scaled pictures one over the other on black, by z-order and not by order",
                panes: """
                    { "uid": "1001", "x": 40, "y": 30, "width": 800, "height": 450, "zOrder": 2 },
                    { "uid": "2002", "x": 600, "y": 300, "width": 640, "height": 360, "zOrder": 1 }
                    """,
                graph: """
                    [a]scale=800:450:flags=bicubic[x];[b]scale=640:360:flags=bicubic[y];[bg][y]overlay=600:300:format=yuv420[u];\
                    [u][x]overlay=40:30:format=yuv420[v]
                    """),
            Case(
                testDescription: "a portrait picture fitted into a half, a landscape one stretched into the other",
                panes: """
                    { "uid": "1001", "width": 640, "height": 720, "adaption": "stretch" },
                    { "uid": "2002", "x": 640, "width": 640, "height": 720, "adaption": "fit" }
                    """,
                graph: """
                    [a]scale=640:720:flags=bicubic[x];[b]scale=406:720:flags=bicubic[y];[bg][x]overlay=0:0:format=yuv420[u];\
                    [u][y]overlay=756:0:format=yuv420[v]
                    """, portrait: true),
        ]

        @Test(
            "every frame of the raw output equals that of an ffmpeg filter graph for the same files",
            arguments: Self.cases)
        func isExact(_ test: Case) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.make(work.path("a.mp4"), size: "1280x720", seconds: 2, bFrames: 2)
            try media.make(
                work.path("b.mp4"), size: test.portrait ? "720x1280" : "1280x720", seconds: 2, picture: "mandelbrot")
            let pipeline = Rooms.offline(
                (work.path("a.mp4"), work.path("b.mp4")), seconds: 2, panes: test.panes, renditions: Rooms.small,
                outputs: #"{ "type": "raw", "path": "\#(work.path("canvas.y4m"))" }"#)
            let result = try Command.tandem(["run", "-"], input: pipeline)
            try #require(result.code == 0, "\(result.errors)")
            let ours = try media.pictureHashes(["-i", work.path("canvas.y4m")])
            let graph =
                "[0:v]setpts=N/30/TB[a];[1:v]setpts=N/30/TB[b];color=black:s=1280x720:r=30:d=2,format=yuv420p[bg];\(test.graph)"
            let unused = test.graph.contains("[bg]") ? "" : ";[bg]nullsink"
            let theirs = try media.pictureHashes([
                "-i", work.path("a.mp4"), "-i", work.path("b.mp4"), "-filter_complex", graph + unused, "-map", "[v]",
                "-fps_mode", "passthrough",
            ])
            #expect(ours.count == 60)
            #expect(Set(ours).count > 50, "the frames change")
            let equal = zip(ours, theirs).count { $0 == $1 }
            #expect(ours == theirs, "\(equal) of \(ours.count) frames are equal")
        }
    }
}
