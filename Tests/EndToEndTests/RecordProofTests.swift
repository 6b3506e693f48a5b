import Foundation
import Glibc
import HLS
import TestSupport
import Testing

/// A room with three PKs, recorded, killed while it makes files and finished by another worker; and a clip made
/// meanwhile.
private enum RecordProof {
    /// Minutes of the whole room; `TANDEM_RECORD_MINUTES=10` for the long run.
    static let minutes = ProcessInfo.processInfo.environment["TANDEM_RECORD_MINUTES"].flatMap { Double($0) } ?? 0

    static func pipeline(_ work: WorkDirectory) -> String {
        let pk =
            #""pk": { "scene": "pk", "countdownMs": 0, "durationMs": 3600000, "punishMs": 0, "endScene": "solo" }, "#
        return Rooms.small(work.path("out"), members: pk).replacingOccurrences(
            of: #""outputs": ["#, with: #""outputs": [ { "type": "record", "path": "\#(work.path("recording"))" },"#)
    }

    /// - Parameter segments: Number of 2.13 s segments in each PK and between two.
    static func run(segments: Int) throws {
        let media = try Media.require()
        let work = try WorkDirectory()
        try media.make(work.path("clip.mp4"), size: "320x180", seconds: 4)
        let room = try RunningRoom(Self.pipeline(work))
        let publishers = try ["a", "b"].map {
            try Publisher(EndToEnd.binary, ["publish", work.path("clip.mp4"), room.url($0), "--loop"])
        }
        defer { for publisher in publishers { publisher.stop(SIGKILL) } }
        try room.event("source.live", uid: "2002", timeout: 30)
        let patience = Double(segments) * 2.2 + 30
        try room.segments(1)
        for _ in 0..<3 {
            #expect(try HTTPClient.request("POST", room.control, "/v1/pk:start", body: "{}").status == 200)
            try room.segments(segments, timeout: patience)
            #expect(try HTTPClient.request("POST", room.control, "/v1/pk:end", body: "{}").status == 200)
            try room.segments(max(1, segments / 2), timeout: patience)
        }
        try Self.expectClip(room, media)
        let ticks = try #require(try room.state()["ticks"] as? [String: Any])
        _ = try HTTPClient.request("POST", room.control, "/v1/room:end", body: "{}")
        try room.event("recording.finishing", timeout: 20)
        _ = try room.terminate(SIGKILL)
        let frames = room.events("segment.published").compactMap { $0.integer("ticks") }.reduce(0, +)
        // On a fast machine the kill may come too late: then everything is done.
        if !FileManager.default.fileExists(atPath: work.path("recording/recording.json")) {
            let result = try Command.tandem(["run", "-"], input: Self.pipeline(work))
            #expect(result.code == 0 && result.output.contains("recording.ready"), "\(result.errors)")
        }
        EndToEnd.report("a room of \(frames / 30) s with 3 PKs, recorded: ticks \(ticks)")
        try Self.expectManifest(work, frames: frames)
        try Self.expectPictures(work, media, frames: frames)
        try Self.expectPlayers(work)
        let lint = try Command.tandem(["lint-hls", work.path("recording/index.m3u8")])
        #expect(lint.code == 0, "\(lint.output)")
    }

    // MARK: The recording

    private static func expectManifest(_ work: WorkDirectory, frames: Int) throws {
        let manifest = try #require(
            try JSONSerialization.jsonObject(with: Files.bytes(work.path("recording/recording.json")))
                as? [String: Any])
        #expect(manifest["complete"] as? Bool == true && manifest["frames"] as? Int == frames)
        let chapters = (manifest["chapters"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
        #expect(chapters == ["solo", "pk", "solo", "pk", "solo", "pk", "solo"])
        let files = try #require(manifest["files"] as? [[String: Any]])
        guard let sum = TestTool.find("sha256sum") else { return }
        let paths = files.compactMap { $0["name"] as? String }.map { work.path("recording/\($0)") }
        let sums = try Command.run(sum, paths).output.split(separator: "\n").map { String($0.prefix(64)) }
        #expect(sums == files.compactMap { $0["sha256"] as? String } && sums.count > 10)
    }

    private static func expectPictures(_ work: WorkDirectory, _ media: Media, frames: Int) throws {
        let movie = work.path("recording/180p.mp4")
        #expect(try media.complaints(movie) == "")
        #expect(try media.frameCount(movie) == frames)
        #expect(try media.frameCount(work.path("recording/180p.m3u8")) == frames)
        let titles = try media.probe(
            movie, ["-show_chapters", "-show_entries", "chapter=start_time:chapter_tags=title"])
        #expect(
            titles.compactMap { $0.split(separator: ",").last } == ["solo", "pk", "solo", "pk", "solo", "pk", "solo"])
    }

    private static func expectPlayers(_ work: WorkDirectory) throws {
        let movie = work.path("recording/180p.mp4")
        if let play = try NativePlayer.vlc.play(movie) {
            // Its start-up time depends on the machine: it scans its modules first.
            let deadline = Date(timeIntervalSinceNow: 20)
            while play.isRunning, play.frameCount() <= 30, Date() < deadline { Thread.sleep(forTimeInterval: 0.2) }
            let outcome = play.stop()
            EndToEnd.report("\(outcome)")
            #expect(outcome.frameCount > 30 && outcome.complaints.isEmpty)
        }
        guard Browser.path != nil else { return TestTool.noteMissing("chromium") }
        let browser = try Browser.start()
        defer { browser.close() }
        let page = try work.write("<video id=v muted src=\"recording/180p.mp4\"></video>", to: "page.html")
        let tab = try browser.open("file://\(page)")
        let deadline = Date(timeIntervalSinceNow: 10)
        while try tab.evaluate("document.getElementById('v') ? 'there' : ''") != "there", Date() < deadline {
            Thread.sleep(forTimeInterval: 0.05)
        }
        let seen = try tab.evaluate(
            """
            (async () => {
              const v = document.getElementById('v');
              for (let i = 0; i < 100 && v.readyState < 2 && !v.error; i++) await new Promise(r => setTimeout(r, 50));
              v.currentTime = v.duration / 2;
              for (let i = 0; i < 100 && (v.seeking || v.readyState < 2); i++) await new Promise(r => setTimeout(r, 50));
              const from = v.currentTime; await v.play(); await new Promise(r => setTimeout(r, 1500));
              return [v.error ? v.error.message : 'ok', v.videoWidth, v.duration > 10, v.currentTime > from + 0.5].join(' ');
            })()
            """)
        #expect(seen == "ok 320 true true", "\(seen)")
    }

    // MARK: The clip

    private static func expectClip(_ room: RunningRoom, _ media: Media) throws {
        let segments = room.events("segment.published")
        let origin = try #require(
            room.events("program.started").first?.text("origin").flatMap { ProgramDate.parse($0) })
        // From the middle of one segment to the middle of another.
        let first = try #require(segments.dropFirst(2).first?.integer("firstTick")) + 20
        let from = origin + Int64(first) * 1_000_000_000 / 30
        let to = from + 4_000_000_000
        let body = #"{"from":"\#(ProgramDate.format(from))","to":"\#(ProgramDate.format(to))","name":"goal"}"#
        let reply = try HTTPClient.request("POST", room.control, "/v1/clips", body: body)
        #expect(reply.status == 202, "\(reply.body)")
        let id = try #require(reply.json()["id"] as? String)
        let path = try #require(try room.event("clip.ready", timeout: 20).object("clip")["path"] as? String)
        let clip = try HTTPClient.request("GET", room.control, "/v1/clips/\(id)").json()
        #expect(clip["state"] as? String == "ready" && clip["durationMs"] as? Int == 4000, "\(clip)")
        #expect(try media.complaints(path) == "")
        let shown = try media.frameTimes(path, "v:0")
        EndToEnd.report("a clip of 4 s: \(shown.count) pictures, the first at \(shown.first ?? -1)")
        #expect((119...121).contains(shown.count))
        for (body, status, word) in [
            (body, 409, "goal"), (#"{"from":"2020-01-01T00:00:00Z","to":"2020-01-01T00:00:05Z"}"#, 202, "pending"),
            (#"{"from":"2090-01-01T00:00:00Z","to":"2090-01-01T00:00:05Z"}"#, 422, "available media, 2"),
            (#"{"from":"x","to":"y"}"#, 422, "program date-time"),
        ] {
            let reply = try HTTPClient.request("POST", room.control, "/v1/clips", body: body)
            #expect(reply.status == status && reply.body.contains(word), "\(reply.status) \(reply.body)")
        }
        // Older than the recording: not found there.
        let failed = try room.event("clip.failed", timeout: 20).object("clip")
        #expect((failed["reason"] as? String ?? "").contains("not within the available media"))
    }
}

extension Unhurried.Records {
    @Suite("The recording of a room with three PKs, and a clip of it")
    struct RecordProofTests {
        @Test(
            "a 20 s recording whose worker is killed at the end is finished with all chapters and frames, and plays; a 4 s clip decodes"
        )
        func short() throws { try RecordProof.run(segments: 2) }
    }
}

/// Outside of ``EndToEnd``, whose tests have a shorter time limit.
@Suite(
    "The recording of a room with three PKs that lasts TANDEM_RECORD_MINUTES", .serialized,
    .enabled(if: RecordProof.minutes > 0),
    .timeLimit(.minutes(30)))
struct LongRecordProofTests {
    @Test(
        "a recording of TANDEM_RECORD_MINUTES minutes whose worker is killed at the end is finished with all chapters and frames"
    )
    func long() throws { try RecordProof.run(segments: Int(RecordProof.minutes * 60 / 2.134 / 4.5)) }
}
