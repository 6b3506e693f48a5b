import Foundation
import TestSupport
import Testing

import Origin

@Suite("The viewer page's modules")
struct ViewerPageScriptTests {
    /// Runs modules of the page and then `code` in node as one module without imports. Returns what `code` prints.
    private static func run(_ files: [ViewerPage.File], _ code: String) throws -> String {
        let modules = files.map(\.text).joined(separator: "\n").split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try TestTool.require("node"))
        process.arguments = ["--input-type=module", "-"]
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let script = "globalThis.navigator ??= { languages: ['en'] };\n\(modules)\n\(code)"
        try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
        try input.fileHandleForWriting.close()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return printed.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("the viewer page has every text in every language, and uses the browser's first known language")
    func words() throws {
        let printed = try Self.run(
            [.words],
            """
            const names = Object.keys(languages.en);
            for (const [tag, words] of Object.entries(languages)) {
              for (const name of names) if (!words[name]) console.log(tag, "lacks", name);
              for (const name of Object.keys(words)) if (!languages.en[name]) console.log(tag, "has", name);
            }
            console.log(language(["de-DE", "zh-TW", "en"]), language(["ko"]), language(["fr"]), clock(62), clock(3723.4));
            """)
        #expect(printed == "zh ko en 1:02 1:02:03")
    }

