import Foundation
import LibAV
import MediaTypes
import Program
import Threading
import Testing

@Suite("Rendered scenes: z-order, crop, corners, borders, bars, texts, countdowns, speaking rings")
struct SceneLookTests {
    /// One canvas of the scene at a tick, each source in its color.
    private func compose(
        _ scene: Scene, tick: Int64 = 0, fonts: SceneFonts = .builtIn, frames given: [SourceID: Picture]? = nil
    ) throws -> Picture {
        let scheduler = Canvases.scheduler(scene, isOffline: true, fonts: fonts)
        var frames: [SourceID: Picture] = [:]
        for index in 0..<9 { frames[Canvases.source(index)] = try Canvases.solid(Canvases.colors[index]) }
        if let given { frames = given }
        try scheduler.prepare([scene])
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        _ = player.advance(to: tick)
        let picture = player.compose(tick: tick, frames: frames, covered: []).picture
        #expect(player.failures == 0)
        return try #require(picture)
    }

    private func pane(_ index: Int, _ x: Int, _ y: Int, _ width: Int, _ height: Int, z: Int = 0) -> Pane {
        Pane(source: Canvases.source(index), rect: Rect(x: x, y: y, width: width, height: height), zOrder: z)
    }

    @Test("panes and score bars share one z-order")
    func zOrder() throws {
        let red = CanvasColor(red: 255, green: 0, blue: 0), blue = CanvasColor(red: 0, green: 0, blue: 255)
        var scene = Scene(
            sceneID: "z", panes: [self.pane(0, 0, 0, 640, 360, z: 1), self.pane(1, 100, 100, 200, 200, z: 3)],
            background: .black)
        scene.bars = [
            ScoreBar(
                id: "under", rect: Rect(x: 80, y: 80, width: 100, height: 60), left: 1, right: 0, leftColor: red,
                rightColor: red, zOrder: 2),
            ScoreBar(
                id: "over", rect: Rect(x: 280, y: 280, width: 100, height: 60), left: 1, right: 3, leftColor: red,
                rightColor: blue, zOrder: 3),
        ]
        let picture = try self.compose(scene)
        #expect(Canvases.color(picture, x: 20, y: 20) == Canvases.colors[0])
        #expect(Canvases.color(picture, x: 85, y: 85) == red, "over pane 0")
        #expect(Canvases.color(picture, x: 120, y: 120) == Canvases.colors[1], "pane 1 over the first bar")
        #expect(Canvases.color(picture, x: 290, y: 290) == red, "the second bar over pane 1: a quarter for the left")
        #expect(Canvases.color(picture, x: 312, y: 290) == blue)
    }

