import LibAV
import MediaTypes
import Program
import Synchronization
import Threading
import Testing

@Suite("Scenes on air: switches, format changes, covers, transitions")
struct SceneCompositorTests {
    private func frames(_ count: Int = 9) throws -> [SourceID: Picture] {
        var frames: [SourceID: Picture] = [:]
        for index in 0..<count { frames[Canvases.source(index)] = try Canvases.solid(Canvases.colors[index]) }
        return frames
    }

    /// The colors in the middle of each of `count` columns.
    private func columns(_ picture: Picture?, _ count: Int) throws -> [CanvasColor] {
        let picture = try #require(picture)
        return (0..<count).map { Canvases.color(picture, x: (2 * $0 + 1) * picture.format.width / (2 * count), y: 180) }
    }

    private func foresee(_ frames: [SourceID: Picture], _ scheduler: SceneScheduler) {
        for (source, picture) in frames { scheduler.foresee(source, picture.format) }
        scheduler.settle()
    }

    /// Prepares scenes and graphs for the formats of `frames`, and makes a compositor.
    private func player(
        _ scenes: [Scene], of scheduler: SceneScheduler, _ frames: [SourceID: Picture]
    ) throws -> SceneCompositor {
        try scheduler.prepare(scenes)
        self.foresee(frames, scheduler)
        return SceneCompositor(scheduler: scheduler, machine: SystemClock())
    }

    @Test(
        "in 200 random scene switches, every canvas shows one scene or the other, the new one from exactly the tick in the reply"
    )
    func switches() throws {
        var random = SystemRandomNumberGenerator()
        let scenes = [
            Canvases.columns("solo", [0]), Canvases.columns("pk", [0, 1]), Canvases.columns("swap", [1, 0]),
            Canvases.columns("three", [2, 0, 1]),
        ]
        let frames = try self.frames()
        let scheduler = Canvases.scheduler(scenes[0])
        var player = try self.player(scenes, of: scheduler, frames)
        var plan: [Int64: Scene] = [:]
        var onAir = scenes[0]
        for tick in Int64(0)..<1000 {
            if tick % 5 == 2, let next = scenes.randomElement(using: &random) {
                let at = Bool.random(using: &random) ? nil : tick + 3
                let answer = try scheduler.setScene(next, at: at)
                #expect(answer == at ?? tick)
                plan[answer] = next
            }
            let composed = player.show(tick, frames)
            onAir = plan[tick] ?? onAir
            let expected = onAir.panes.map { Canvases.colors[Int($0.source.uid) ?? 0] }
            let seen = try self.columns(composed.picture, expected.count)
            #expect(seen == expected, "tick \(tick) shows \(onAir.sceneID)")
        }
        #expect(player.switches > 100)
        #expect(player.failures == 0)
        #expect(player.substitutions == 0)
        print("longest swap of \(player.switches): \(player.longestSwap) ns")
    }

    @Test(
        "a single pane that fills the canvas passes the source's frame through; unchanged frames are not composed again"
    )
    func untouched() throws {
        let scenes = [Canvases.columns("solo", [0]), Canvases.columns("pk", [0, 1])]
        let scheduler = Canvases.scheduler(scenes[0])
        try scheduler.prepare(scenes)
        var frames = try self.frames(2)
        let size = scheduler.canvas
        frames[Canvases.source(0)] = try Canvases.solid(Canvases.colors[0], width: size.width, height: size.height)
        self.foresee(frames, scheduler)
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        func planes(_ picture: Picture?) -> [UInt] {
            (0..<3).map { picture?.withPlane($0) { plane, _ in UInt(bitPattern: plane.baseAddress) } ?? 0 }
        }
        var seen: [Picture] = []
        for tick in Int64(0)..<4 {
            if tick == 2 { _ = try scheduler.setScene(scenes[1]) }
            _ = player.advance(to: tick)
            seen.append(try #require(player.compose(tick: tick, frames: frames, covered: []).picture))
        }
        let source = planes(frames[Canvases.source(0)])
        #expect(!source.contains(0) && planes(seen[0]) == source, "no filter and no copy")
        #expect(seen[1] === seen[0] && seen[2] !== seen[1] && planes(seen[2]) != source)
        #expect(seen[3] === seen[2], "nothing has changed: the canvas is shown again")
        frames[Canvases.source(1)] = try Canvases.solid(Canvases.colors[7])
        let changed = player.show(4, frames)
        #expect(try self.columns(changed.picture, 2) == [Canvases.colors[0], Canvases.colors[7]])
        #expect(player.failures == 0)
    }

    @Test("when a source's format changes, its last frame is shown until the new filter graph is ready")
    func formatChanges() throws {
        let scene = Canvases.columns("pk", [0, 1])
        var frames = try self.frames(2)
        let scheduler = Canvases.scheduler(scene)
        var player = try self.player([scene], of: scheduler, frames)
        for tick in Int64(0)..<4 {
            let composed = player.show(tick, frames)
            #expect(try self.columns(composed.picture, 2) == [Canvases.colors[0], Canvases.colors[1]])
        }
        // A phone is rotated: no graph is ready for its new format.
        frames[Canvases.source(1)] = try Canvases.solid(Canvases.colors[5], width: 360, height: 640)
        let turning = player.show(4, frames)
        #expect(
            try self.columns(turning.picture, 2) == [Canvases.colors[0], Canvases.colors[1]],
            "the last frame of the old format")
        scheduler.settle()
        let turned = player.show(5, frames)
        #expect(try self.columns(turned.picture, 2) == [Canvases.colors[0], Canvases.colors[5]])
        // And back: that graph still exists.
        frames[Canvases.source(1)] = try Canvases.solid(Canvases.colors[2])
        let back = player.show(6, frames)
        #expect(try self.columns(back.picture, 2) == [Canvases.colors[0], Canvases.colors[2]])
        #expect(player.failures == 0)
        #expect(player.substitutions == 1)
    }

