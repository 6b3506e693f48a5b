import PipelineSpec
import Testing

@Suite("Renditions: the default ladder and default bit rates")
struct RenditionTests {
    private func ladder(_ width: Int, _ height: Int) -> [String] {
        Rendition.defaultLadder(for: .init(width: width, height: height)).map {
            $0.isAudioOnly ? $0.name : "\($0.name) \($0.width)x\($0.height) \($0.video.bitrate)"
        }
    }

    @Test(
        "the default ladder begins with the canvas's size, at most 720p, followed by the smaller of 480p, 360p and 240p, and audio only"
    )
    func knownLadders() {
        #expect(
            self.ladder(1280, 720) == [
                "720p 1280x720 2500000", "480p 854x480 1200000", "360p 640x360 700000", "240p 426x240 150000",
                "audioOnly",
            ])
        #expect(
            self.ladder(720, 1280) == [
                "720p 720x1280 2500000", "480p 480x854 1200000", "360p 360x640 700000", "240p 240x426 150000",
                "audioOnly",
            ])
        #expect(self.ladder(1920, 1080) == self.ladder(1280, 720))
        #expect(self.ladder(640, 360) == ["360p 640x360 700000", "240p 426x240 150000", "audioOnly"])
        #expect(self.ladder(426, 240) == ["240p 426x240 300000", "audioOnly"])
        #expect(self.ladder(320, 180) == ["180p 320x180 200000", "audioOnly"])
        #expect(
            self.ladder(720, 640) == [
                "640p 720x640 1250000", "480p 540x480 750000", "360p 406x360 450000", "240p 270x240 150000",
                "audioOnly",
            ])
    }

    @Test("a room started by a version with fewer default renditions keeps those when its document changes")
    func kept() throws {
        let names = ["720p", "480p", "360p"]
        func document(_ members: String = "") throws -> RoomDocument {
            let text = """
                { "room": {"roomId": "r"}, "sources": [{"uid": 7, "streamKey": "k"}], \(members)
                  "scenes": [{"sceneId": "s", "layout": "solo", "uids": [7]}], "outputs": [{"path": "out"}] }
                """
            return try RoomDocument.read(Array(text.utf8)).get().document
        }
        func ladder(_ document: RoomDocument) -> [String] { document.pipeline.renditions.map(\.name) }
        // Started by a version of the program without the smallest rendition.
        var old = try document()
        old.keepLadder(tracks: Set(names + ["audio"]), hasAudioOnly: false)
        #expect(ladder(old) == names)
        let patched = try old.patched(Array(#"{ "room": { "title": "other" } }"#.utf8)).get().document
        #expect(ladder(patched) == names)
        let change = try DocumentChange(from: old, to: patched)
        #expect(change.isChange && change.paths == ["room.title"])
        // Other tracks do not change the default ladder, and explicit renditions stay too.
        let present = names + ["240p", "audioOnly"]
        for (tracks, hasAudioOnly) in [(present, true), (names, true), (["1080p"], false)] {
            var other = try document()
            other.keepLadder(tracks: Set(tracks + ["audio"]), hasAudioOnly: hasAudioOnly)
            #expect(ladder(other) == present, "\(tracks)")
        }
        var written = try document(#""renditions": [{ "name": "a", "width": 640, "height": 360 }],"#)
        written.keepLadder(tracks: Set(names + ["audio"]), hasAudioOnly: false)
        #expect(ladder(written) == ["a"])
    }

    @Test(
        "on canvases of 64 to 1920 pixels per side, at most 8:1, default renditions are no larger, of even size and the same aspect ratio"
    )
    func ladderFitsAnyCanvas() {
        for width in stride(from: 64, through: 1920, by: 58) {
            for height in stride(from: 64, through: 1920, by: 62) where max(width, height) <= 8 * min(width, height) {
                let ladder = Rendition.defaultLadder(for: .init(width: width, height: height))
                #expect(ladder.count >= 2 && ladder.map(\.isAudioOnly).firstIndex(of: true) == ladder.count - 1)
                #expect(Set(ladder.map(\.name)).count == ladder.count)
                for step in ladder.dropLast() {
                    #expect(step.width <= width && step.height <= height)
                    #expect(step.width.isMultiple(of: 2) && step.height.isMultiple(of: 2))
                    #expect(abs(step.width * height - step.height * width) <= max(width, height))
                }
            }
        }
    }

    @Test("maxBitrate defaults to 110 % of bitrate, and the buffer to one second of maxBitrate")
    func rateDefaults() {
        let video = VideoEncoding(bitrate: 2_048_005)
        #expect(video.maxBitrate == 2_252_806)
        #expect(video.bufferSize == 2_252_806)
    }
}
