import Room
import TestSupport
import Testing

@Suite("RoomPhase: the room's state from starting to closed")
struct RoomPhaseTests {
    private static func facts(_ change: (inout RoomPhase.Facts) -> Void) -> RoomPhase.Facts {
        var facts = RoomPhase.Facts()
        change(&facts)
        return facts
    }

    /// On air, playable, with a publisher and media.
    private static let good = Self.facts {
        $0.lifecycle = .live
        $0.hasPublisher = true
        $0.isPlayable = true
        $0.hasMedia = true
    }

    private static func live(_ change: (inout RoomPhase.Facts) -> Void) -> RoomPhase.Facts {
        var facts = Self.good
        change(&facts)
        return facts
    }

    @Test(
        "a room's state and its cause follow from lifecycle, publishers, media, outputs and overload",
        arguments: [
            (Self.facts { $0.lifecycle = .waiting }, .waiting, nil),
            (Self.facts { ($0.lifecycle, $0.hasPublisher) = (.waiting, true) }, .preparing, nil),
            (Self.live { $0.isPlayable = false }, .preparing, nil),
            (Self.good, .live, nil),
            (Self.live { $0.hasMedia = false }, .recovering, .media),
            (Self.live { $0.isOutputLost = true }, .recovering, .output),
            (Self.live { $0.overloadSteps = 1 }, .degraded, .overload),
            (Self.live { ($0.isOutputLost, $0.overloadSteps) = (true, 3) }, .recovering, .output),
            (Self.live { ($0.hasMedia, $0.isOutputLost) = (false, true) }, .recovering, .media),
            (Self.live { $0.lifecycle = .ending }, .ending, nil),
            (Self.live { $0.lifecycle = .draining }, .draining, nil),
            (Self.live { $0.lifecycle = .closed }, .closed, nil),
            (Self.live { ($0.lifecycle, $0.hasFailed) = (.ending, true) }, .failed, nil),
            (Self.facts { ($0.lifecycle, $0.hasFailed) = (.closed, true) }, .failed, nil),
        ] as [(RoomPhase.Facts, RoomPhase.State, RoomPhase.Cause?)])
    func state(facts: RoomPhase.Facts, state: RoomPhase.State, cause: RoomPhase.Cause?) {
        var phase = RoomPhase()
        let change = phase.noted(facts)
        #expect(change == RoomPhase.Change(from: .starting, to: state, cause: cause))
        #expect(phase.state == state && phase.cause == cause)
        #expect(phase.noted(facts) == nil, "told once")
    }

    @Test("after its listeners are open a starting room is waiting, unless it was asked to end or drain")
    func opened() {
        #expect(Room.State.starting.opened == .waiting)
        for state in [Room.State.ending, .draining, .closed] { #expect(state.opened == state) }
    }

    @Test("every change of a room's state is reported with the state before it")
    func way() {
        var phase = RoomPhase()
        let way: [(RoomPhase.Facts, RoomPhase.State)] = [
            (Self.facts { $0.lifecycle = .waiting }, .waiting),
            (Self.facts { ($0.lifecycle, $0.hasPublisher) = (.waiting, true) }, .preparing),
            // The publisher has left before it sent anything.
            (Self.facts { $0.lifecycle = .waiting }, .waiting), (Self.live { $0.isPlayable = false }, .preparing),
            (Self.good, .live), (Self.live { $0.hasMedia = false }, .recovering), (Self.good, .live),
            (Self.live { $0.overloadSteps = 2 }, .degraded), (Self.good, .live),
            (Self.live { $0.lifecycle = .draining }, .draining), (Self.live { $0.lifecycle = .closed }, .closed),
        ]
        var before = RoomPhase.State.starting
        for (facts, state) in way {
            let change = phase.noted(facts)
            #expect(change?.from == before && change?.to == state)
            before = state
        }
    }

    @Test("a change of the cause is reported, even if the room's state stays")
    func causes() {
        var phase = RoomPhase()
        _ = phase.noted(Self.live { ($0.hasMedia, $0.isOutputLost) = (false, true) })
        let change = phase.noted(Self.live { $0.isOutputLost = true })
        #expect(change == RoomPhase.Change(from: .recovering, to: .recovering, cause: .output))
    }

    @Test(
        "a room that is ending, closed or failed keeps this state, even if it is given facts of a live or waiting room"
    )
    func end() {
        let ends: [(RoomPhase.Facts, [RoomPhase.Facts])] = [
            (Self.live { $0.lifecycle = .ending }, [Self.good, Self.facts { $0.lifecycle = .waiting }]),
            (Self.live { $0.lifecycle = .closed }, [Self.good, Self.live { $0.hasFailed = true }]),
            (Self.live { $0.hasFailed = true }, [Self.good, Self.live { $0.lifecycle = .closed }]),
        ]
        for (end, later) in ends {
            var phase = RoomPhase()
            _ = phase.noted(end)
            let state = phase.state
            for facts in later { #expect(phase.noted(facts) == nil) }
            #expect(phase.state == state)
        }
    }

    @Test("for random facts, a room's state never goes back from its end, and each change is reported once")
    func promises() {
        func stage(_ state: RoomPhase.State) -> Int {
            switch state {
            case .starting, .waiting, .preparing, .live, .recovering, .degraded: 0
            case .ending, .draining: 1
            case .failed, .closed: 2
            }
        }
        var numbers = TestRandom(state: 8)
        for _ in 0..<200 {
            var phase = RoomPhase()
            for _ in 0..<60 {
                let facts = Self.facts {
                    $0.lifecycle = Room.State.allCases.randomElement(using: &numbers) ?? .live
                    $0.hasFailed = Int.random(in: 0..<20, using: &numbers) == 0
                    $0.hasPublisher = .random(using: &numbers)
                    $0.isPlayable = .random(using: &numbers)
                    $0.hasMedia = .random(using: &numbers)
                    $0.isOutputLost = .random(using: &numbers)
                    $0.overloadSteps = .random(in: 0...2, using: &numbers)
                }
                let before = phase
                let change = phase.noted(facts)
                #expect(stage(phase.state) >= stage(before.state))
                #expect((phase.cause != nil) == (phase.state == .recovering || phase.state == .degraded))
                #expect((change != nil) == (phase != before))
                if let change { #expect(change.from == before.state && change.to == phase.state) }
            }
        }
    }
}