    @Test(
        "filter graphs for guessed formats are freed once all sources sent a frame; those for both orientations of a phone are kept"
    )
    func guessesGo() throws {
        let scene = PreparedScene(Canvases.columns("pk", [0, 1]))
        let factory = SceneBuilder(canvas: Canvases.canvas, fonts: .builtIn, faces: [:], overlays: OverlayCache())
        func add(_ formats: [SourceID: PictureFormat]) throws {
            let (wanted, isGuess) = scene.wanted(formats)
            #expect(isGuess == (scene.panes.contains { formats[$0.source] == nil }))
            let composition = try factory.build(scene.scene, formats: wanted, words: SceneBuilder.Words(), tick: 0)
            _ = scene.add(composition, limit: 4, isGuess: isGuess)
        }
        let (first, second) = (Canvases.source(0), Canvases.source(1))
        let (wide, high) = (
            PictureFormat.canvas(width: 640, height: 360), PictureFormat.canvas(width: 360, height: 640)
        )
        try add([:])
        try add([first: wide])
        #expect(scene.compositions.count == 2)
        try add([first: wide, second: wide])
        #expect(scene.compositions.map(\.formats) == [[wide, wide]])
        try add([first: high, second: wide])
        #expect(scene.compositions.count == 2)
        // Sources that have gone are still known.
        #expect(scene.wanted([first: wide]).formats == [wide, wide] && !scene.wanted([first: wide]).isGuess)
    }

