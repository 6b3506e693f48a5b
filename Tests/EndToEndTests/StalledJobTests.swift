import Foundation
import Glibc
import Testing

extension Unhurried.Stores {
    @Suite("An offline job whose source file would never end")
    struct StalledJobTests {
        @Test("an offline job with a pipe as a source file is refused at once, with the file and a remedy")
        func pipe() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let (whole, pipe) = (work.path("whole.mkv"), work.path("pipe.mkv"))
            try media.make(whole, size: "320x180", seconds: 1)
            try #require(mkfifo(pipe, 0o600) == 0)
            let rendition = """
                [{ "name": "180p", "width": 320, "height": 180, "video": { "bitrate": 300000, "preset": "ultrafast" } }]
                """
            let pipeline = Rooms.offline(
                (whole, pipe), seconds: 1, renditions: rendition,
                outputs: #"{ "type": "hls", "path": "\#(work.path("out"))" }"#, canvas: #""width": 320, "height": 180"#)
            let job = try Command.tandem(["run", "-"], input: pipeline)
            #expect(job.code == 65, "\(job.errors)")
            #expect(job.errors.contains("cannot open \(pipe)"), "\(job.errors)")
            #expect(job.errors.contains("pipes are not read"), "\(job.errors)")
        }
    }
}
