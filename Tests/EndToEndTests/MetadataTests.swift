import Foundation
import HLS
import Testing

extension EndToEnd {
    @Suite("Timed metadata of operators reaches players in sync with the video")
    struct MetadataTests {
        private struct Cue: Decodable {
            var at: Double
            var data: String
        }

        /// Largest difference in seconds between a cue and its copy from another rendition: less than half a frame,
        /// more than a player's rounding.
        private static let doubledWithin = 0.016

        private struct Heard: Decodable {
            var cues: [Cue]
            /// For each whole segment its start on the player's timeline and its program date in milliseconds.
            var fragments: [[Double]]
            /// `app_data` carried in the frames.
            var pictures: [String]
            var level: Int
        }

        private struct Said: Decodable {
            var id: String
            var at: String
        }

        private static let heard = """
            JSON.stringify({
              cues: [...probe.video.textTracks].flatMap((track) => [...(track.cues || [])])
                .filter((cue) => cue.value?.key === "TXXX" && cue.type === "https://aomedia.org/emsg/ID3")
                .map((cue) => ({ at: cue.startTime, data: cue.value.data })),
              fragments: hls.levels[hls.currentLevel].details.fragments.map((f) => [f.start, f.programDateTime]),
              pictures: probe.pictures, level: hls.currentLevel })
            """

