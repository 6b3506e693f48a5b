import MediaTypes
import RoomOutputs
import Testing

@Suite("Which renditions are encoded: those that somebody watches")
struct RenditionDemandTests {
    private static let second: Int64 = 1_000_000_000

    private static func demand(asleep: Set<Int> = [], window: Int64 = 60) -> RenditionDemand {
        RenditionDemand([0, 2], asleep: asleep, window: window * self.second, now: 0)
    }

    /// Steps every second, and returns the actions with their times.
    private static func actions(
        _ demand: inout RenditionDemand, _ seconds: ClosedRange<Int64>
    ) -> [Int64: [RenditionDemand.Action]] {
        var actions: [Int64: [RenditionDemand.Action]] = [:]
        for second in seconds {
            let due = demand.step(now: second * self.second)
            if !due.isEmpty { actions[second] = due }
        }
        return actions
    }

    @Test(
        "without requests, renditions fall asleep after the length of the playlist window, but after 30 s at the earliest"
    )
    func quiet() {
        var demand = Self.demand()
        #expect(Self.actions(&demand, 0...200) == [60: [.sleep(0), .sleep(2)]])
        #expect(demand.asleep == [0, 2])
        var short = Self.demand(window: 12)
        #expect(Self.actions(&short, 0...200) == [30: [.sleep(0), .sleep(2)]])
    }

    @Test("until the program begins, no rendition falls asleep, and one that sleeps stays asleep")
    func waitingRoom() {
        var demand = Self.demand(asleep: [2])
        for second in 0...300 as ClosedRange<Int64> {
            demand.stay(at: second * Self.second)
            #expect(demand.step(now: second * Self.second).isEmpty)
        }
        #expect(Self.actions(&demand, 301...500) == [360: [.sleep(0)]])
    }

    @Test("a rendition that slept before the worker started stays asleep")
    func successor() {
        var demand = Self.demand(asleep: [2])
        #expect(demand.asleep == [2])
        #expect(Self.actions(&demand, 0...200) == [60: [.sleep(0)]])
    }

    @Test("a request for the multivariant playlist wakes all renditions for 30 s")
    func multivariant() {
        var demand = Self.demand(asleep: [0, 2])
        demand.multivariantRequested(at: 5 * Self.second)
        #expect(
            Self.actions(&demand, 5...200) == [
                5: [.wake(0, .multivariant), .wake(2, .multivariant)], 35: [.sleep(0), .sleep(2)],
            ])
    }

    @Test("a request for a rendition's playlist wakes it, and keeps it awake for the window")
    func playlist() {
        var demand = Self.demand(asleep: [0, 2])
        demand.playlistRequested(of: 2, at: 5 * Self.second)
        #expect(Self.actions(&demand, 5...200) == [5: [.wake(2, .playlist)], 65: [.sleep(2)]])
        demand.playlistRequested(of: 2, at: 300 * Self.second)
        #expect(Self.actions(&demand, 300...340) == [300: [.wake(2, .playlist)]])
        demand.playlistRequested(of: 2, at: 340 * Self.second)
        #expect(Self.actions(&demand, 341...500) == [400: [.sleep(2)]])
    }

    @Test(
        "a request for the multivariant playlist does not shorten how long a request for a rendition's own playlist keeps it awake"
    )
    func both() {
        var demand = Self.demand(asleep: [0, 2])
        demand.playlistRequested(of: 0, at: 0)
        demand.multivariantRequested(at: Self.second)
        #expect(
            Self.actions(&demand, 1...200) == [
                1: [.wake(0, .playlist), .wake(2, .multivariant)], 31: [.sleep(2)], 60: [.sleep(0)],
            ])
    }

    @Test(
        "an announcement of viewers wakes a rendition for the announced time; a later, shorter announcement does not shorten it"
    )
    func announced() {
        var demand = Self.demand(asleep: [0, 2])
        demand.announced(0, for: 100 * Self.second, at: 0)
        demand.announced(0, for: Self.second, at: Self.second)
        #expect(Self.actions(&demand, 1...200) == [1: [.wake(0, .announced)], 100: [.sleep(0)]])
    }

    @Test(
        "on an overloaded machine no rendition wakes, awake ones still fall asleep, and recent requests count afterwards"
    )
    func overloaded() {
        var demand = Self.demand(asleep: [2])
        demand.isOverloaded = true
        demand.multivariantRequested(at: 50 * Self.second)
        demand.playlistRequested(of: 2, at: 50 * Self.second)
        #expect(Self.actions(&demand, 50...90) == [80: [.sleep(0)]])
        demand.isOverloaded = false
        #expect(Self.actions(&demand, 91...200) == [91: [.wake(2, .playlist)], 110: [.sleep(2)]])
    }

    @Test("requests for renditions that never sleep are ignored")
    func others() {
        var demand = Self.demand(asleep: [0, 2])
        demand.playlistRequested(of: 1, at: 0)
        demand.announced(7, for: Self.second, at: 0)
        #expect(demand.step(now: 0).isEmpty && demand.asleep == [0, 2])
    }
}