    /// Writes a JPEG file of one color, and returns its path.
    private static func imageFile(_ color: CanvasColor) throws -> String {
        let picture = try Canvases.solid(color, width: 64, height: 64)
        let path = NSTemporaryDirectory() + "tandem-image-\(UUID().uuidString).jpg"
        try Data(JPEGEncoder.jpeg(picture, width: 64, height: 64)).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test(
        "images share the z-order of panes and score bars; with an equal z-order, a later image covers an earlier one and a pane"
    )
    func imageOrder() throws {
        let paths = try (2..<7).map { try Self.imageFile(Canvases.colors[$0]) }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        func image(_ index: Int, _ x: Int, _ y: Int, _ side: Int, z: Int) -> SceneImage {
            SceneImage(path: paths[index - 2], rect: Rect(x: x, y: y, width: side, height: side), zOrder: z)
        }
        let red = CanvasColor(red: 255, green: 0, blue: 0)
        var scene = Scene(
            sceneID: "i", panes: [self.pane(0, 0, 0, 400, 360, z: 1), self.pane(1, 100, 100, 200, 200, z: 3)],
            background: .black)
        // The list is in another order than the z-order.
        scene.images = [
            image(2, 240, 240, 100, z: 5), image(3, 60, 60, 100, z: 2), image(4, 120, 180, 40, z: 3),
            image(5, 140, 200, 40, z: 3), image(6, 360, 0, 100, z: 0),
        ]
        scene.bars = [
            ScoreBar(
                id: "bar", rect: Rect(x: 300, y: 300, width: 80, height: 20), left: 1, right: 0, leftColor: red,
                rightColor: red, zOrder: 4)
        ]
        let picture = try self.compose(scene)
        func expect(_ x: Int, _ y: Int, _ color: CanvasColor, _ comment: Comment) {
            let found = Canvases.color(picture, x: x, y: y)
            #expect(Canvases.isNear(found, color, by: 4), "\(comment): \(found)")
        }
        expect(380, 50, Canvases.colors[0], "pane 0 over the lowest image")
        expect(440, 50, Canvases.colors[6], "the lowest image beside pane 0")
        expect(80, 80, Canvases.colors[3], "the second image over pane 0")
        expect(150, 150, Canvases.colors[1], "pane 1 over that image")
        expect(130, 190, Canvases.colors[4], "an image with the z-order of pane 1 over it")
        expect(150, 210, Canvases.colors[5], "the later of two images with one z-order")
        expect(320, 310, Canvases.colors[2], "the highest image over the bar")
        expect(360, 310, red, "the bar beside the image")
    }

    @Test("a source crop shows only the cropped part")
    func crop() throws {
        var source = try PictureCanvas.open(width: 640, height: 360, fill: Canvases.colors[0])
        source.fill(x: 320, y: 180, width: 320, height: 180, Canvases.colors[7])
        var pane = self.pane(0, 0, 0, 640, 360)
        pane.crop = PictureCrop(x: 5000, y: 5000, width: 5000, height: 5000)
        let picture = try self.compose(
            Scene(sceneID: "c", panes: [pane], background: .black), frames: [Canvases.source(0): source.finish()])
        for (x, y) in [(4, 4), (630, 4), (4, 350), (630, 350), (320, 180)] {
            #expect(Canvases.color(picture, x: x, y: y) == Canvases.colors[7])
        }
    }

    @Test(
        "a ring is drawn around the pane of a source while it speaks, above its own pane and below one that covers it")
    func speakingRing() throws {
        let ring = CanvasColor(y: 63, cb: 102, cr: 240)
        var (below, above) = (self.pane(0, 0, 0, 640, 360), self.pane(1, 600, 300, 40, 60, z: 1))
        below.speakingRing = SpeakingRing(width: 8, color: ring)
        above.speakingRing = SpeakingRing(width: 64, color: ring)
        let scene = Scene(sceneID: "s", panes: [below, above], background: .black)
        let scheduler = Canvases.scheduler(scene, isOffline: true)
        try scheduler.prepare([scene])
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        _ = player.advance(to: 0)
        var frames: [SourceID: Picture] = [:]
        for index in 0..<2 { frames[Canvases.source(index)] = try Canvases.solid(Canvases.colors[index]) }
        func canvas(_ tick: Int64) throws -> Picture {
            try #require(player.compose(tick: tick, frames: frames, covered: []).picture)
        }
        let quiet = try canvas(0)
        #expect(Canvases.color(quiet, x: 2, y: 180) == Canvases.colors[0])
        player.setSpeaking(true, Canvases.source(0))
        let spoken = try canvas(1)
        #expect(Canvases.color(spoken, x: 2, y: 180) == ring && Canvases.color(spoken, x: 320, y: 2) == ring)
        #expect(Canvases.color(spoken, x: 320, y: 180) == Canvases.colors[0])
        #expect(Canvases.color(spoken, x: 638, y: 330) == Canvases.colors[1], "the upper pane covers the ring")
        player.setSpeaking(true, Canvases.source(1))
        let both = try canvas(2)
        #expect(Canvases.color(both, x: 602, y: 330) == ring, "a quarter of a small pane at most")
        #expect(Canvases.color(both, x: 620, y: 330) == Canvases.colors[1])
        player.setSpeaking(false, Canvases.source(0))
        player.setSpeaking(false, Canvases.source(1))
        #expect(Canvases.color(try canvas(3), x: 2, y: 180) == Canvases.colors[0])
        #expect(player.failures == 0)
    }

    @Test("rounded corners show what is below, and a border has its exact color")
    func corners() throws {
        let border = CanvasColor(y: 63, cb: 102, cr: 240)
        var round = self.pane(1, 100, 60, 200, 200, z: 1)
        round.cornerRadius = 40
        round.border = Border(width: 8, color: border)
        var framed = self.pane(2, 400, 60, 200, 200, z: 1)
        framed.border = Border(width: 8, color: border)
        let picture = try self.compose(
            Scene(sceneID: "r", panes: [self.pane(0, 0, 0, 640, 360), round, framed], background: .black))
        #expect(Canvases.color(picture, x: 102, y: 62) == Canvases.colors[0], "outside the round corner")
        #expect(Canvases.color(picture, x: 200, y: 160) == Canvases.colors[1])
        #expect(Canvases.color(picture, x: 200, y: 62) == border)
        #expect(Canvases.color(picture, x: 102, y: 160) == border)
        #expect(Canvases.color(picture, x: 402, y: 62) == border, "square corners")
        #expect(Canvases.color(picture, x: 500, y: 160) == Canvases.colors[2])
    }

    @Test("nine panes each show their own source")
    func nine() throws {
        let panes = (0..<9).map { index in
            self.pane(
                index, [0, 212, 424][index % 3], index / 3 * 120, [212, 212, 216][index % 3], 120)
        }
        let picture = try self.compose(Scene(sceneID: "9", panes: panes, background: .black))
        for (index, pane) in panes.enumerated() {
            #expect(
                Canvases.isNear(
                    Canvases.color(picture, x: pane.rect.x + 100, y: pane.rect.y + 60), Canvases.colors[index]))
        }
    }

