import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("The offline clock: the same files give the same bytes every time")
    struct OfflineTests {
        private static let seconds = 6.0

        @Test("two runs of an offline job write identical, complete files, which FFmpeg decodes without warnings")
        func determinism() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.make(work.path("a.mp4"), size: "1280x720", seconds: Self.seconds, bFrames: 2)
            try media.make(
                work.path("b.flv"), size: "1280x720", seconds: Self.seconds, hertz: 660, picture: "smptebars")
            for name in ["one", "two"] {
                let pipeline = Rooms.offline(
                    (work.path("a.mp4"), work.path("b.flv")), seconds: Self.seconds,
                    outputs: #"""
                        { "type": "hls", "path": "\#(work.path(name))", "playlistType": "event" },
                        { "type": "hls", "segmentFormat": "ts", "path": "\#(work.path(name))-ts" }
                        """#)
                let result = try Command.tandem(["run", "-"], input: pipeline)
                try #require(result.code == 0, "\(result.errors)")
            }
            try self.expectSameTree(work.path("one"), work.path("two"))
            try self.expectSameTree(work.path("one-ts"), work.path("two-ts"), suffix: ".ts")
            try self.expectWhole(work.path("one"), media)
            try self.expectTransport(work.path("one-ts"), media)
        }

        @Test(
            "lint-hls finds a coded slice whose middle half is overwritten, although lengths and headers are intact"
        )
        func overwrittenSliceIsFound() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            try media.make(work.path("a.mp4"), size: "320x180", seconds: 4)
            let directory = work.path("out")
            let pipeline = Rooms.offline(
                (work.path("a.mp4"), work.path("a.mp4")), seconds: 4, renditions: Rooms.small,
                outputs: #"{ "type": "hls", "path": "\#(directory)" }"#, canvas: #""width": 320, "height": 180"#)
            let made = try Command.tandem(["run", "-"], input: pipeline)
            try #require(made.code == 0, "\(made.errors)")
            let intact = try Command.tandem(["lint-hls", "\(directory)/index.m3u8"])
            #expect(intact.code == 0, "\(intact.output)")
            let names = try Files.names(in: directory)
            let name = try #require(names.last { $0.hasSuffix(".m4s") && !$0.hasPrefix("audio") })
            try Self.overwriteSlice(of: "\(directory)/\(name)")
            let damaged = try Command.tandem(["lint-hls", "\(directory)/index.m3u8"])
            #expect(damaged.code == 65 && damaged.output.contains("slice-damaged"), "\(name): \(damaged.output)")
        }

        /// Overwrites the middle of the IDR slice. Lengths and headers stay, and the bytes are legal in a NAL unit, so
        /// that only a decoder can notice.
        private static func overwriteSlice(of path: String) throws {
            var bytes = Array(try Files.bytes(path))
            let type = Array("mdat".utf8)
            let start = try #require(bytes.indices.dropLast(8).first { Array(bytes[$0..<($0 + 4)]) == type })
            func length(_ place: Int) -> Int { bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) } }
            var place = start + 4
            // Spec: ITU-T H.264 Table 7-1: 5 is a slice of an IDR picture.
            while place + 5 < bytes.count, bytes[place + 4] & 0x1F != 5 { place += 4 + length(place) }
            let size = length(place)
            try #require(size > 200 && place + 4 + size <= bytes.count)
            // Pseudorandom bytes that are never zero: repeated codes could decode to a legal frame.
            var state: UInt64 = 1
            for offset in (size / 4)..<(size * 3 / 4) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[place + 4 + offset] = UInt8(truncatingIfNeeded: state >> 56) | 1
            }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }

        private func expectSameTree(_ one: String, _ two: String, suffix: String = ".m4s") throws {
            let names = try Files.names(in: one)
            #expect(try names == Files.names(in: two))
            #expect(names.count { $0.hasSuffix(suffix) } >= 9, "at least nine segments")
            for name in names {
                var isDirectory: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: "\(one)/\(name)", isDirectory: &isDirectory)
                guard !isDirectory.boolValue else { continue }
                let isSame = try Files.bytes("\(one)/\(name)") == Files.bytes("\(two)/\(name)")
                #expect(isSame, "\(name) differs")
            }
        }

        private func expectWhole(_ directory: String, _ media: Media) throws {
            let playlists = try Playlist.all(in: directory)
            try self.expectIFrames(directory, media)
            #expect(playlists.map(\.name) == ["240p.m3u8", "360p.m3u8", "480p.m3u8", "720p.m3u8", "audio.m3u8"])
            #expect(try media.complaints("\(directory)/index.m3u8") == "")
            for (name, playlist) in playlists {
                let path = "\(directory)/\(name)"
                #expect(playlist.isEnded && playlist.mistakes.isEmpty, "\(name): \(playlist.mistakes)")
                #expect(try media.complaints(path) == "", "\(name)")
                #expect(abs(playlist.duration - Self.seconds) <= 1024.0 / 48_000, "\(name): \(playlist.duration) s")
                if name == "audio.m3u8" {
                    let packets = try media.packets(path, "a:0").count
                    let length = Double(packets) * 1024 / 48_000
                    #expect(abs(length - Self.seconds) <= 1024.0 / 48_000, "\(packets) AAC frames")
                } else {
                    #expect(try media.frameCount(path) == Int(Self.seconds * 30), "\(name)")
                    try self.expectKeyPictures(path, playlist, media)
                }
            }
        }

        /// A player that seeks reads only the key frames, and gets each of them.
        private func expectIFrames(_ directory: String, _ media: Media) throws {
            for name in ["240p", "360p", "480p", "720p"] {
                let path = "\(directory)/\(name)-iframes.m3u8"
                #expect(try Playlist(contentsOf: path).segments.count == 6, "a GOP has 32 of 180 frames")
                #expect(try media.frameCount(path) == 6 && media.complaints(path) == "", "\(name)")
                #expect(try media.packets(path, "v:0").allSatisfy(\.isKey))
            }
            let lint = try Command.tandem(["lint-hls", "\(directory)/index.m3u8"])
            #expect(lint.code == 0 && lint.output.contains("-iframes.m3u8: 6 segments"), "\(lint.output)")
        }

        /// The same video and audio as MPEG-TS for old devices, in playlists without tags newer than version 3.
        private func expectTransport(_ directory: String, _ media: Media) throws {
            for name in ["240p", "360p", "480p", "720p"] {
                let path = "\(directory)/\(name).m3u8"
                let text = try Files.text(path)
                #expect(text.contains("#EXT-X-VERSION:3\n") && !text.contains("EXT-X-MAP") && text.contains("ENDLIST"))
                #expect(try media.frameCount(path) == Int(Self.seconds * 30) && media.complaints(path) == "", "\(name)")
                let audio = try media.packets(path, "a:0").count
                #expect(abs(Double(audio) * 1024 / 48_000 - Self.seconds) <= 1024.0 / 48_000, "\(audio) AAC frames")
            }
            let lint = try Command.tandem(["lint-hls", "\(directory)/index.m3u8"])
            #expect(lint.code == 0, "\(lint.output)")
        }

        /// Every segment and every GOP starts with a key frame: one grid of 32 frames in all renditions.
        private func expectKeyPictures(_ path: String, _ playlist: Playlist, _ media: Media) throws {
            let packets = try media.packets(path, "v:0").sorted { $0.time < $1.time }
            let first = try #require(packets.first).time
            let keys = packets.filter(\.isKey).map { Int((($0.time - first) * 30).rounded()) }
            #expect(keys == Array(stride(from: 0, to: Int(Self.seconds * 30), by: 32)), "\(path)")
            var start = 0.0
            for segment in playlist.segments {
                #expect(keys.contains(Int((start * 30).rounded())), "\(segment.uri) does not start with a key frame")
                start += segment.duration
            }
        }
    }
}
