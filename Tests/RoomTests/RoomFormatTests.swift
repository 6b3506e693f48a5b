import Foundation
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("Files as sources: rotated, odd-sized, interlaced, changing, with one track, with unequal tracks, looping")
    struct FormatTests {
        /// Four quarters: white, gray, black and dark gray, clockwise from the upper left.
        private static let quarters =
            "geq=lum='if(lt(X\\,W/2)\\,if(lt(Y\\,H/2)\\,235\\,70)\\,if(lt(Y\\,H/2)\\,150\\,16))':cb=128:cr=128"
        private static let tags = [
            "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
        ]
        private static let size = (width: 640, height: 360)

        private static func make(
            _ path: String, size: String = "640x360", seconds: Double = 0.4, filter: String = Self.quarters,
            options: [String] = []
        ) async throws {
            try await FFmpegFile.make(
                [
                    "-f", "lavfi", "-i", "color=s=\(size):r=30:d=\(seconds),format=yuv420p,\(filter)", "-c:v",
                    "libx264", "-preset", "ultrafast", "-qp", "4",
                ] + Self.tags + options + [path])
        }

        /// One file on a small canvas, whose frames are written to a file.
        ///
        /// - Parameters:
        ///   - seconds: Duration in the pipeline; nil: none.
        ///   - source: More members of the source: JSON with a leading comma.
        ///   - pane: More members of the pane: JSON with a leading comma.
        private static func pipeline(
            _ path: String, _ directory: RoomDirectory, seconds: Double?, source: String = "", pane: String = ""
        ) -> String {
            """
            {
              "room": { "roomId": "job" }, "clock": "offline", \(seconds.map { "\"durationSeconds\": \($0)," } ?? "")
              "sources": [{ "uid": "1001", "type": "file", "path": "\(path)"\(source) }],
              "canvas": { "width": \(Self.size.width), "height": \(Self.size.height), "backgroundColor": "#000000" },
              "scenes": [{ "sceneId": "scene", "panes": [{ "uid": "1001", "width": 640, "height": 360\(pane) }] }],
              "renditions": [
                { "name": "90p", "width": 160, "height": 90, "video": { "bitrate": 100000, "preset": "ultrafast" } }
              ],
              "outputs": [{ "type": "raw", "path": "\(directory.path)/canvas.y4m" }]
            }
            """
        }

        /// Runs a job to its end.
        private static func run(
            _ pipeline: String, _ directory: RoomDirectory, set: [String] = []
        ) async throws -> RawFrames {
            let (outcome, _) = try await RoomJob.run(pipeline, set: set)
            if case .ended = outcome {} else { Issue.record("the job has not ended: \(outcome)") }
            return try Self.frames("canvas.y4m", directory)
        }

        /// Runs a job of one file.
        private static func run(
            _ name: String, _ directory: RoomDirectory, seconds: Double = 0.2, source: String = "", pane: String = ""
        ) async throws -> RawFrames {
            try await Self.run(
                Self.pipeline("\(directory.path)/\(name)", directory, seconds: seconds, source: source, pane: pane),
                directory)
        }

        private static func frames(_ name: String, _ directory: RoomDirectory) throws -> RawFrames {
            try RawFrames(try directory.bytes(of: name), width: Self.size.width, height: Self.size.height)
        }

        /// Luma of the quarters of the last frame, clockwise from the upper left.
        private static func corners(_ frames: RawFrames, inset: Int = 0) -> [Int] {
            let (left, right) = (inset + (640 - 2 * inset) / 4, 640 - inset - (640 - 2 * inset) / 4)
            return [(left, 90), (right, 90), (right, 270), (left, 270)].map {
                frames.mean(frames.count - 1, $0.0, $0.1)
            }
        }

        private static func expect(_ found: [Int], _ expected: [Int], _ what: String) {
            #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 3 }, "\(what): \(found), not \(expected)")
        }

        @Test("a source's rotation of 0, 90, 180 and 270° turns its video clockwise", arguments: [0, 90, 180, 270])
        func rotation(degrees: Int) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            try await Self.make("\(directory.path)/a.mp4")
            let frames = try await Self.run(
                "a.mp4", directory, source: #", "rotation": \#(degrees)"#, pane: #", "adaption": "stretch""#)
            let upright = [235, 150, 16, 70]
            Self.expect(Self.corners(frames), (0..<4).map { upright[($0 + 4 - degrees / 90) % 4] }, "\(degrees)")
        }

        @Test("frames of a file with a display matrix are equal to those that FFmpeg makes", arguments: [90, 180, 270])
        func displayMatrix(degrees: Int) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let (plain, turned) = ("\(directory.path)/a.mp4", "\(directory.path)/turned.mp4")
            try await Self.make(plain, size: degrees == 180 ? "640x360" : "360x640")
            try await FFmpegFile.make(["-i", plain, "-c", "copy", "-metadata:s:v", "rotate=\(degrees)", turned])
            let ours = try await Self.run("turned.mp4", directory, seconds: 0.2)
            try await FFmpegFile.make(["-i", turned, "-frames:v", "6", "\(directory.path)/theirs.y4m"])
            let theirs = try Self.frames("theirs.y4m", directory)
            #expect(ours.count == 6 && theirs.count == 6)
            for index in 0..<min(ours.count, theirs.count) {
                let isSame = ours.frame(index).elementsEqual(theirs.frame(index))
                #expect(isSame, "frame \(index)")
            }
        }

        @Test(
            "non-square samples, odd sizes and portrait video keep their aspect ratio on the canvas",
            arguments: [
                ("480x360", "4/3", 0), ("360x360", "1", 140), ("202x360", "1", 218), ("240x360", "3/2", 140),
                ("1706x960", "1", 0),
            ])
        func shapes(size: String, sampleAspectRatio: String, inset: Int) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            try await Self.make(
                "\(directory.path)/a.mp4", size: size, filter: Self.quarters + ",setsar=\(sampleAspectRatio)")
            let frames = try await Self.run("a.mp4", directory, pane: #", "adaption": "fit""#)
            try #require(frames.count > 0)
            Self.expect(Self.corners(frames, inset: inset), [235, 150, 16, 70], "\(size) \(sampleAspectRatio)")
            guard inset > 0 else { return }
            let last = frames.count - 1
            #expect(frames.luma(last, inset - 4, 90) <= 20, "the background shows beside it")
            #expect(frames.luma(last, inset + 4, 90) >= 200, "and the video begins where it should")
        }

        @Test("interlaced video is deinterlaced: less than a quarter of its row differences remain")
        func deinterlacing() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let path = "\(directory.path)/a.mp4"
            let moving =
                "fps=60,geq=lum='if(lt(mod(X+N*12\\,128)\\,64)\\,50\\,200)':cb=128:cr=128,tinterlace=mode=interleave_top"
            try await Self.make(
                path, seconds: 1, filter: moving, options: ["-flags", "+ildct+ilme", "-x264opts", "tff=1"])
            let frames = try await Self.run("a.mp4", directory, seconds: 0.6)
            try await FFmpegFile.make(["-i", path, "-frames:v", "18", "\(directory.path)/raw.y4m"])
            let raw = try Self.frames("raw.y4m", directory)
            try #require(frames.count > 10 && raw.count > 10)
            let (before, after) = (Self.combs(raw, 10), Self.combs(frames, 10))
            #expect(before > 5 && after < before / 4, "\(before), \(after)")
            #expect(Set((0..<frames.count).map { Array(frames.lumas($0).dropFirst(100_000).prefix(1_000)) }).count > 4)
        }

        /// Mean deviation of each row from its two neighbors.
        private static func combs(_ frames: RawFrames, _ index: Int) -> Double {
            let (luma, width) = (Array(frames.lumas(index)), frames.width)
            var sum = 0
            for place in width..<luma.count - width {
                sum += abs(2 * Int(luma[place]) - Int(luma[place - width]) - Int(luma[place + width]))
            }
            return Double(sum) / Double(luma.count - 2 * width)
        }

        @Test(
            "when the frame size changes within an FLV file, every tick shows a frame, first of one size, then of the other"
        )
        func sizeChange() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            try await Self.make("\(directory.path)/a.flv", seconds: 1, filter: "geq=lum=200:cb=128:cr=128")
            try await Self.make(
                "\(directory.path)/b.flv", size: "360x640", seconds: 1, filter: "geq=lum=60:cb=128:cr=128",
                options: ["-output_ts_offset", "1"])
            let joined = try directory.bytes(of: "a.flv") + directory.bytes(of: "b.flv").dropFirst(13)
            try Data(joined).write(to: URL(fileURLWithPath: "\(directory.path)/joined.flv"))
            let frames = try await Self.run("joined.flv", directory, seconds: 2)
            let levels = (0..<frames.count).map { frames.mean($0, 320, 180) }
            #expect(levels.count == 60)
            #expect(levels.allSatisfy { abs($0 - 200) <= 3 || abs($0 - 60) <= 3 }, "\(levels)")
            #expect(levels.prefix(29).allSatisfy { abs($0 - 200) <= 3 })
            #expect(levels.suffix(29).allSatisfy { abs($0 - 60) <= 3 })
        }

        @Test(
            "an audio-only source shows a card with its name, or only the background if `onNoVideo` is `leavePane`",
            arguments: [false, true])
        func audioOnly(leaves: Bool) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            try await FFmpegFile.make(["-f", "lavfi", "-i", "sine=d=2", "-c:a", "aac", "\(directory.path)/a.mp4"])
            let frames = try await Self.run(
                "a.mp4", directory, seconds: 1,
                source: leaves ? #", "name": "ANNA", "onNoVideo": "leavePane""# : #", "name": "ANNA""#)
            try #require(frames.count == 30)
            let lumas = frames.lumas(29)
            if leaves {
                #expect(lumas.allSatisfy { abs(Int($0) - 16) <= 1 }, "only the background")
            } else {
                #expect(Set(lumas).count > 1, "a name is written")
            }
        }

        @Test(
            "a file whose audio is much longer than its video, or shorter, plays to the end of the longer track",
            arguments: [true, false])
        func unequalTracks(isAudioLonger: Bool) async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let path = "\(directory.path)/a.mp4"
            let (video, audio) = isAudioLonger ? (1, 9) : (6, 1)
            try await FFmpegFile.make([
                "-f", "lavfi", "-i", "testsrc2=s=160x90:r=30:d=\(video)", "-f", "lavfi", "-i", "sine=d=\(audio)",
                "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", path,
            ])
            let frames = try await Self.run(Self.pipeline(path, directory, seconds: nil), directory)
            #expect(abs(frames.count - (isAudioLonger ? 270 : 180)) <= 2, "\(frames.count) frames")
        }

        @Test("an offline job with a looping file and without a duration is refused, unless --duration is given")
        func loopsForAWhile() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            try await Self.make("\(directory.path)/a.mp4")
            let pipeline = Self.pipeline(
                "\(directory.path)/a.mp4", directory, seconds: nil, source: #", "loop": true"#)
            guard case .failure(let refusal) = RoomDocument.read(Array(pipeline.utf8)) else {
                Issue.record("it would never end")
                return
            }
            #expect(refusal.mistakes.map(\.path) == ["sources[0].loop"])
            // The effect of `--duration 1.5`.
            let frames = try await Self.run(pipeline, directory, set: ["durationSeconds=1.5"])
            #expect((44...46).contains(frames.count), "\(frames.count) frames")
        }
    }
}