    @Test(
        "a thumbnail is found by its time; its sheet's address has the page's signature and the number of thumbnails in it"
    )
    func thumbnails() throws {
        let printed = try Self.run(
            [.thumbnails],
            #"""
            const text = "WEBVTT\n\n00:00:00.000 --> 00:00:10.000\nstill-1-0.jpg#xywh=0,0,160,90\n\n"
              + "01:00:10.000 --> 01:00:20.000\nstill-1-0.jpg#xywh=160,0,160,90\n";
            const shown = new Thumbnails("https://a.example/r/still.vtt?sig=1");
            shown.cues = parseThumbnails(text, shown.url);
            console.log(shown.at(-1), shown.at(5).x, shown.at(3615).x, shown.at(5).image);
            """#)
        #expect(printed == "null 0 160 https://a.example/r/still-1-0.jpg?sig=1&v=2")
    }

    @Test("cues of a WebVTT segment get media times by X-TIMESTAMP-MAP")
    func captions() throws {
        let printed = try Self.run(
            [.captions],
            #"""
            const text = "WEBVTT\r\nX-TIMESTAMP-MAP=LOCAL:00:00:01.000,MPEGTS:900000\r\n\r\nid\r\n00:00:02.000 --> 00:00:03.500 align:start\r\nHello\r\nthere\r\n";
            console.log(JSON.stringify(parseCues(text)), JSON.stringify(parseCues("WEBVTT\n\n00:04.000 --> 00:05.000\nB\n")));
            """#)
        #expect(
            printed
                == #"[{"start":11,"end":12.5,"text":"Hello\nthere"}] [{"start":4,"end":5,"text":"B"}]"#)
    }

    @Test("after 26.5 hours, when MPEG-2 times have started again at 0, cues have the times of the media")
    func longCaptions() throws {
        let printed = try Self.run(
            [.captions],
            #"""
            const text = "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:27:00:00.000,MPEGTS:158065408\n\n27:00:01.000 --> 27:00:02.000\nA\n";
            console.log(JSON.stringify(parseCues(text)));
            """#)
        #expect(printed == #"[{"start":97201,"end":97202,"text":"A"}]"#)
    }

    @Test(
        "the viewer page takes segments before the live list from the list of the whole window, the others from the live list"
    )
    func longWindow() throws {
        let printed = try Self.run(
            [.playlist],
            #"""
            const list = (first, count) => ({ segments: Array.from({ length: count }, (_, index) => ({ sequence: first + index, date: (first + index) * 2000 })) });
            // The live list has the segments 70 to 99; the other one is 20 s old.
            const live = list(70, 30), whole = list(0, 90), start = 140_000;
            console.log(JSON.stringify([69, 70, 99, 100, null].map((next) => needsWhole(live, false, next, start))),
              JSON.stringify([0, 69, 77, 78, 89, 90].map((next) => needsWhole(whole, true, next, start))));
            console.log(wholeURI("https://a.example/r/720p.m3u8?sig=.m3u8"), windowStart(5000, 900_000, 700), windowStart(500_000, 900_000, 700));
            """#)
        #expect(
            printed
                == """
                [true,false,false,false,false] [true,true,true,false,false,false]
                https://a.example/r/720p-dvr.m3u8?sig=.m3u8 200000 500000
                """)
    }

    @Test(
        "the viewer page's window starts where the whole window does, and ends at the live edge while it plays an old list"
    )
    func windowOfLongRoom() throws {
        let printed = try Self.run(
            [.requests, .playlist, .track, .player],
            #"""
            globalThis.window = globalThis;
            const list = (first, count) => ({ ended: false, targetDuration: 2, holdBack: 6, tail: null, duration: count * 2, endDate: (first + count) * 2000,
              segments: Array.from({ length: count }, (_, index) => ({ sequence: first + index, duration: 2, date: (first + index) * 2000 })) });
            const player = new MSEPlayer({ currentTime: 190 }, { variants: [] }, () => {}, { wholeStart: (end) => windowStart(0, end, 700) });
            const track = Object.create(Track.prototype);
            const receive = (isWhole, part) => { Object.assign(track, { isWhole, list: part, listedAt: performance.now() }); player.noteEdge(track); };
            player.tracks = [track];
            track.anchor = { media: 190, date: 190_000 };
            receive(false, list(70, 30));
            const live = player.window(), far = player.isBeforeLive(149_000), near = player.isBeforeLive(151_000);
            receive(true, list(0, 85));
            const whole = player.window();
            console.log(JSON.stringify([live.start, live.end, whole.start, whole.end].map(Math.round)), far, near, player.holdBack);
            """#)
        #expect(printed == "[0,200,0,200] true false 6")
    }

    @Test(
        "a player without the list of the whole window continues with the live list; a list loaded before is requested ten times first"
    )
    func missingWholeList() throws {
        let printed = try Self.run(
            [.requests, .playlist, .track, .player],
            #"""
            globalThis.window = globalThis;
            globalThis.location = { href: "https://a.example/r/", origin: "https://a.example" };
            globalThis.setTimeout = (act) => queueMicrotask(act);
            const live = "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:70\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF:2,\n70.m4s\n";
            for (const [status, wasThere] of [[404, false], [403, false], [404, true]]) {
              const asked = [], abort = new AbortController();
              globalThis.fetch = async (uri) => {
                const name = uri.split("/").at(-1);
                asked.push(name);
                if (name === "70.m4s") abort.abort();
                return name === "v.m3u8" ? { ok: true, url: uri, text: async () => live } : { ok: false, status };
              };
              const player = new MSEPlayer({ currentTime: 0 }, { variants: [] }, () => {}, { wholeStart: () => 0 });
              const variant = { uri: "https://a.example/r/v.m3u8" };
              const track = Object.assign(Object.create(Track.prototype), { player, choose: () => variant, isWhole: true, list: null, next: 5, part: 0,
                target: null, variant: null, buffer: { buffered: [] } });
              if (wasThere) track.variant = track.chosen();
              Object.assign(player, { tracks: [track], source: { readyState: "open" } });
              await track.run(abort.signal);
              console.log(status, asked.filter((name) => name === "v-dvr.m3u8").length, asked.slice(-2).join(" "), track.isWhole, player.wholeStart);
            }
            """#)
        #expect(
            printed
                == """
                404 1 v.m3u8 70.m4s false null
                403 1 v.m3u8 70.m4s false null
                404 10 v.m3u8 70.m4s false null
                """)
    }
}
