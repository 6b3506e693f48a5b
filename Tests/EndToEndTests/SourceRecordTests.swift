import Foundation
import Glibc
import Testing

extension Unhurried.Records {
    @Suite("Recordings of single sources")
    struct SourceRecordTests {
        private static func room(_ work: WorkDirectory) -> String {
            let record = #""record": { "directory": "\#(work.path("recordings"))", "partSeconds": 1 }, "#
            return Rooms.small(work.path("out")).replacingOccurrences(
                of: #"{ "uid": "1001", "#, with: #"{ "uid": "1001", \#(record)"#)
        }

        private static func publish(_ media: Media, _ clip: String, to url: String, loops: Bool = false) throws
            -> Publisher
        {
            let arguments = ["-nostdin", "-loglevel", "error", "-re"] + (loops ? ["-stream_loop", "-1"] : [])
            return try Publisher(media.ffmpeg, arguments + ["-i", clip, "-c", "copy", "-f", "flv", url])
        }

        private static func sidecar(_ movie: String) throws -> [String: Any] {
            let data = try Files.bytes(String(movie.dropLast(4)) + ".json")
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }

        @Test(
            "with source recording, three publications have a file each with all frames; a killed worker's file lacks 2.5 s at most"
        )
        func reconnects() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let clip = work.path("clip.mp4")
            // With B-frames, whose order in the file is another than on the screen.
            let made = try Command.run(
                media.ffmpeg,
                Publisher.arguments(size: "320x180", seconds: 2, hertz: 440, isRealTime: false, bFrames: 2) + [clip])
            #expect(made.code == 0, "\(made.errors)")
            let (frames, audioPackets) = (try media.frameCount(clip), try media.packets(clip, "a").count)
            var room = try RunningRoom(Self.room(work))
            var ended: [Event] = []
            for _ in 0..<3 {
                let start = room.now
                let publisher = try Self.publish(media, clip, to: room.url("a"))
                _ = try publisher.child.wait(timeout: 15)
                ended.append(try room.event("source.recording_finished", uid: "1001", from: start))
            }
            for event in ended {
                let path = try #require(event.text("path"))
                #expect(event.text("reason") == "publicationEnded")
                #expect(try media.complaints(path) == "")
                #expect(try media.frameCount(path) == frames)
                #expect(try media.packets(path, "a").count == audioPackets)
                let sidecar = try Self.sidecar(path)
                let first = try #require((sidecar["start"] as? [String: Any])?["programMs"] as? Double)
                // What arrived before the first tick has a negative time.
                #expect(first > -1_000 && (sidecar["gaps"] as? [Any])?.isEmpty == true)
            }
            #expect(Set(ended.compactMap { $0.text("publicationId") }).count == 3)

            var start = room.now
            let publisher = try Self.publish(media, clip, to: room.url("a"), loops: true)
            let path = try #require(try room.event("source.recording_started", from: start).text("path"))
            let source = try HTTPClient.request("GET", room.control, "/v1/sources/1001").json()
            let shown = try #require(source["recording"] as? [String: Any])
            #expect(shown["state"] as? String == "recording" && shown["file"] as? String == path)
            let begun = Date()
            try room.segments(1)
            let sent = Date().timeIntervalSince(begun)
            _ = try room.terminate(SIGKILL)
            publisher.stop(SIGKILL)
            #expect(try media.frameCount(path) > 0, "a file that was not completed plays")

            room = try RunningRoom(Self.room(work))
            let completed = try room.event("source.recording_finished", uid: "1001")
            #expect(completed.text("path") == path && completed.text("reason") == "workerKilled")
            #expect(try media.complaints(path) == "")
            let kept = try media.frameCount(path)
            let tracks = try Self.sidecar(path)["tracks"] as? [[String: Any]]
            #expect(tracks?.first?["frames"] as? Int == kept)
            // The last part of one second, the time in which the writer gathers packets, and a margin.
            #expect(Double(kept) >= (sent - 2.5) * 30)
            EndToEnd.report("\(kept) frames kept of a publication killed after \(sent) s")
            start = room.now
            let last = try Self.publish(media, clip, to: room.url("a"))
            _ = try last.child.wait(timeout: 15)
            let again = try #require(try room.event("source.recording_finished", from: start).text("path"))
            #expect(again != path)
            #expect(try media.frameCount(again) == frames)
            #expect(try room.end() == 0)
        }
    }
}
