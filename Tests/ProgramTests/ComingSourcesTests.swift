import LibAV
import MediaTypes
import Program
import Threading
import Synchronization
import Testing

@Suite("Sources added and removed while the program runs")
struct ComingSourcesTests {
    private static let (host, guest) = (Canvases.source(0), Canvases.source(1))
    private static let duo = Canvases.columns("duo", [0, 1])
    private static let solo = Canvases.columns("solo", [0])
    /// Sample pairs in a ramp of 20 ms.
    private static let ramp: Float = 960

    /// The output of a program over time; used only by its thread.
    private final class Outcome: @unchecked Sendable {
        // @unchecked Sendable: the program thread writes it, the test reads it after the program has ended.
        var stage: ProgramStage?
        /// Colors in the middle of the left and of the right half, by tick.
        var colors: [(left: CanvasColor, right: CanvasColor)] = []
        var audio: [Float] = []
        /// Ticks at which sources were released.
        var gone: [(source: SourceID, tick: Int)] = []
        var levels: [Set<SourceID>] = []
        var tick: Int { self.colors.count - 1 }

        func remove(_ source: SourceID) {
            self.stage?.remove(source) { [self] in self.gone.append((source, self.tick)) }
        }
    }

    /// A source with one frame and constant audio from time 0 on, longer than any test.
    private static func source(_ id: SourceID, _ color: Int, _ audio: Float) throws -> ProgramStage.Source {
        let buffer = SourceBuffer(source: id, isPaced: true)
        buffer.setTracks(video: true, audio: true)
        buffer.setStatus(.live, at: 0)
        for time in [0, 60_000_000_000] {
            buffer.push(try Canvases.solid(Canvases.colors[color]), time: Int64(time), arrival: nil)
        }
        buffer.push([Float](repeating: audio, count: 2 * 120_000), at: 0, restart: true)
        buffer.finish()
        return ProgramStage.Source(buffer: buffer, name: id.description, volume: 1, hold: 0, placeholder: nil)
    }

    /// Runs a program that starts with only the host.
    ///
    /// - Parameter act: Called after each tick.
    private static func run(
        ticks: Int64, levelIntervalMs: Int = 0, _ act: @escaping @Sendable (Outcome, ProgramStage, Int) -> Void
    ) throws -> Outcome {
        let outcome = Outcome()
        var settings = ProgramStage.Settings(
            canvas: Canvases.canvas, sampleRate: 48_000, rampMs: 20, isOffline: true, durationTicks: ticks)
        settings.levelIntervalMs = levelIntervalMs
        var outputs = ProgramStage.Outputs(
            picture: { picture, tick, _ in
                outcome.colors.append(
                    (
                        Canvases.color(picture, x: 160, y: 180), Canvases.color(picture, x: 480, y: 180)
                    ))
                if let stage = outcome.stage { act(outcome, stage, Int(tick)) }
                return true
            }, audio: { block, _ in outcome.audio += block }, finished: { _ in })
        outputs.levels = { outcome.levels.append(Set($0.sources.keys)) }
        let stage = ProgramStage(
            settings: settings, sources: [Self.host: try Self.source(Self.host, 0, 0.125)], scene: Self.solo,
            clock: ProgramClock(machine: StoppedClock()), machine: SystemClock(), outputs: outputs)
        outcome.stage = stage
        stage.start(at: 0)
        stage.run()
        outcome.stage = nil
        return outcome
    }

    private struct StoppedClock: MonotonicClock {
        func now() -> Int64 { 0 }
    }

    @Test(
        "a scene that makes a live source audible that was neither seen nor heard goes on air a tenth of a second later"
    )
    func audioComesBack() throws {
        let buffer = SourceBuffer(source: Self.guest, isPaced: false)
        buffer.setStatus(.live, at: 0)
        let guest = ProgramStage.Source(buffer: buffer, name: "guest", volume: 1, hold: 0, placeholder: nil)
        let stage = ProgramStage(
            settings: ProgramStage.Settings(
                canvas: Canvases.canvas, sampleRate: 48_000, rampMs: 20, isOffline: false, durationTicks: nil),
            sources: [Self.guest: guest], scene: Self.solo, clock: ProgramClock(machine: StoppedClock()),
            machine: SystemClock(),
            outputs: ProgramStage.Outputs(
                picture: { _, _, _ in true }, audio: { _, _ in }, finished: { _ in }))
        defer { stage.scheduler.close() }
        var player = SceneCompositor(scheduler: stage.scheduler, machine: SystemClock())
        _ = player.advance(to: 0)
        var scene = Self.duo
        scene.panes[1].videoPush = false
        buffer.need.setAway(true)
        let first = try stage.setScene(scene)
        #expect(first == 4 && !buffer.need.isAway, "a tenth of a second")
        let again = try stage.setScene(scene)
        #expect(again == 1, "no data waits there any more")
    }

