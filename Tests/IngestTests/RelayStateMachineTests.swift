import Ingest
import TestSupport
import Testing

@Suite("Relay states: waiting, connecting, live, failed, stopped")
struct RelayStateMachineTests {
    private static let second: Int64 = 1_000_000_000
    private static let gone = RelayStateMachine.Action.tell(.stopped(reason: "the source is gone"))

    /// One event at a time, in milliseconds, and the expected actions.
    private struct Step {
        var at: Int64
        var event: RelayStateMachine.Event
        var actions: [RelayStateMachine.Action]

        init(_ at: Int64, _ event: RelayStateMachine.Event, _ actions: [RelayStateMachine.Action]) {
            self.at = at
            self.event = event
            self.actions = actions
        }
    }

    private static let connect: [RelayStateMachine.Action] = [.connect(isRetry: false), .tell(.connecting)]
    private static let live: [RelayStateMachine.Action] = [.stream, .tell(.live)]
    private static func refused(_ random: UInt64 = 0) -> RelayStateMachine.Event {
        .disconnected(reason: "refused", random: random)
    }

    private static func run(_ steps: [Step], sourceLocation: SourceLocation = #_sourceLocation) -> RelayStateMachine {
        var life = RelayStateMachine()
        for step in steps {
            let actions = life.receive(step.event, now: step.at * 1_000_000)
            #expect(actions == step.actions, "at \(step.at) ms, \(step.event)", sourceLocation: sourceLocation)
        }
        return life
    }

    @Test("when the source ends, the relay ends its stream at once")
    func tellsTheEnd() {
        let life = Self.run([
            Step(0, .sourceBegan, Self.connect), Step(20, .accepted, Self.live),
            Step(60_000, .sourceEnded, [.finish, Self.gone]), Step(60_000, .sourceEnded, []),
        ])
        #expect(life.state == .waiting)
    }

    @Test("if a source returns more than a second after the last connection began, the relay connects at once")
    func returns() {
        _ = Self.run([
            Step(0, .sourceBegan, Self.connect), Step(20, .accepted, Self.live),
            Step(60_000, .sourceEnded, [.finish, Self.gone]), Step(60_001, .sourceBegan, Self.connect),
            Step(60_030, .accepted, Self.live),
        ])
    }

    @Test("for a source that begins and ends every millisecond, the relay connects once per second")
    func flapping() {
        var life = RelayStateMachine()
        var (connects, finishes, timer) = (0, 0, Int64?.none)
        for now in stride(from: Int64(0), to: 10 * Self.second, by: 1_000_000) {
            let event: RelayStateMachine.Event = now / 1_000_000 % 2 == 0 ? .sourceBegan : .sourceEnded
            var actions = life.receive(event, now: now)
            if let due = timer, now >= due {
                timer = nil
                actions += life.receive(.timerFired, now: now)
            }
            for action in actions {
                switch action {
                case .connect: connects += 1
                case .finish: finishes += 1
                case .setTimer(let wait): timer = now + wait
                case .cancelTimer: timer = nil
                case .stream, .tell: break
                }
            }
        }
        #expect((9...10).contains(connects), "\(connects)")
        #expect(finishes <= connects)
    }

    @Test(
        "a source that ends while its relay connects closes the connection; a late reply changes nothing"
    )
    func endsWhileConnecting() {
        let life = Self.run([
            Step(0, .sourceBegan, Self.connect), Step(5, .sourceEnded, [.finish, Self.gone]), Step(6, .accepted, []),
            Step(7, Self.refused(), []), Step(10, .sourceBegan, [.setTimer(nanoseconds: 990_000_000)]),
            Step(11, .sourceBegan, []), Step(1000, .timerFired, Self.connect),
        ])
        #expect(life.state == .connecting)
    }

    @Test("a relay retries a failed connection after the back-off, which resets after ten seconds live")
    func retries() {
        let retry: [RelayStateMachine.Action] = [.connect(isRetry: true), .tell(.connecting)]
        func failed(_ wait: Int64) -> [RelayStateMachine.Action] {
            [.setTimer(nanoseconds: wait * 1_000_000), .tell(.failed(reason: "refused", retryMs: Int(wait)))]
        }
        _ = Self.run([
            Step(0, .sourceBegan, Self.connect), Step(10, Self.refused(), failed(500)),
            Step(510, .timerFired, retry), Step(520, Self.refused(), failed(1000)),
            Step(1520, .timerFired, retry), Step(1530, .accepted, Self.live),
            Step(11_531, Self.refused(), failed(500)), Step(12_031, .timerFired, retry),
        ])
    }

    @Test("if the source ends while a retry is scheduled, the relay does not connect")
    func endsBetweenAttempts() {
        let life = Self.run([
            Step(0, .sourceBegan, Self.connect),
            Step(
                10, Self.refused(),
                [.setTimer(nanoseconds: 500_000_000), .tell(.failed(reason: "refused", retryMs: 500))]),
            Step(20, .sourceEnded, []), Step(510, .timerFired, []), Step(511, .timerFired, []),
        ])
        #expect(life.state == .waiting)
    }

    @Test("a removed relay does nothing more")
    func removed() {
        _ = Self.run([
            Step(0, .sourceBegan, Self.connect), Step(1, .sourceEnded, [.finish, Self.gone]),
            Step(2, .sourceBegan, [.setTimer(nanoseconds: 998_000_000)]),
            Step(3, .removed(reason: "removed"), [.cancelTimer, .finish, .tell(.stopped(reason: "removed"))]),
            Step(4, .removed(reason: "removed"), []), Step(5, .sourceBegan, []), Step(1000, .timerFired, []),
        ])
    }

    @Test("under 20,000 random events a relay has at most one connection, and none without a source")
    func anyOrder() {
        var random = TestRandom(state: 25)
        var life = RelayStateMachine()
        var (isConnected, now) = (false, Int64(0))
        for _ in 0..<20_000 {
            now += Int64.random(in: 0...Self.second, using: &random)
            let events: [RelayStateMachine.Event] = [
                .sourceBegan, .sourceEnded, .accepted, .timerFired, Self.refused(random.next()),
            ]
            let event = events.randomElement(using: &random) ?? .timerFired
            // A handler reports its end once, and not after it was asked to finish.
            if case .disconnected = event { if isConnected { isConnected = false } else { continue } }
            if event == .accepted, !isConnected { continue }
            for action in life.receive(event, now: now) {
                switch action {
                case .connect:
                    #expect(!isConnected)
                    isConnected = true
                case .finish:
                    #expect(isConnected)
                    isConnected = false
                case .stream: #expect(isConnected && life.state == .live)
                case .setTimer(let wait): #expect((0...8 * Self.second).contains(wait))
                case .cancelTimer, .tell: break
                }
            }
            #expect(isConnected == (life.state == .connecting || life.state == .live))
            if !life.hasSource { #expect(!isConnected) }
        }
    }
}
