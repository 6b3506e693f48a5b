import Testing

import Events

@Suite("Event log")
struct EventLogTests {
    private static func event(_ number: Int64, _ line: String = "{}") -> EventRecord {
        EventRecord(sequence: number, type: "a.b", line: line)
    }

    @Test("the event log drops its oldest events beyond its number and byte limits, but never the newest")
    func bounds() {
        let log = EventLog(capacity: 4, byteCapacity: 100)
        for number in 1...10 { log.append(Self.event(Int64(number))) }
        #expect(log.page(after: 0).events.map(\.sequence) == [7, 8, 9, 10])
        #expect(log.page(after: 0).missed == 6)
        #expect(log.page(after: 8).missed == 0)
        log.append(Self.event(11, String(repeating: "x", count: 99)))
        #expect(log.page(after: 0).events.map(\.sequence) == [11], "its 99 bytes leave no space for others")
        log.append(Self.event(12, String(repeating: "x", count: 500)))
        #expect(log.page(after: 0).events.map(\.sequence) == [12], "the latest stays, whatever its size")
    }

    @Test(
        "of events that only describe a moment (audio.levels), the event log keeps the last 64 and drops no other event for them"
    )
    func moments() {
        let log = EventLog(capacity: 4)
        for number in 1...1_000 as ClosedRange<Int64> {
            let type = number.isMultiple(of: 300) ? "source.live" : "audio.levels"
            log.append(EventRecord(sequence: number, type: type, line: "{}"))
        }
        let all = log.page(after: 0)
        #expect(all.events.map(\.sequence) == [300, 600, 900] + Array(937...1_000) && all.missed == 0)
        #expect(log.page(after: 0, limit: 2).events.map(\.sequence) == [300, 600])
        #expect(log.page(after: 899, limit: 2).events.map(\.sequence) == [900, 937])
        #expect(log.page(after: 1_000).next == 1_000 && log.last == 1_000)
        for number in 1_001...1_003 as ClosedRange<Int64> { log.append(Self.event(number)) }
        #expect(log.page(after: 0).missed == 600, "the first two events of another type are dropped")
    }

    @Test("an event that only describes a moment is not counted as missed while it is in the log, on pages of any size")
    func keptMoments() {
        let log = EventLog(capacity: 1)
        for number in 1...6 as ClosedRange<Int64> {
            log.append(EventRecord(sequence: number, type: number == 3 ? "audio.levels" : "source.live", line: "{}"))
        }
        let whole = log.page(after: 0)
        #expect(whole.events.map(\.sequence) == [3, 6] && whole.missed == 4 && whole.skipped == 5)
        let first = log.page(after: 0, limit: 1)
        #expect(first.events.map(\.sequence) == [3] && first.missed == 2)
        let second = log.page(after: first.next, limit: 1)
        #expect(second.events.map(\.sequence) == [6] && second.missed == 2)
        #expect(log.page(after: second.next).missed == 0)
    }

    @Test("the event log's sequence numbers continue those of the journal, and an event out of order is not added")
    func earlier() {
        let log = EventLog(earlier: [Self.event(5), Self.event(4), Self.event(9)])
        #expect(log.last == 9)
        #expect(log.page(after: 0).events.map(\.sequence) == [5, 9])
        log.append(Self.event(9))
        log.append(Self.event(10))
        #expect(log.page(after: 5, limit: 1).events.map(\.sequence) == [9])
        #expect(log.page(after: 9).next == 10)
        #expect(log.page(after: Int64.max).events.isEmpty)
        #expect(log.page(after: Int64.min).events.count == 3)
    }

    @Test("a closed event log adds no event and reports that it is closed")
    func closed() {
        let log = EventLog()
        log.append(Self.event(1))
        log.close()
        log.append(Self.event(2))
        #expect(log.last == 1)
        #expect(log.page(after: 1).isClosed)
    }
}
