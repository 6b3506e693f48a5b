import PipelineSpec
import Testing

@Suite("Pipeline file: subtitles")
struct SubtitleSpecTests {
    private static func report(_ subtitles: String, members: String = "", output: String = "") -> SpecReport {
        let outputs = output.isEmpty ? #"{ "type": "hls", "path": "out", "windowSeconds": 3600 }"# : output
        return Pipeline.parse(
            Array(
                """
                {
                  "room": { "roomId": "1" }, "sources": [{ "uid": "1", "streamKey": "key_1" }],
                  "scenes": [{ "sceneId": "solo", "layout": "solo", "uids": ["1"] }], \(members)
                  "outputs": [\(outputs)], "subtitles": \(subtitles)
                }
                """.utf8))
    }

    @Test("a rendition has a name and a language; its label is its name if it has none")
    func valid() {
        let all = Self.report(
            #"[{ "name": "en", "language": "en" }, { "name": "ko", "language": "ko", "label": "한국어", "default": true, "markup": true }]"#
        ).pipeline?.subtitles
        #expect(all?.map(\.title) == ["en", "한국어"])
        #expect(all?.map(\.isDefault) == [false, true] && all?.map(\.markup) == [false, true])
    }

    @Test(
        "each mistake in subtitles is reported at its path",
        arguments: [
            (#"[{ "name": "en" }]"#, "subtitles[0].language"), (#"[{ "language": "en" }]"#, "subtitles[0].name"),
            (#"[{ "name": "a.b", "language": "en" }]"#, "subtitles[0].name"),
            (#"[{ "name": "en", "language": "english!" }]"#, "subtitles[0].language"),
            (#"[{ "name": "audio", "language": "en" }]"#, "subtitles[0].name"),
            (#"[{ "name": "index", "language": "en" }]"#, "subtitles[0].name"),
            (#"[{ "name": "720p-iframes", "language": "en" }]"#, "subtitles[0].name"),
            (#"[{ "name": "audio-dvr", "language": "en" }]"#, "subtitles[0].name"),
            (
                #"[{ "name": "en", "language": "en" }, { "name": "en-dvr", "language": "ko" }]"#,
                "subtitles[1].name"
            ),
            (
                #"[{ "name": "a", "language": "en" }, { "name": "b", "language": "EN" }]"#,
                "subtitles[1].language"
            ),
            (
                #"[{ "name": "a", "language": "en", "label": "x" }, { "name": "b", "language": "ko", "label": "x" }]"#,
                "subtitles[1].label"
            ),
            (
                #"[{ "name": "a", "language": "en", "default": true }, { "name": "b", "language": "ko", "default": true }]"#,
                "subtitles[1].default"
            ),
        ])
    func mistakes(subtitles: String, path: String) {
        let report = Self.report(subtitles)
        #expect(report.pipeline == nil && report.mistakes.contains { $0.path == path }, "\(report.text(file: ""))")
    }

    @Test("subtitles need an HLS output, and a live room")
    func needs() {
        let one = #"[{ "name": "en", "language": "en" }]"#
        let raw = Self.report(one, output: #"{ "type": "rtmp", "url": "rtmp://a.example/live/x" }"#)
        #expect(raw.mistakes.contains { $0.path == "subtitles" }, "\(raw.text(file: ""))")
        let offline = Self.report(one, members: #""clock": "offline","#)
        #expect(offline.mistakes.contains { $0.path == "subtitles" }, "\(offline.text(file: ""))")
    }

    @Test(
        "each mistake in a request with cues is reported at its path",
        arguments: [
            (#"{}"#, "cues"), (#"{ "cues": [] }"#, "cues"), (#"{ "cues": [{ "durationMs": 500 }] }"#, "cues[0].text"),
            (#"{ "cues": [{ "text": "a" }] }"#, "cues[0].durationMs"),
            (#"{ "cues": [{ "text": "a", "endMs": 5 }] }"#, "cues[0].startMs"),
            (#"{ "cues": [{ "text": "a", "startMs": 5, "endMs": 5 }] }"#, "cues[0].endMs"),
            (#"{ "cues": [{ "text": "a", "startMs": 0, "endMs": 60001 }] }"#, "cues[0].endMs"),
            (#"{ "cues": [{ "text": "a", "startMs": 0, "endMs": 500, "durationMs": 500 }] }"#, "cues[0].durationMs"),
            (#"{ "cues": [{ "text": "a", "durationMs": 99 }] }"#, "cues[0].durationMs"),
            (#"{ "cues": [{ "text": "a", "startMs": -1, "durationMs": 500 }] }"#, "cues[0].startMs"),
        ])
    func requests(body: String, path: String) {
        guard case .failure(let refusal) = SubtitleRequest.parse(Array(body.utf8)) else {
            Issue.record("\(body) is accepted")
            return
        }
        #expect(refusal.mistakes.contains { $0.path == path }, "\(refusal.mistakes)")
    }

    @Test("a cue has a start and an end, a start and a duration, or only a duration")
    func forms() throws {
        let body =
            #"{ "cues": [{ "text": "a", "startMs": 5, "endMs": 500 }, { "text": "b", "startMs": 5, "durationMs": 100 }, { "text": "c", "durationMs": 60000 }] }"#
        guard case .success(let request) = SubtitleRequest.parse(Array(body.utf8)) else {
            Issue.record("it is refused")
            return
        }
        #expect(request.cues.map(\.startMs) == [5, 5, nil] && request.cues.map(\.endMs) == [500, nil, nil])
    }
}