    @Test("if a source's format is announced before the first frame of that format, the frame is shown without delay")
    func foreseen() throws {
        let scene = Canvases.columns("pk", [0, 1])
        var frames = try self.frames(2)
        let scheduler = Canvases.scheduler(scene)
        var player = try self.player([scene], of: scheduler, frames)
        var seed: UInt64 = 1
        for tick in Int64(0)..<60 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1
            let (width, height) = [(640, 360), (360, 640), (320, 240), (854, 480)][Int(seed >> 62)]
            let color = Canvases.colors[Int(tick) % 9]
            frames[Canvases.source(1)] = try Canvases.solid(color, width: width, height: height)
            self.foresee(frames, scheduler)
            let composed = player.show(tick, frames)
            let seen = try self.columns(composed.picture, 2)
            #expect(Canvases.isNear(seen[1], color), "tick \(tick), \(width)x\(height)")
        }
        #expect(player.substitutions == 0)
    }

    @Test("a filter graph that holds unused frames is replaced without a visible change")
    func renewal() throws {
        let scene = Canvases.columns("pk", [0, 1])
        let scheduler = Canvases.scheduler(scene)
        try scheduler.prepare([scene])
        let (even, odd) = (try self.frames(2), try self.frames(2))
        self.foresee(even, scheduler)
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        // Canvases that wait for encoders, only at the start.
        var waiting: [Picture?] = []
        var wrong = 0
        // Two checks, a minute apart, and what follows them.
        for tick in Int64(0)..<3_620 {
            let composed = player.show(tick, tick % 2 == 0 ? even : odd)
            if tick < 20 { waiting.append(composed.picture) } else { waiting = [] }
            if try self.columns(composed.picture, 2) != [Canvases.colors[0], Canvases.colors[1]] { wrong += 1 }
            if player.renewals > 0 { scheduler.settle() }
        }
        #expect(wrong == 0)
        #expect(waiting.isEmpty)
        #expect(player.renewals == 1)
        #expect(scheduler.failures.count == 0)
        #expect(player.failures == 0)
        #expect(player.substitutions == 0)
    }

    private final class Weak {
        weak var composition: Composition?
        init(_ composition: Composition?) { self.composition = composition }
    }

    @Test("a replaced filter graph still exists at the tick that replaces it, and is freed after the next tick")
    func freedByBuilder() throws {
        let scene = Canvases.columns("pk", [0, 1])
        let scheduler = Canvases.scheduler(scene)
        try scheduler.prepare([scene])
        let (even, odd) = (try self.frames(2), try self.frames(2))
        self.foresee(even, scheduler)
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        var waiting: [Picture?] = []
        func show(_ tick: Int64) -> Picture? {
            _ = player.advance(to: tick)
            return player.compose(tick: tick, frames: tick % 2 == 0 ? even : odd, covered: []).picture
        }
        let old = Weak(scheduler.onAirCompositions.last)
        var tick: Int64 = 0
        while player.renewals == 0, tick < 4_000 {
            let picture = show(tick)
            if tick < 20 { waiting.append(picture) } else { waiting = [] }
            tick += 1
        }
        #expect(player.renewals == 1 && waiting.isEmpty)
        scheduler.settle()
        _ = show(tick)
        scheduler.settle()
        #expect(scheduler.onAirCompositions.last !== old.composition)
        #expect(old.composition != nil, "this tick has released it")
        _ = show(tick + 1)
        scheduler.settle()
        #expect(old.composition == nil)
    }

    @Test(
        "a covered source's card is shown at once; once uncovered, the card stays until a graph for the source's new format is ready"
    )
    func covers() throws {
        let scene = Canvases.columns("pk", [0, 1])
        var frames = try self.frames(2)
        let scheduler = Canvases.scheduler(scene)
        var player = try self.player([scene], of: scheduler, frames)
        _ = player.show(0, frames)
        let covered = player.show(1, frames, covered: [Canvases.source(1)])
        let seen = try self.columns(covered.picture, 2)
        #expect(seen[0] == Canvases.colors[0])
        #expect(seen[1] != Canvases.colors[1])
        #expect(seen[1].y < 120, "the dark card: \(seen[1])")
        // Uncovered with a format that no graph is ready for: the card stays until there is one.
        frames[Canvases.source(1)] = try Canvases.solid(Canvases.colors[6], width: 480, height: 480)
        let unready = player.show(2, frames)
        #expect(try self.columns(unready.picture, 2)[1] == seen[1])
        scheduler.settle()
        let shown = player.show(3, frames)
        #expect(Canvases.isNear(try self.columns(shown.picture, 2)[1], Canvases.colors[6]))
    }

    @Test("when a source has no frame any more, its card is shown, and its last frame is not shown again")
    func gone() throws {
        let scene = Canvases.columns("pk", [0, 1])
        var frames = try self.frames(2)
        let scheduler = Canvases.scheduler(scene)
        var player = try self.player([scene], of: scheduler, frames)
        _ = player.show(0, frames)
        frames[Canvases.source(1)] = nil
        let left = player.show(1, frames)
        let card = try self.columns(left.picture, 2)
        #expect(card[0] == Canvases.colors[0] && card[1].y < 120, "the dark card: \(card[1])")
        // Another publisher, with a format that no graph is ready for: the card stays until there is one.
        frames[Canvases.source(1)] = try Canvases.solid(Canvases.colors[6], width: 480, height: 480)
        let unready = player.show(2, frames)
        #expect(try self.columns(unready.picture, 2) == card)
        scheduler.settle()
        let shown = player.show(3, frames)
        #expect(Canvases.isNear(try self.columns(shown.picture, 2)[1], Canvases.colors[6]))
    }

    @Test("a source's frames and its card alternate without a new filter graph")
    func cards() throws {
        let scene = Canvases.columns("pk", [0, 1])
        let frames = try self.frames(2)
        let scheduler = Canvases.scheduler(scene)
        var player = try self.player([scene], of: scheduler, frames)
        for tick in Int64(0)..<20 {
            var shown = frames
            if tick % 2 == 1 { shown[Canvases.source(1)] = nil }
            let composed = player.show(tick, shown)
            let seen = try self.columns(composed.picture, 2)
            #expect((seen[1] == Canvases.colors[1]) == (tick % 2 == 0), "tick \(tick)")
        }
        #expect(player.substitutions == 0)
    }

    @Test("a crossfade moves evenly from one scene to the other and ends")
    func crossfade() throws {
        let scenes = [
            Canvases.columns("a", [0]), Canvases.columns("b", [8], transition: .crossfade(ticks: 9)),
        ]
        let frames = try self.frames()
        let scheduler = Canvases.scheduler(scenes[0])
        var player = try self.player(scenes, of: scheduler, frames)
        #expect(try scheduler.setScene(scenes[1], at: 3) == 3)
        var levels: [Int] = []
        for tick in Int64(0)..<16 {
            let composed = player.show(tick, frames)
            levels.append(Int(try self.columns(composed.picture, 1)[0].y))
        }
        #expect(Array(levels[0..<3]) == [40, 40, 40])
        #expect(Array(levels[12...]) == [200, 200, 200, 200])
        for step in 1...9 { #expect(abs(levels[2 + step] - (40 + 16 * step)) <= 1, "step \(step): \(levels)") }
    }

    @Test(
        "a slide transition to the left, right, up or down fills the canvas with the new scene from the opposite side",
        arguments: [SlideDirection.left, .right, .up, .down])
    func slide(direction: SlideDirection) throws {
        let scenes = [
            Canvases.columns("a", [0]), Canvases.columns("b", [8], transition: .slide(direction, ticks: 3)),
        ]
        let frames = try self.frames()
        let scheduler = Canvases.scheduler(scenes[0])
        var player = try self.player(scenes, of: scheduler, frames)
        try scheduler.setScene(scenes[1], at: 1)
        for tick in Int64(0)..<5 {
            _ = player.advance(to: tick)
            let picture = try #require(player.compose(tick: tick, frames: frames, covered: []).picture)
            // How many quarters of the canvas are new, and from which side.
            let part = max(0, min(4, Int(tick)))
            for quarter in 0..<4 {
                let (x, y) =
                    direction == .left || direction == .right ? (160 * quarter + 80, 180) : (320, 90 * quarter + 45)
                let isNew = direction == .left || direction == .up ? quarter >= 4 - part : quarter < part
                #expect(
                    Canvases.color(picture, x: x, y: y) == Canvases.colors[isNew ? 8 : 0],
                    "tick \(tick), quarter \(quarter)")
            }
        }
    }

    @Test("scenes are switched at their ticks; of two for the same tick, the later command wins")
    func order() throws {
        let scenes = (0..<4).map { Canvases.columns("s\($0)", [$0]) }
        let scheduler = Canvases.scheduler(scenes[0])
        try scheduler.prepare(scenes)
        var player = SceneCompositor(scheduler: scheduler, machine: SystemClock())
        _ = player.advance(to: 10)
        #expect(try scheduler.setScene(scenes[3], at: 20) == 20)
        #expect(try scheduler.setScene(scenes[1], at: 15) == 15)
        #expect(try scheduler.setScene(scenes[2], at: 15) == 15)
        #expect(try scheduler.setScene(scenes[1], at: 4) == 11, "a tick in the past means the next one")
        #expect(scheduler.pendingScenes.map(\.tick) == [11, 15, 20])
        var seen: [String] = []
        for tick in Int64(11)...21 {
            if let scene = player.advance(to: tick) { seen.append("\(tick) \(scene.sceneID)") }
        }
        #expect(seen == ["11 s1", "15 s2", "20 s3"])
        #expect(scheduler.pendingScenes.isEmpty)
    }

    @Test("the longest switch includes switches to a scene with another canvas size")
    func measured() throws {
        /// Each reading is one microsecond after the one before.
        final class SteppingClock: MonotonicClock {
            private let time = Atomic<Int64>(0)
            func now() -> Int64 { self.time.add(1_000, ordering: .relaxed).newValue }
        }
        var large = Canvases.columns("large", [0])
        large.size = CanvasSize(width: 1_280, height: 720)
        let scheduler = Canvases.scheduler(Canvases.columns("a", [0]))
        try scheduler.prepare([large])
        var player = SceneCompositor(scheduler: scheduler, machine: SteppingClock())
        _ = player.advance(to: 0)
        #expect(player.longestSwap == 0)
        let due = try scheduler.setScene(large)
        #expect(player.advance(to: due)?.sceneID == "large")
        #expect(player.longestSwap == 1_000)
    }

    @Test("a scene that cannot be built changes nothing, and the error says why")
    func badScene() throws {
        let scene = Canvases.columns("a", [0])
        let scheduler = Canvases.scheduler(scene)
        try scheduler.prepare([scene])
        var bad = Canvases.columns("b", [1])
        bad.images = [SceneImage(path: "/nowhere/logo.png", rect: Rect(x: 0, y: 0, width: 64, height: 64))]
        #expect {
            try scheduler.setScene(bad)
        } throws: {
            ($0 as? MediaError)?.what.contains("/nowhere/logo.png") == true
        }
        #expect(scheduler.pendingScenes.isEmpty)
        #expect(scheduler.scene.sceneID == "a")
    }
}

extension SceneCompositor {
    /// Advances to the next tick and composes it.
    fileprivate mutating func show(
        _ tick: Int64, _ frames: [SourceID: Picture], covered: Set<SourceID> = []
    ) -> Tick {
        _ = self.advance(to: tick)
        return self.compose(tick: tick, frames: frames, covered: covered)
    }
}
