import Foundation
import Glibc
import Testing

extension Unhurried.Records {
    @Suite("An offline job whose source file stops delivering data")
    struct StalledJobTests {
        @Test(
            "an offline job whose source file delivers no more data exits with 66 after at least ten seconds, and names the file"
        )
        func silentFile() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let (whole, pipe) = (work.path("whole.mkv"), work.path("pipe.mkv"))
            try media.make(whole, size: "320x180", seconds: 4)
            let file = try Self.pipe(pipe, holding: try Data(contentsOf: URL(fileURLWithPath: whole)))
            defer { close(file) }
            let rendition = """
                [{ "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 300000, "preset": "ultrafast" } }]
                """
            let pipeline = Rooms.offline(
                (whole, pipe), seconds: 4, renditions: rendition,
                outputs: #"{ "type": "hls", "path": "\#(work.path("out"))" }"#, canvas: #""width": 320, "height": 180"#)
            let start = Date()
            let job = try Command.tandem(["run", "-"], input: pipeline)
            let seconds = Date().timeIntervalSince(start)
            #expect(job.code == 66 && seconds >= 10, "\(job.code) after \(seconds) s: \(job.errors)")
            #expect(
                job.errors.contains("made no progress for 10 seconds") && job.errors.contains("Fix: "), "\(job.errors)")
            #expect(job.errors.contains("nothing can be read from \(pipe)"), "\(job.errors)")
            let closed = job.output.split(separator: "\n").compactMap { Event(String($0)) }.last {
                $0.type == "room.closed"
            }
            #expect(closed?.text("outcome") == "failed" && closed?.text("code") == "notReadable", "\(job.output)")
        }

        /// A file on storage that hangs: its first half, then neither more data nor an end.
        private static func pipe(_ path: String, holding whole: Data) throws -> Int32 {
            try #require(mkfifo(path, 0o600) == 0)
            // Also opened for writing, so that it has no end of file.
            let file = open(path, O_RDWR | O_NONBLOCK)
            let half = [UInt8](whole.prefix(whole.count / 2))
            // F_SETPIPE_SZ, fcntl(2): the largest size without privileges.
            try #require(fcntl(file, 1_031, 1 << 20) >= half.count, "\(half.count) bytes are more than a pipe holds")
            try #require(write(file, half, half.count) == half.count)
            return file
        }
    }
}