    @Test("an added source is seen at the tick of its scene; a removed one is released when its audio has faded")
    func comesAndGoes() throws {
        let guest = try Self.source(Self.guest, 4, 0.25)
        let again = try Self.source(Self.guest, 7, 0.25)
        let outcome = try Self.run(ticks: 70, levelIntervalMs: 100) { outcome, stage, tick in
            switch tick {
            case 9:
                #expect(stage.add(Self.guest, guest) && !stage.add(Self.guest, guest), "an id can be used only once")
                #expect((try? stage.setScene(Self.duo)) == 10)
            case 29:
                #expect((try? stage.setScene(Self.solo)) == 30)
                outcome.remove(Self.guest)
            case 30: #expect(outcome.gone.isEmpty, "it is still fading")
            case 49:
                #expect(stage.stats.shown[Self.guest] == nil && stage.stats.repeated[Self.guest] == nil)
                stage.forget(Self.guest)
                // The same name, with another frame.
                #expect(stage.add(Self.guest, again))
                #expect((try? stage.setScene(Self.duo)) == 50)
            default: break
            }
        }
        #expect(outcome.colors.count == 70)
        for (tick, colors) in outcome.colors.enumerated() {
            let right = (10..<30).contains(tick) ? 4 : tick >= 50 ? 7 : 0
            #expect(Canvases.isNear(colors.left, Canvases.colors[0]), "tick \(tick)")
            #expect(Canvases.isNear(colors.right, Canvases.colors[right]), "tick \(tick)")
        }
        // Reported before the tick that it is no part of; a ramp is shorter than a tick.
        #expect(outcome.gone.map(\.source) == [Self.guest] && (30...33).contains(outcome.gone[0].tick))
        let left = stride(from: 0, to: outcome.audio.count, by: 2).map { outcome.audio[$0] }
        #expect(left[20 * 1_600] == 0.375 && left[40 * 1_600] == 0.125 && left[60 * 1_600] == 0.375)
        for (place, (a, b)) in zip(left, left.dropFirst()).enumerated() where place > 2_000 {
            #expect(abs(a - b) < 0.25 / Self.ramp * 1.01, "no click, at \(place)")
        }
        #expect(outcome.levels.first == [Self.host] && outcome.levels.last == [Self.host, Self.guest])
        #expect(outcome.levels.contains([Self.host, Self.guest]) && outcome.levels[13] == [Self.host])
    }

    @Test("a removed source is kept while a transition shows it or a pending scene names it")
    func staysWhileSeen() throws {
        let guest = try Self.source(Self.guest, 4, 0.25)
        let slow = Canvases.columns("slow", [0], transition: .crossfade(ticks: 10))
        let outcome = try Self.run(ticks: 60) { outcome, stage, tick in
            switch tick {
            case 4:
                stage.add(Self.guest, guest)
                _ = try? stage.setScene(Self.duo)
            case 9:
                #expect((try? stage.setScene(slow)) == 10)
                outcome.remove(Self.guest)
            default: break
            }
        }
        let gone = try #require(outcome.gone.first).tick
        #expect((19...22).contains(gone), "\(gone)")
        #expect(!Canvases.isNear(outcome.colors[14].right, Canvases.colors[0], by: 8), "it is visible on its way out")
        let waits = try Self.run(ticks: 60) { outcome, stage, tick in
            guard tick == 4 else { return }
            if let source = try? Self.source(Self.guest, 4, 0.25) { stage.add(Self.guest, source) }
            _ = try? stage.setScene(Self.duo, at: 20)
            outcome.remove(Self.guest)
        }
        // On air from then on: it ends with the program.
        #expect(waits.gone.map(\.source) == [Self.guest] && waits.gone[0].tick == 59)
        #expect(Canvases.isNear(waits.colors[20].right, Canvases.colors[4]))
    }

