import Testing

import Events

@Suite("Event log")
struct EventLogTests {
    private static func event(_ number: Int64, _ line: String = "{}") -> EventRecord {
        EventRecord(sequence: number, type: "a.b", line: line)
    }

    @Test("the log keeps the latest events, limited in number and bytes")
    func bounds() {
        let log = EventLog(capacity: 4, byteCapacity: 100)
        for number in 1...10 { log.append(Self.event(Int64(number))) }
        #expect(log.page(after: 0).events.map(\.sequence) == [7, 8, 9, 10])
        #expect(log.page(after: 0).missed == 6)
        #expect(log.page(after: 8).missed == 0)
        log.append(Self.event(11, String(repeating: "x", count: 99)))
        #expect(log.page(after: 0).events.map(\.sequence) == [11], "its 98 bytes leave no space for others")
        log.append(Self.event(12, String(repeating: "x", count: 500)))
        #expect(log.page(after: 0).events.map(\.sequence) == [12], "the latest stays, whatever its size")
    }

    @Test("numbers continue those of earlier workers, and out-of-order events are refused")
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

    @Test("a closed log accepts nothing and says so")
    func closed() {
        let log = EventLog()
        log.append(Self.event(1))
        log.close()
        log.append(Self.event(2))
        #expect(log.last == 1)
        #expect(log.page(after: 1).isClosed)
    }
}
