import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("Colors of sources are converted to BT.709, limited range")
    struct ColorTests {
        struct Flavor: CustomTestStringConvertible, Sendable {
            var testDescription: String
            var pixels: String
            /// Matrix for FFmpeg's scale filter: the true one of the samples.
            var matrix = "bt709"
            var isFull = false
            /// What the stream declares: `-colorspace`, primaries and transfer; nil for nothing.
            var tag: String? = "bt709"
            var size = (640, 360)
            var sar = "1"
            /// H.264 has no odd sizes in 4:2:0.
            var codec = "libx264"
            /// Options for the encoder.
            var options: [String] = []
        }

        static let flavors = [
            Flavor(testDescription: "4:2:0, limited, BT.709", pixels: "yuv420p"),
            Flavor(testDescription: "4:2:0, full range, BT.709", pixels: "yuv420p", isFull: true),
            Flavor(testDescription: "4:2:0, limited, BT.601", pixels: "yuv420p", matrix: "bt601", tag: "smpte170m"),
            Flavor(
                testDescription: "4:2:0, full range, BT.601, as webcams", pixels: "yuv420p", matrix: "bt601",
                isFull: true, tag: "bt470bg"),
            Flavor(
                testDescription: "unsignalled in standard definition is BT.601", pixels: "yuv420p", matrix: "bt601",
                tag: nil),
            Flavor(
                testDescription: "unsignalled in high definition is BT.709", pixels: "yuv420p", tag: nil,
                size: (1280, 720)),
            Flavor(
                testDescription: "unsignalled and upright on a phone is BT.709", pixels: "yuv420p", tag: nil,
                size: (720, 1280)),
            Flavor(testDescription: "4:2:2", pixels: "yuv422p"),
            Flavor(testDescription: "4:4:4", pixels: "yuv444p"),
            Flavor(
                testDescription: "4:4:4, full range, BT.601", pixels: "yuv444p", matrix: "bt601", isFull: true,
                tag: "smpte170m"),
            Flavor(testDescription: "10 bit", pixels: "yuv420p10le"),
            Flavor(testDescription: "10 bit, 4:2:2, BT.601", pixels: "yuv422p10le", matrix: "bt601", tag: "smpte170m"),
            Flavor(testDescription: "10 bit, full range", pixels: "yuv420p10le", isFull: true),
            Flavor(
                testDescription: "the matrix of SMPTE 240M", pixels: "yuv420p", matrix: "smpte240m", tag: "smpte240m"),
            Flavor(testDescription: "sample aspect ratio 4:3", pixels: "yuv420p", size: (480, 360), sar: "4/3"),
            Flavor(
                testDescription: "an odd size", pixels: "yuv420p", size: (853, 479), codec: "libvpx-vp9",
                options: ["-crf", "4", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "8"]),
            Flavor(testDescription: "an odd size in 4:4:4", pixels: "yuv444p", size: (853, 479)),
            Flavor(
                testDescription: "interlaced", pixels: "yuv420p",
                options: ["-flags", "+ildct+ilme", "-x264opts", "tff=1"]),
        ]

        static func encode(_ flavor: Flavor, _ path: String, _ work: WorkDirectory, _ media: Media) throws {
            let (width, height) = flavor.size
            try Bars.write(work.path("bars.rgb"), width: width, height: height)
            let range = flavor.isFull ? "full" : "limited"
            let tags =
                flavor.tag.map {
                    ["-colorspace", $0, "-color_primaries", $0, "-color_trc", $0 == "bt470bg" ? "gamma28" : $0]
                } ?? []
            try media.run(
                [
                    "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "\(width)x\(height)", "-framerate", "30",
                    "-stream_loop", "11",
                    "-i", work.path("bars.rgb"), "-vf",
                    "scale=flags=bicubic+accurate_rnd+full_chroma_int:out_color_matrix=\(flavor.matrix):out_range=\(range),"
                        + "format=\(flavor.pixels),setsar=\(flavor.sar)", "-c:v", flavor.codec, "-preset", "ultrafast",
                    "-qp", "2",
                    "-color_range", flavor.isFull ? "pc" : "tv",
                ] + tags + flavor.options + [path])
        }

        @Test(
            "color bars in each source format come out within 3 levels of the expected luma and chroma in BT.709",
            arguments: Self.flavors)
        func levels(_ flavor: Flavor) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try Self.encode(flavor, work.path("bars.mp4"), work, media)
            let frames = try OneSource.run(work.path("bars.mp4"), work, pane: #", "adaption": "stretch""#)
            #expect(frames.count == 6)
            let last = try #require(frames.last)
            var worst = 0
            for (index, expected) in Bars.expected.enumerated() {
                let found = last.bar(index)
                let error = zip(found, expected).map { abs($0 - $1) }.max() ?? 255
                worst = max(worst, error)
                #expect(error <= 3, "bar \(index): \(found), not \(expected)")
            }
            EndToEnd.report("color bars, \(flavor.testDescription): at most \(worst) levels off")
        }

        @Test(
            "gray steps in PQ and HLG are tone-mapped: they stay gray and in order, black stays black",
            arguments: ["smpte2084", "arib-std-b67"])
        func highDynamicRange(transfer: String) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            // Eight steps of code values from black to about 1,000 cd/m² in PQ; the highest is near HLG's peak.
            let steps = "lum='64+min(7\\,floor(X*8/W))*90':cb=512:cr=512"
            try media.run([
                "-f", "lavfi", "-i", "color=s=640x360:r=30:d=0.4,format=yuv420p10le,geq=\(steps)", "-c:v", "libx264",
                "-preset", "ultrafast", "-qp", "2", "-colorspace", "bt2020nc", "-color_primaries", "bt2020",
                "-color_trc", transfer, "-color_range", "tv", work.path("hdr.mp4"),
            ])
            let frames = try OneSource.run(work.path("hdr.mp4"), work)
            let bars = try (0..<8).map { try #require(frames.last).bar($0) }
            EndToEnd.report("\(transfer) gray steps arrive as \(bars.map { $0[0] })")
            #expect(zip(bars, bars.dropFirst()).allSatisfy { $0[0] < $1[0] })
            #expect(abs(bars[0][0] - 16) <= 3)
            #expect(bars[7][0] > 150 && bars[7][0] <= 238)
            #expect(bars.allSatisfy { abs($0[1] - 128) <= 3 && abs($0[2] - 128) <= 3 })
        }

        @Test("BT.2020 without HDR keeps white and black, and its red becomes more saturated in BT.709")
        func wideGamut() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let flavor = Flavor(
                testDescription: "", pixels: "yuv420p10le", matrix: "bt2020", tag: nil,
                options: ["-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", "bt2020-10"])
            try Self.encode(flavor, work.path("wide.mp4"), work, media)
            let frames = try OneSource.run(work.path("wide.mp4"), work)
            let last = try #require(frames.last)
            for index in [0, 7] {
                let error = zip(last.bar(index), Bars.expected[index]).map { abs($0 - $1) }.max() ?? 255
                #expect(error <= 3, "\(last.bar(index))")
            }
            // The same numbers are purer colors in BT.2020: its red is outside of BT.709.
            #expect(last.bar(5)[2] > Bars.expected[5][2])
        }
    }
}