    @Test(
        "if frames are held due to overload before or during a scene's transition, the transition is skipped or cut short",
        arguments: [4, 14])
    func heldTransition(hold: Int) throws {
        let guest = try Self.source(Self.guest, 4, 0.25)
        let slow = Canvases.columns("slow", [1], transition: .crossfade(ticks: 10))
        let outcome = try Self.run(ticks: 30) { outcome, stage, tick in
            if tick == 3 { stage.add(Self.guest, guest) }
            if tick == hold { stage.setFrameMode(.hold) }
            if tick == 9 { #expect((try? stage.setScene(slow)) == 10) }
        }
        #expect(outcome.colors.count == 30)
        let whole = max(10, hold + 1)
        for (tick, colors) in outcome.colors.enumerated() where tick < 10 || tick >= whole {
            let color = Canvases.colors[tick < 10 ? 0 : 4]
            #expect(Canvases.isNear(colors.left, color) && Canvases.isNear(colors.right, color), "tick \(tick)")
        }
        for tick in 10..<whole { #expect(!Canvases.isNear(outcome.colors[tick].left, Canvases.colors[4], by: 8)) }
    }

    @Test(
        "a lost source's last frame is shown until its hold time ends, and not again when the source returns without frames"
    )
    func backWithoutPictures() throws {
        let interval: Int64 = 33_333_333
        let buffer = SourceBuffer(source: Self.guest, isPaced: true)
        let guest = ProgramStage.Source(
            buffer: buffer, name: "guest", volume: 1, hold: 3 * interval, placeholder: nil)
        buffer.setStatus(.live, at: 0)
        buffer.push(try Canvases.solid(Canvases.colors[4]), time: 0, arrival: nil)
        let fresh = try Canvases.solid(Canvases.colors[7])
        let outcome = try Self.run(ticks: 40) { _, stage, tick in
            switch tick {
            case 4:
                stage.add(Self.guest, guest)
                _ = try? stage.setScene(Self.duo)
            case 9: buffer.setStatus(.lost, at: 10 * interval)
            case 19: buffer.setStatus(.live, at: 20 * interval)
            case 29: buffer.push(fresh, time: 30 * interval, arrival: nil)
            default: break
            }
        }
        let right = outcome.colors.map(\.right)
        #expect(right[5..<13].allSatisfy { Canvases.isNear($0, Canvases.colors[4]) })
        #expect(right[14..<30].allSatisfy { !Canvases.isNear($0, Canvases.colors[4], by: 8) })
        #expect(right[30...].allSatisfy { Canvases.isNear($0, Canvases.colors[7]) })
    }

    @Test("while the program has not started, adding and removing a source takes effect at once")
    func beforeTheProgram() throws {
        let stage = ProgramStage(
            settings: ProgramStage.Settings(
                canvas: Canvases.canvas, sampleRate: 48_000, rampMs: 20, isOffline: true, durationTicks: 1),
            sources: [:], scene: Self.solo, clock: ProgramClock(machine: StoppedClock()),
            machine: SystemClock(),
            outputs: ProgramStage.Outputs(picture: { _, _, _ in true }, audio: { _, _ in }, finished: { _ in }))
        let told = Mutex(0)
        stage.remove(Self.guest) { told.withLock { $0 += 1 } }
        #expect(stage.add(Self.guest, try Self.source(Self.guest, 1, 0)))
        stage.remove(Self.guest) { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 2)
        stage.setSource(Self.guest, volume: 0.5, audioPush: false, videoPush: false)
        #expect(stage.add(Self.guest, try Self.source(Self.guest, 1, 0)), "its name is free")
        let begins = stage.contribution(of: Self.guest)
        #expect(begins.volume == 1 && begins.isHeard && begins.isSeen, "a command came too late for the one before")
    }

    @Test("999 sources, each removed one tick after it was added, are each released before the next tick's frame")
    func thousand() throws {
        let outcome = try Self.run(ticks: 1_010) { outcome, stage, tick in
            guard (1...1_000).contains(tick) else { return }
            let id = SourceID(uid: "guest \(tick)")
            let buffer = SourceBuffer(source: id, isPaced: true)
            buffer.finish()
            stage.add(id, ProgramStage.Source(buffer: buffer, name: "", volume: 1, hold: 0, placeholder: nil))
            if tick > 1 { outcome.remove(SourceID(uid: "guest \(tick - 1)")) }
        }
        #expect(outcome.gone.map(\.source) == (1..<1_000).map { SourceID(uid: "guest \($0)") })
        #expect(outcome.gone.allSatisfy { source, tick in source.uid == "guest \(tick - 1)" }, "at the next tick")
        #expect(outcome.colors.count == 1_010)
    }
}
