import Foundation
import Testing

extension Unhurried.Frames {
    @Suite("Animations over the program")
    struct OverlayTests {
        /// An animation of one second with a tone: a color in the left half, transparency in the right one.
        private static func make(
            _ media: Media, _ path: String, color: String, hertz: Int, isPacked: Bool = false, _ codecs: [String]
        ) throws {
            var filter = "color=c=\(color):s=160x90:r=30:d=1,format=rgba,"
            filter += "geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(lt(X,W/2),255,0)'"
            if isPacked {
                filter += ",split[a][b];[b]geq=r='alpha(X,Y)':g='alpha(X,Y)':b='alpha(X,Y)':a=255[m];[a][m]hstack"
            }
            var arguments = ["-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", filter]
            if hertz > 0 { arguments += ["-f", "lavfi", "-i", "sine=frequency=\(hertz):duration=1:sample_rate=48000"] }
            let result = try Command.run(media.ffmpeg, arguments + codecs + [path])
            try #require(result.code == 0, "\(result.errors)")
        }

        @Test(
            "a WebM, an APNG, and an MP4 with side-by-side alpha are drawn from their start ticks, two with audio, also again from memory; a bad file is reported"
        )
        func plays() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let (webm, png, mp4) = (work.path("a.webm"), work.path("b.png"), work.path("c.mp4"))
            try Self.make(
                media, webm, color: "magenta", hertz: 1700,
                ["-c:v", "libvpx-vp9", "-pix_fmt", "yuva420p", "-deadline", "realtime", "-c:a", "libopus"])
            try Self.make(media, png, color: "lime", hertz: 0, ["-f", "apng"])
            try Self.make(
                media, mp4, color: "magenta", hertz: 2500, isPacked: true,
                ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac"])
            let place = #""width": 160, "height": 90"#
            let pipeline = Rooms.small(
                work.path("out"),
                members: """
                    "overlays": [ { "name": "a", "path": "\(webm)", \(place) }, { "name": "b", "path": "\(png)", \(place) },
                      { "name": "c", "path": "\(mp4)", "alpha": "right", \(place) } ],
                    """)
            let room = try RunningRoom(pipeline)
            let publisher = try Publisher.ffmpeg(
                media.ffmpeg, to: room.url("a"), size: "320x180", picture: "color=c=yellow")
            defer { publisher.stop() }
            try room.event("source.first_frame", uid: "1001")
            var ticks: [Int] = []
            for name in ["a", "b", "c", "a"] {
                let since = room.now
                let play = try HTTPClient.request(
                    "POST", room.control, "/v1/overlays/\(name):play", body: #"{"x":160,"volume":100}"#)
                #expect(play.status == 202, "\(play.body)")
                ticks.append(try #require(try play.json()["tick"] as? Int, "\(play.body)"))
                let ended = try room.event("overlay.ended", from: since) { $0.text("overlay") == name }
                #expect(ended.text("reason") == "played", "\(ended.line)")
            }
            try Data("nothing".utf8).write(to: URL(fileURLWithPath: png))
            let from = room.now
            #expect(try HTTPClient.request("POST", room.control, "/v1/overlays/b:play", body: "").status == 202)
            let failed = try room.event("overlay.ended", from: from)
            #expect(failed.text("reason") == "failed" && failed.text("error")?.contains("cannot open") == true)
            #expect(try HTTPClient.request("POST", room.control, "/v1/overlays/none:play", body: "").status == 404)
            let outside = try HTTPClient.request("POST", room.control, "/v1/overlays/a:play", body: #"{"x":300}"#)
            #expect(outside.status == 422, "\(outside.body)")
            #expect(room.events("overlay.started").compactMap { $0.integer("tick") } == ticks)
            #expect(try room.end() == 0)

            let shares = try ColorShares(work.path("out/180p.m3u8"), width: 320, height: 180, media)
            // 80 x 90 samples of 320 x 180 are an eighth of the frame.
            let frames = [
                shares.times(with: .magenta, over: 0.1), shares.times(with: .lime, over: 0.1),
            ]
            let origin = shares.times.first ?? 0
            func first(_ seconds: [Double], after tick: Int) -> Double {
                (seconds.first { $0 - origin > Double(tick) / 30 - 0.3 } ?? .infinity) - origin
            }
            for (tick, seconds) in zip(ticks, [frames[0], frames[1], frames[0], frames[0]]) {
                #expect(abs(first(seconds, after: tick) - Double(tick) / 30) < 0.02, "\(tick)")
            }
            #expect(frames[1].count == 30, "one second of the APNG")
            #expect(frames[0].count == 90, "two seconds of the WebM and one of the MP4")
            let tones = try Tones("\(work.path("out"))/audio.m3u8", media)
            for hertz in [1700, 2500] { #expect((tones.level(hertz).max() ?? 0) > 0.03, "\(hertz) Hz") }
        }
    }
}