        private static func room(_ directory: String) -> String {
            let renditions = """
                [ { "name": "large", "width": 640, "height": 360, "video": { "bitrate": 600000 } },
                  { "name": "small", "width": 320, "height": 180, "fps": 15, "video": { "bitrate": 200000 } } ]
                """
            return Rooms.live(
                directory, renditions: renditions, canvas: (640, 360),
                members: #""sei": { "intervalMs": 1000, "extraInfo": "hello" },"#
            ).replacingOccurrences(
                of: #""windowSeconds": 600,"#, with: #""windowSeconds": 600, "preset": "lowLatency","#)
        }

        @Test(
            "with one metadata event per second, hls.js has a cue for each within 50 ms of its program time, also over level switches"
        )
        func inStep() throws {
            let viewers = try Viewers.start(needsHLSJS: true)
            let seconds = max(
                6, ProcessInfo.processInfo.environment["TANDEM_METADATA_SECONDS"].flatMap { Int($0) } ?? 12)
            let work = try WorkDirectory()
            let directory = work.path("out")
            let room = try RunningRoom(Self.room(directory))
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.segments(2)
            let viewer = try #require(room.viewer)
            let tab = try viewers.watch(
                viewer, .hlsJS, config: #"{"startLevel":0,"backBufferLength":600,"liveSyncDurationCount":2}"#)
            try tab.evaluate(
                """
                probe.pictures = [];
                (async () => {
                  while (!window.hls) await new Promise((resolve) => setTimeout(resolve, 20));
                  hls.on('hlsFragParsingUserdata', (_, { samples }) => {
                    for (const { userData } of samples) try { probe.pictures.push(JSON.parse(userData).app_data) } catch {}
                  });
                })()
                """)
            Thread.sleep(forTimeInterval: 3)
            let lint = try Child(
                EndToEnd.binary, ["lint-hls", "\(viewer)/index.m3u8", "--duration", "\(seconds + 2)"])
            func say(_ body: String) throws -> HTTPClient.Reply {
                try HTTPClient.request("POST", room.control, "/v1/metadata", body: body)
            }
            var told: [String: String] = [:]
            let began = Date()
            for number in 0..<seconds {
                let body = #"{"type":"gift","id":"e\#(number)","data":{"rose":\#(number),"to":"안나"}}"#
                let reply = try say(body)
                #expect(reply.status == 202, "\(reply.body)")
                told["e\(number)"] = reply.json()["appliesAt"] as? String
                // Sending the same event again changes nothing.
                if number == 1 { #expect(try say(body).json()["changed"] as? Bool == false) }
                // As when the player switches automatically: buffered media stays.
                if number % 4 == 3 { try tab.evaluate("hls.loadLevel = \(number % 8 == 3 ? 1 : 0); ''") }
                if number == 2 {
                    let score = try say(#"{"type":"score","text":"2:1 \"ok\"","state":true}"#)
                    #expect(score.status == 202)
                    #expect((score.json()["id"] as? String)?.hasPrefix("n") == true, "the id it was given")
                }
                let pause = began.addingTimeInterval(Double(number + 1)).timeIntervalSinceNow
                if pause > 0 { Thread.sleep(forTimeInterval: pause) }
            }
            #expect(try say(#"{"type":"gift","id":"e1","text":"other"}"#).status == 409)
            #expect(try say(#"{"type":"gift","text":"\#(String(repeating: "x", count: 4_100))"}"#).status == 413)
            #expect(try say(#"{"type":"gift","text":"late","at":"2020-01-01T00:00:00.000Z"}"#).status == 422)
            // Viewers who join later see the open states.
            let lists = try ["large", "small", "audio"].map {
                try HTTPClient.request("GET", viewer, "/\($0).m3u8").body
            }
            #expect(
                lists.allSatisfy {
                    $0.contains(#"CLASS="live.tandem.state.score""#) && $0.contains(#"X-TANDEM-TEXT="2:1 %22ok%22""#)
                })
            #expect(try lint.wait(timeout: 30) == 0, "\(lint.outputLines.suffix(12).joined(separator: "\n"))")
            Thread.sleep(forTimeInterval: 1)
            let heard = try JSONDecoder().decode(Heard.self, from: Data(tab.evaluate(Self.heard).utf8))
            let report = try tab.report()
            #expect(report.faults.isEmpty, "\(report.errors)")
            report.expectNoStall("hls.js")

            let said = try heard.cues.map { ($0, try JSONDecoder().decode(Said.self, from: Data($0.data.utf8))) }
            let ids = said.map(\.1.id).filter { $0.hasPrefix("e") }
            // hls.js (1.6.15) creates a cue again when it loads a time again in another rendition. The id identifies
            // it, and its bytes and time are the same.
            #expect(Set(ids).count == seconds, "\(ids.sorted())")
            #expect(Set(said.map { $0.0.data }).count == Set(said.map(\.1.id)).count)
            for (id, cues) in Dictionary(grouping: said, by: \.1.id) {
                let times = cues.map(\.0.at).sorted()
                #expect((times.last ?? 0) - (times.first ?? 0) < Self.doubledWithin, "\(id) at \(times)")
            }
            var worst = 0.0
            for (cue, event) in said where told[event.id] != nil {
                #expect(told[event.id] == event.at)
                let date = try #require(ProgramDate.parse(event.at)).quotientAndRemainder(dividingBy: 1_000_000)
                    .quotient
                let fragment = try #require(heard.fragments.last { $0[0] <= cue.at + 0.001 })
                worst = max(worst, abs(fragment[1] + (cue.at - fragment[0]) * 1000 - Double(date)))
            }
            let pictures = heard.pictures.filter { $0.contains("\"gift\"") }
            EndToEnd.report(
                "\(ids.count) of \(seconds) events as cues, at most \(String(format: "%.1f", worst)) ms from their pictures; "
                    + "\(Set(pictures).count) in pictures, \(heard.pictures.count - pictures.count) pictures told the layout"
            )
            #expect(worst <= 50)
            #expect(Set(pictures).count >= seconds - 1 && heard.pictures.contains("hello"))
            #expect(try room.end() == 0)
            anna.stop()
            try Self.check(directory, seconds)
        }

        /// Checks that each rendition's files have each event once as an emsg box and once in a frame, and that FFmpeg decodes
        /// them without warnings.
        private static func check(_ directory: String, _ seconds: Int) throws {
            for track in ["large", "small"] {
                let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                    .filter { $0.hasPrefix("\(track)-") && $0.hasSuffix(".m4s") }
                let all = try names.map {
                    String(decoding: try Files.bytes("\(directory)/\($0)"), as: UTF8.self)
                }.joined()
                func count(_ text: String) -> Int { all.components(separatedBy: text).count - 1 }
                for number in 0..<seconds {
                    #expect(
                        count("\"id\":\"e\(number)\"") == 1 && count("\\\"id\\\":\\\"e\(number)\\\"") == 1,
                        "\(track) e\(number)")
                }
                #expect(count("\"regions\":[{\"uid\":\"1001\"") >= seconds)
            }
            let media = try Media.require()
            for track in ["large", "small"] { #expect(try media.complaints("\(directory)/\(track).m3u8") == "") }
        }
    }
}
