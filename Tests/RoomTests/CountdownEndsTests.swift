import PipelineSpec
import Program
import Room
import RoomScenes
import Testing

@Suite("When countdowns on the canvas reach zero")
struct CountdownEndsTests {
    private static let fps = 30
    private static let second: Int64 = 1_000_000_000

    private static func countdown(_ id: String, seconds: Int = 0, of clock: PipelineSpec.Countdown.Clock = .scene)
        -> PipelineSpec.Countdown
    {
        var countdown = PipelineSpec.Countdown(id)
        (countdown.seconds, countdown.clock) = (seconds, clock)
        return countdown
    }

    /// The seconds that the countdown shows at a tick.
    private func shown(_ end: Int64?, at tick: Int64) -> Int64 {
        Program.Countdown(id: "c", x: 0, y: 0, size: 8, color: .white, endsAtTick: end ?? 0)
            .secondsLeft(at: tick, fps: Self.fps)
    }

    @Test("a PK countdown shows the seconds left of the PK's phase, whenever its scene went on air")
    func pk() throws {
        let clock = Self.countdown("pk", of: .pk)
        var life = PKStateMachine(
            durations: PKStateMachine.Durations(countdown: 0, pk: 60 * Self.second, punish: 20 * Self.second))
        let ends = CountdownEnds()
        // Tick 0 is time 0. The PK starts at second 2; its scene is on air at seconds 2, 11 and 30, and through the punishment.
        let changes = try life.start(
            PKStateMachine.Durations(countdown: 0, pk: 60 * Self.second, punish: 20 * Self.second), now: 2 * Self.second
        )
        #expect(changes.map(\.to) == [.pk])
        for (began, seconds) in [(2, 2), (2, 10), (11, 11), (11, 29), (30, 30), (30, 61), (62, 62), (62, 75), (90, 90)]
            as [(Int64, Int64)]
        {
            _ = life.poll(now: seconds * Self.second)
            let phaseEnd = life.endsAt.map { $0 / Self.second * Int64(Self.fps) }
            let tick = began * Int64(Self.fps)
            let own = CountdownEnds.beginning([clock], at: tick, fps: Self.fps)
            let end = ends.ends(of: [clock], began: own, at: tick, phaseEnd: phaseEnd)["pk"]
            let remaining = life.endsAt.map { max(0, $0 - seconds * Self.second) / Self.second } ?? 0
            #expect(self.shown(end, at: seconds * Int64(Self.fps)) == remaining, "second \(seconds)")
        }
        #expect(life.phase == .idle)
    }

    @Test(
        "a scene's countdown starts when its scene goes on air, unless a command has set an end after that tick",
        arguments: [
            // End set by command (tick), tick at which the scene goes on air, seconds shown at tick 300.
            (nil, 0, 290), (nil, 150, 295), (Int64(600), 0, 10), (600, 299, 10), (600, 600, 310), (90, 120, 294),
        ] as [(Int64?, Int64, Int64)])
    func scene(told: Int64?, began: Int64, seconds: Int64) {
        let clock = Self.countdown("c", seconds: 300)
        var ends = CountdownEnds()
        if let told { ends.tell("c", told) }
        let own = CountdownEnds.beginning([clock], at: began, fps: Self.fps)
        let end = ends.ends(of: [clock], began: own, at: began, phaseEnd: 10_000)["c"]
        #expect(self.shown(end, at: 300) == seconds)
    }

    @Test(
        "an end set by command while the scene is on air applies to its countdown, even if it has passed, but never to a PK countdown"
    )
    func commands() {
        let clocks = [Self.countdown("c", seconds: 300), Self.countdown("pk", of: .pk)]
        var ends = CountdownEnds()
        ends.tell("c", 100)
        ends.tell("pk", 100)
        // The command removes the scene's own end.
        let shown = ends.ends(of: clocks, began: [:], at: 200, phaseEnd: 900)
        #expect(shown == ["c": 100, "pk": 900])
        #expect(CountdownEnds.beginning(clocks, at: 200, fps: 30) == ["c": 9_200])
    }

    @Test("a PK countdown shows zero while no phase with an end is running")
    func noPhase() {
        let clock = Self.countdown("pk", of: .pk)
        let end = CountdownEnds().ends(of: [clock], began: [:], at: 500, phaseEnd: nil)["pk"]
        #expect(self.shown(end, at: 500) == 0)
    }
}
