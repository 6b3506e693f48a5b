import Room
import Testing

@Suite("A simulated month of PKs without media")
struct MonthTests {
    @Test(
        "thirty simulated days of losses, stalls, kicks, delayed polls and crashes violate no invariant of a room's state",
        arguments: [0, 1, 6])
    func month(seed: Int) {
        var month = Month(seed: seed)
        month.pass(days: 30)
        #expect(month.faults.isEmpty, "\(month.faults.first ?? "")")
        let tally = month.tally
        let isOpen = month.phase == .idle ? 0 : 1
        #expect(tally.starts == tally.timerEnds + tally.commandEnds + tally.lossEnds + tally.roomEnds + isOpen)
        // Every kind of event has happened often.
        #expect(tally.starts > 500 && tally.timerEnds > 200 && tally.lossEnds > 50, "\(tally)")
        #expect(tally.commandEnds > 20 && tally.latePolls > 50, "\(tally)")
        #expect(tally.refusedCommands > 500 && tally.refusedPublishers > 500 && tally.admitted > 2_000, "\(tally)")
        #expect(tally.stalls > 300 && tally.givenUp > 50 && tally.gone > 300, "\(tally)")
        #expect(tally.successors > 500 && tally.phasesOverDeaths > 20 && tally.endsBehindDeaths > 0, "\(tally)")
        #expect(tally.coversOverDeaths > 30 && tally.rooms > 10, "\(tally)")
    }
}