    @Test("a countdown counts in seconds, rounded up, and stays at zero")
    func countdown() {
        let countdown = Countdown(id: "c", x: 0, y: 0, size: 40, color: .white, endsAtTick: 100)
        #expect(
            [0, 10, 39, 40, 41, 70, 99, 100, 5000].map { countdown.secondsLeft(at: $0, fps: 30) } == [
                4, 3, 3, 2, 2, 1, 1, 0, 0,
            ])
        #expect(Countdown.text(seconds: 0) == "00:00")
        #expect(Countdown.text(seconds: 83) == "01:23")
        #expect(Countdown.text(seconds: 6_000) == "100:00")
    }

    @Test("a score bar is split by the share of points, and in half without points")
    func split() {
        #expect(ScoreBar.split(width: 400, left: 0, right: 0) == 200)
        #expect(ScoreBar.split(width: 400, left: 3, right: 1) == 300)
        #expect(ScoreBar.split(width: 400, left: 0, right: 9) == 0)
        #expect(ScoreBar.split(width: 400, left: .max, right: .max) == 200)
        #expect(ScoreBar.split(width: 400, left: -5, right: 0) == 200)
    }

    private func ink(_ picture: Picture, _ rect: Rect, above level: UInt8 = 120) -> Int {
        picture.withPlane(0) { samples, stride in
            (rect.y..<rect.y + rect.height).reduce(0) { sum, row in
                sum + (rect.x..<rect.x + rect.width).count { samples[row * stride + $0] > level }
            }
        } ?? 0
    }

    @Test("when a scene is replaced at every tick, drawings of earlier versions are freed", arguments: [true, false])
    func redrawn(isOffline: Bool) throws {
        var scene = Scene(sceneID: "ticker", panes: [], background: .black)
        scene.texts = [SceneText(id: "t", text: "HH", x: 0, y: 40, size: 36, color: .white)]
        let scheduler = Canvases.scheduler(scene, isOffline: isOffline)
        try scheduler.prepare([scene])
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        for tick in Int64(0)..<50 {
            _ = player.advance(to: tick)
            #expect(player.compose(tick: tick, frames: [:], covered: []).picture != nil)
            scene.texts[0].x += 2
            #expect(try scheduler.setScene(scene) == tick + 1)
        }
        scheduler.settle()
        // On air, on its way out, on its way in, and the pipeline's own.
        #expect((1...4).contains(scheduler.drawn), "\(scheduler.drawn)")
    }

    @Test("a text is laid out for its scene's canvas size, before and after it is changed")
    func ownCanvas() throws {
        var scene = Scene(sceneID: "wide", panes: [], background: .black, size: CanvasSize(width: 1280, height: 720))
        scene.texts = [SceneText(id: "t", text: "HHHHHHHH", x: 560, y: 40, size: 36, color: .white)]
        let scheduler = Canvases.scheduler(scene, isOffline: true)
        try scheduler.prepare([scene])
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        for tick in Int64(0)..<2 {
            if tick == 1 { scheduler.setText("t", "IHHHHHHI") }
            _ = player.advance(to: tick)
            let picture = try #require(player.compose(tick: tick, frames: [:], covered: []).picture)
            #expect(picture.format.width == 1280)
            #expect(self.ink(picture, Rect(x: 660, y: 40, width: 200, height: 46)) > 0, "tick \(tick)")
        }
    }

    @Test("on the card of a source whose frames are wider than the canvas, the name is laid out for the frame's width")
    func cardName() throws {
        let source = SourceID(uid: String(repeating: "M", count: 20))
        let pane = Pane(source: source, rect: Rect(x: 0, y: 0, width: 640, height: 360), adaption: .fit)
        let scene = Scene(sceneID: "card", panes: [pane], background: .black)
        let scheduler = Canvases.scheduler(scene, isOffline: true, fonts: try TestFonts.latin())
        try scheduler.prepare([scene])
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        let wide = [source: try Canvases.solid(Canvases.colors[0], width: 1_000, height: 360)]
        var card: Picture?
        for tick in Int64(0)..<2 {
            _ = player.advance(to: tick)
            card = player.compose(tick: tick, frames: wide, covered: tick == 0 ? [] : [source]).picture
        }
        let shown = try #require(card)
        #expect(self.ink(shown, Rect(x: 130, y: 180, width: 70, height: 50)) > 0)
    }

    @Test("changed texts, also longer ones, and scores are drawn at the next tick, and a countdown shows each second")
    func changes() throws {
        var scene = Canvases.columns("t", [0])
        let red = CanvasColor(red: 255, green: 0, blue: 0), blue = CanvasColor(red: 0, green: 0, blue: 255)
        scene.texts = [SceneText(id: "name", text: "I", x: 20, y: 20, size: 40, color: .white)]
        scene.bars = [
            ScoreBar(
                id: "pk", rect: Rect(x: 0, y: 300, width: 640, height: 20), leftColor: red, rightColor: blue)
        ]
        scene.countdowns = [Countdown(id: "c", x: 320, y: 200, size: 40, color: .white, align: .center, endsAtTick: 90)]
        let scheduler = Canvases.scheduler(scene, fonts: try TestFonts.latin())
        try scheduler.prepare([scene])
        let frames = [Canvases.source(0): try Canvases.solid(Canvases.colors[0])]
        scheduler.foresee(Canvases.source(0), .canvas(width: 640, height: 360))
        scheduler.settle()
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        var tick: Int64 = 0
        func next() throws -> Picture {
            _ = player.advance(to: tick)
            scheduler.settle()
            defer { tick += 1 }
            let composed = player.compose(tick: tick, frames: frames, covered: [])
            return try #require(composed.picture)
        }
        let words = Rect(x: 0, y: 0, width: 640, height: 80)
        let first = self.ink(try next(), words)
        #expect(first > 20)
        scheduler.setText("name", "WWW")
        scheduler.setScore("pk", left: 3, right: 1)
        scheduler.settle()
        let second = try next()
        #expect(self.ink(second, words) > 3 * first)
        #expect(Canvases.color(second, x: 470, y: 310) == red)
        #expect(Canvases.color(second, x: 490, y: 310) == blue)
        scheduler.setText("name", "a text that needs a far larger box")
        scheduler.settle()
        let third = try next()
        #expect(self.ink(third, Rect(x: 320, y: 0, width: 320, height: 80)) > 100, "the graph has grown with it")
        // Seconds pass.
        var counts: [[UInt8]] = []
        while tick < 100 {
            let picture = try next()
            let rows = picture.withPlane(0) { samples, stride in
                (200..<250).flatMap { row in (220..<420).map { samples[row * stride + $0] } }
            }
            if let rows, counts.last != rows { counts.append(rows) }
        }
        #expect(counts.count == 4, "00:03, 00:02, 00:01, 00:00")
        #expect(player.failures == 0)
        #expect(scheduler.failures.count == 0)
    }
}
