import Foundation
import Testing

extension Unhurried.Pictures {
    @Suite("Video formats: rotated, odd-sized, interlaced, changing, and sources without one of the tracks")
    struct FormatTests {
        /// Four quarters: white, gray, black and dark gray, clockwise from the upper left.
        private static let quarters =
            "geq=lum='if(lt(X\\,W/2)\\,if(lt(Y\\,H/2)\\,235\\,70)\\,if(lt(Y\\,H/2)\\,150\\,16))':cb=128:cr=128"
        private static let tags = [
            "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
        ]

        private func make(
            _ path: String, _ media: Media, size: String = "640x360", seconds: Double = 0.4,
            filter: String = Self.quarters,
            options: [String] = []
        ) throws {
            try media.run(
                [
                    "-f", "lavfi", "-i", "color=s=\(size):r=30:d=\(seconds),format=yuv420p,\(filter)", "-c:v",
                    "libx264",
                    "-preset", "ultrafast", "-qp", "4",
                ] + Self.tags + options + [path])
        }

        private func corners(_ picture: RawPicture, inset: Int = 0) -> [Int] {
            let (left, right) = (inset + (640 - 2 * inset) / 4, 640 - inset - (640 - 2 * inset) / 4)
            return [(left, 90), (right, 90), (right, 270), (left, 270)].map { picture.color($0.0, $0.1)[0] }
        }

        private func expect(_ found: [Int], _ expected: [Int], _ what: String) {
            #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 3 }, "\(what): \(found), not \(expected)")
        }

        @Test("rotation turns the video clockwise", arguments: [0, 90, 180, 270])
        func rotation(degrees: Int) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try self.make(work.path("a.mp4"), media)
            let pictures = try OneSource.run(
                work.path("a.mp4"), work, source: #", "rotation": \#(degrees)"#, pane: #", "adaption": "stretch""#)
            let upright = [235, 150, 16, 70]
            let turns = degrees / 90
            self.expect(
                self.corners(try #require(pictures.last)), (0..<4).map { upright[($0 + 4 - turns) % 4] }, "\(degrees)")
        }

        @Test("a file's display matrix is applied as by FFmpeg", arguments: [90, 180, 270])
        func displayMatrix(degrees: Int) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try self.make(work.path("a.mp4"), media, size: degrees == 180 ? "640x360" : "360x640")
            try media.run([
                "-i", work.path("a.mp4"), "-c", "copy", "-metadata:s:v", "rotate=\(degrees)", work.path("turned.mp4"),
            ])
            let pictures = try OneSource.run(work.path("turned.mp4"), work)
            let ours = try media.pictureHashes(["-i", work.path("canvas.y4m")])
            let theirs = try media.pictureHashes(["-i", work.path("turned.mp4"), "-frames:v", "6"])
            #expect(pictures.count == 6)
            #expect(ours == theirs)
        }

        @Test("non-square samples, odd sizes and portrait video keep their aspect ratio on the canvas")
        func shapes() throws {
            let media = try Media.require()
            for (size, sar, inset) in [
                ("480x360", "4/3", 0), ("360x360", "1", 140), ("202x360", "1", 218), ("240x360", "3/2", 140),
                ("1706x960", "1", 0),
            ] {
                let work = try WorkDirectory()
                try self.make(work.path("a.mp4"), media, size: size, filter: Self.quarters + ",setsar=\(sar)")
                let pictures = try OneSource.run(work.path("a.mp4"), work, pane: #", "adaption": "fit""#)
                let last = try #require(pictures.last)
                self.expect(self.corners(last, inset: inset), [235, 150, 16, 70], "\(size) \(sar)")
                guard inset > 0 else { continue }
                #expect(last.luma(inset - 4, 90) <= 20, "\(size): the background is visible beside it")
                #expect(last.luma(inset + 4, 90) >= 200, "\(size): the video starts at the right position")
            }
        }

        @Test("interlaced video is deinterlaced")
        func deinterlacing() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let moving =
                "fps=60,geq=lum='if(lt(mod(X+N*12\\,128)\\,64)\\,50\\,200)':cb=128:cr=128,tinterlace=mode=interleave_top"
            try self.make(
                work.path("a.mp4"), media, seconds: 1, filter: moving,
                options: ["-flags", "+ildct+ilme", "-x264opts", "tff=1"])
            let pictures = try OneSource.run(work.path("a.mp4"), work, seconds: 0.6)
            try media.run(["-i", work.path("a.mp4"), "-frames:v", "18", work.path("raw.y4m")])
            let raw = try RawPicture.read(work.path("raw.y4m"), width: 640, height: 360)
            let (before, after) = (Self.combs(raw[10]), Self.combs(pictures[10]))
            EndToEnd.report("combs before \(before), after \(after)")
            #expect(before > 5 && after < before / 4)
            #expect(Set(pictures.map { $0.bytes[100_000..<101_000].hashValue }).count > 4, "the video changes")
        }

        /// Mean deviation of each row from its two neighbors.
        private static func combs(_ picture: RawPicture) -> Double {
            var sum = 0
            for y in 1..<359 {
                for x in 0..<640 {
                    sum += abs(2 * picture.luma(x, y) - picture.luma(x, y - 1) - picture.luma(x, y + 1))
                }
            }
            return Double(sum) / Double(358 * 640)
        }

        @Test(
            "an FLV file that changes its size: every tick shows a whole frame, first of one size, then of the other")
        func sizeChange() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try self.make(work.path("a.flv"), media, size: "640x360", seconds: 1, filter: "geq=lum=200:cb=128:cr=128")
            try self.make(
                work.path("b.flv"), media, size: "360x640", seconds: 1, filter: "geq=lum=60:cb=128:cr=128",
                options: ["-output_ts_offset", "1"])
            let joined = try Files.bytes(work.path("a.flv")) + Files.bytes(work.path("b.flv")).dropFirst(13)
            try Data(joined).write(to: URL(fileURLWithPath: work.path("joined.flv")))
            let pictures = try OneSource.run(work.path("joined.flv"), work, seconds: 2)
            let levels = pictures.map { $0.color(320, 180)[0] }
            #expect(levels.count == 60)
            #expect(levels.allSatisfy { abs($0 - 200) <= 3 || abs($0 - 60) <= 3 }, "\(levels)")
            #expect(levels.prefix(29).allSatisfy { abs($0 - 200) <= 3 })
            #expect(levels.suffix(29).allSatisfy { abs($0 - 60) <= 3 })
        }

