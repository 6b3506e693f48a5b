import Foundation
import LibAV
import MediaTypes
import Testing

@Suite("Files that are opened with libavformat")
struct LocalFileTests {
    private static let invalid = -EINVAL

    /// Makes an empty directory, and removes it afterwards.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = "\(NSTemporaryDirectory())tandem-local-file-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private static func error(_ body: () throws(MediaError) -> Void) -> MediaError? {
        do throws(MediaError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "a playlist, a concat script or an SDP file with the name of a media file is refused",
        arguments: [
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:1,\nother.ts\n#EXT-X-ENDLIST\n",
            "ffconcat version 1.0\nfile other.mp4\n",
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 9 RTP/AVP 0\n",
        ])
    func playlists(text: String) throws {
        try self.withDirectory { directory in
            let path = "\(directory)/song.mp3"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let media = Self.error { () throws(MediaError) in _ = try Demuxer.open(path: path, place: "test") }
            #expect(media?.code == .invalidData && media?.avError == Self.invalid, "\(String(describing: media))")
            let image = Self.error { () throws(MediaError) in _ = try Picture.load(path: path, place: "test") }
            #expect(image?.avError == Self.invalid, "\(String(describing: image))")
        }
    }

    @Test("a pipe or a directory given as a media file is refused at once, and a missing file is reported as missing")
    func notRegular() throws {
        try self.withDirectory { directory in
            let pipe = "\(directory)/pipe.mp4"
            try #require(mkfifo(pipe, 0o600) == 0)
            for path in [pipe, directory] {
                let error = Self.error { () throws(MediaError) in _ = try Demuxer.open(path: path, place: "test") }
                #expect(error?.code == .invalidData && error?.avError == Self.invalid, "\(String(describing: error))")
            }
            let missing = Self.error { () throws(MediaError) in
                _ = try Demuxer.open(path: "\(directory)/none.mp4", place: "test")
            }
            #expect(missing?.code == .notReadable)
        }
    }

    @Test("a colon or a percent sign in the path of an image is part of the name")
    func plainNames() throws {
        // The smallest portable pixmap.
        let bytes = Data("P6\n2 2\n255\n".utf8) + Data(repeating: 200, count: 12)
        try self.withDirectory { directory in
            for name in ["a:b.ppm", "a%d.ppm"] {
                let path = "\(directory)/\(name)"
                try bytes.write(to: URL(fileURLWithPath: path))
                let picture = try Picture.load(path: path, place: "test")
                #expect(picture.format.width == 2 && picture.format.height == 2)
            }
        }
    }
}
