import Packager
import Testing

@Suite("Sprite sheets: WebVTT §4, Media Fragments URI §4.2.2")
struct ThumbnailIndexTests {
    private static func index(incarnation: Int64 = 1, kept: String = "") -> ThumbnailIndex {
        ThumbnailIndex(
            name: "thumb", columns: 3, rows: 2, width: 160, height: 90, interval: 5_000, incarnation: incarnation,
            kept: kept)
    }

    @Test(
        "each thumbnail in the sprite sheet index has its time and rectangle; when a sheet is full the next one starts")
    func text() {
        var index = Self.index()
        for time in [Int64(0), 1_000, 5_200, 10_000, 15_000, 20_000, 25_000, 30_001, 45_000] { _ = index.add(at: time) }
        #expect(
            index.text == """
                WEBVTT

                00:00:00.000 --> 00:00:05.000
                thumb-1-0.jpg#xywh=0,0,160,90

                00:00:05.000 --> 00:00:10.000
                thumb-1-0.jpg#xywh=160,0,160,90

                00:00:10.000 --> 00:00:15.000
                thumb-1-0.jpg#xywh=320,0,160,90

                00:00:15.000 --> 00:00:20.000
                thumb-1-0.jpg#xywh=0,90,160,90

                00:00:20.000 --> 00:00:25.000
                thumb-1-0.jpg#xywh=160,90,160,90

                00:00:25.000 --> 00:00:30.000
                thumb-1-0.jpg#xywh=320,90,160,90

                00:00:30.000 --> 00:00:45.000
                thumb-1-1.jpg#xywh=0,0,160,90

                00:00:45.000 --> 00:00:50.000
                thumb-1-1.jpg#xywh=0,90,160,90

                """)
        #expect(index.sheets == ["thumb-1-0.jpg", "thumb-1-1.jpg"])
    }

    @Test("a later worker continues the index of sprite sheets with its own sheets; a damaged cue is skipped")
    func continued() {
        var first = Self.index()
        for segmentIndex in Int64(0)..<8 { _ = first.add(at: segmentIndex * 5_000) }
        var second = Self.index(incarnation: 2, kept: first.text)
        #expect(second.text == first.text)
        #expect(second.add(at: 36_000) == nil, "that time has a still")
        let place = second.add(at: 40_000)
        #expect(place?.sheet == "thumb-2-1.jpg" && place?.cell == 2)
        #expect(second.sheets == ["thumb-1-0.jpg", "thumb-1-1.jpg", "thumb-2-1.jpg"])
        let damaged = first.text.replacing("00:00:10.000 -->", with: "00:99:10.000 -->")
        #expect(
            Self.index(kept: damaged).text.split(separator: "\n").count == first.text.split(separator: "\n").count - 2)
        #expect(Self.index(kept: "\u{0}\n --> \n#xywh=").text == "WEBVTT\n")
        // A file that others can write names nothing but sheets.
        for name in ["../../etc/passwd", "thumb-1-0/../../passwd.jpg", "other-1-0.jpg", "thumb-1-0.vtt", ""] {
            let foreign = "WEBVTT\n\n00:00:00.000 --> 00:00:05.000\n\(name)#xywh=0,0,1,1\n"
            #expect(Self.index(kept: foreign).sheets.isEmpty, "\(name)")
        }
    }

    @Test("a new room in an ended room's directory has only its own thumbnails")
    func anew() {
        var first = Self.index()
        for segmentIndex in Int64(0)..<8 { _ = first.add(at: segmentIndex * 5_000) }
        var second = Self.index(incarnation: 2, kept: first.text)
        let place = second.add(at: 400)
        #expect(place?.sheet == "thumb-2-0.jpg" && place?.cell == 0)
        #expect(second.add(at: 5_100)?.cell == 1)
        #expect(second.sheets == ["thumb-2-0.jpg"])
        #expect(second.add(at: 4_900) == nil, "its own thumbnails are not replaced by an earlier one")
    }

    @Test("the sprite sheet index of a week-long room has a limited size")
    func bounded() {
        var index = Self.index()
        for segmentIndex in Int64(0)..<40_000 { _ = index.add(at: segmentIndex * 5_000) }
        #expect(index.text.utf8.count < 1_600_000)
        #expect(index.text.contains("55:33:15.000 --> 55:33:20.000\nthumb-1-6666.jpg"))
    }
}