        @Test(
            "an audio-only source shows its card, or leaves its pane empty by `onNoVideo: leavePane`",
            arguments: [false, true])
        func soundOnly(leaves: Bool) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.run([
                "-f", "lavfi", "-i", "sine=d=2", "-c:a", "aac", work.path("a.mp4"),
            ])
            let pictures = try OneSource.run(
                work.path("a.mp4"), work, seconds: 1,
                source: leaves ? #", "name": "ANNA", "onNoVideo": "leavePane""# : #", "name": "ANNA""#)
            #expect(pictures.count == 30)
            let lumas = try #require(pictures.last).bytes.prefix(640 * 360)
            if leaves {
                #expect(lumas.allSatisfy { abs(Int($0) - 16) <= 1 }, "only the background")
            } else {
                #expect(Set(lumas).count > 1, "a name is drawn")
            }
        }

        @Test(
            "a file whose audio is much longer than its video, or shorter, plays to the end",
            arguments: [true, false])
        func unequalTracks(isSoundLonger: Bool) throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let (video, audio) = isSoundLonger ? (1, 9) : (6, 1)
            try media.run([
                "-f", "lavfi", "-i", "testsrc2=s=640x360:r=30:d=\(video)", "-f", "lavfi", "-i", "sine=d=\(audio)",
                "-c:v",
                "libx264", "-preset", "ultrafast", "-c:a", "aac", work.path("a.mp4"),
            ])
            let raw = work.path("canvas.y4m")
            let pipeline = OneSource.pipeline(work.path("a.mp4"), raw: raw, seconds: 0)
                .replacingOccurrences(of: #", "durationSeconds": 0.0"#, with: "")
            let result = try Command.tandem(["run", "-"], input: pipeline)
            try #require(result.code == 0, "\(result.errors)")
            let count = try RawPicture.read(raw, width: 640, height: 360).count
            #expect(abs(count - (isSoundLonger ? 270 : 180)) <= 2, "\(count) pictures")
        }

        @Test("a looping file runs for --duration if the pipeline sets no duration")
        func loopsForAWhile() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try self.make(work.path("a.mp4"), media)
            let raw = work.path("canvas.y4m")
            let pipeline = OneSource.pipeline(work.path("a.mp4"), raw: raw, seconds: 0, source: #", "loop": true"#)
                .replacingOccurrences(of: #", "durationSeconds": 0.0"#, with: "")
            #expect(try Command.tandem(["run", "-"], input: pipeline).code == 65, "it would never end")
            let result = try Command.tandem(["run", "-", "--duration", "1.5"], input: pipeline)
            try #require(result.code == 0, "\(result.errors)")
            let count = try RawPicture.read(raw, width: 640, height: 360).count
            #expect((44...46).contains(count), "\(count) pictures")
        }
    }
}
