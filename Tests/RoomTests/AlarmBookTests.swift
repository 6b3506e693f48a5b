import RoomSources
import Testing

import Room

@Suite("AlarmBook: a room's active and cleared alarms")
struct AlarmBookTests {
    private static let second: Int64 = 1_000_000_000

    private static func alarm(_ type: String, _ severity: String = "alert_2", _ subject: String? = "1001")
        -> AlarmBook.Alarm
    {
        AlarmBook.Alarm(type, severity, kind: "source", subject: subject, message: "m")
    }

    @Test("an active alarm keeps its start time when its severity changes")
    func holds() {
        var book = AlarmBook()
        let first = book.update([Self.alarm("source.lost")], at: 10)
        #expect(first == book.entries.map { .set($0) } && first.count == 1)
        #expect(book.update([Self.alarm("source.lost")], at: 15).isEmpty, "it is reported once")
        let second = book.update([Self.alarm("source.lost", "alert_3")], at: 20)
        #expect(second == book.entries.map { .set($0) }, "and again with another severity")
        #expect(book.entries.count == 1)
        #expect(book.entries[0].setAt == 10 && book.entries[0].clearedAt == nil)
        #expect(book.entries[0].alarm.severity == "alert_3")
    }

    @Test("a cleared alarm stays listed for five minutes; if the cause returns, it is a new alarm")
    func over() {
        var book = AlarmBook()
        book.update([Self.alarm("source.lost"), Self.alarm("source.lost", "alert_2", "2002")], at: 0)
        book.update([Self.alarm("source.lost", "alert_2", "2002")], at: Self.second)
        #expect(book.entries.map(\.clearedAt) == [Self.second, nil])
        book.update([Self.alarm("source.lost"), Self.alarm("source.lost", "alert_2", "2002")], at: 2 * Self.second)
        #expect(book.entries.map(\.setAt) == [0, 0, 2 * Self.second])
        book.update([], at: 3 * Self.second)
        book.update([], at: 301 * Self.second)
        #expect(book.entries.count == 3)
        book.update([], at: 302 * Self.second)
        #expect(book.entries.count == 2, "the first is five minutes old")
        book.update([], at: 304 * Self.second)
        #expect(book.entries.isEmpty)
    }

    @Test("a cleared alarm is reported with its number; if the cause returns, the alarm gets a new number")
    func changes() {
        var book = AlarmBook()
        book.update([Self.alarm("source.lost"), Self.alarm("source.stalled")], at: 0)
        let over = book.update([Self.alarm("source.stalled")], at: Self.second)
        guard case .cleared(let entry)? = over.first else {
            Issue.record("\(over)")
            return
        }
        #expect(over.count == 1 && entry.number == 1 && entry.clearedAt == Self.second)
        let both = book.update([Self.alarm("source.lost")], at: 2 * Self.second)
        let gone = both.compactMap { change -> Int64? in
            if case .cleared(let entry) = change { entry.number } else { nil }
        }
        #expect(gone == [2] && both.count == 2)
        guard case .set(let again)? = both.last else {
            Issue.record("\(both)")
            return
        }
        #expect(again.number == 3 && again.alarm.type == "source.lost" && again.clearedAt == nil)
    }

    @Test("the number of listed alarms is limited")
    func bounded() {
        var book = AlarmBook()
        for step in 0..<1000 { book.update([Self.alarm("t\(step)")], at: Int64(step)) }
        #expect(book.entries.count == AlarmBook.capacity)
        #expect(book.entries.last?.alarm.type == "t999" && book.entries.last?.clearedAt == nil)
    }

    @Test("no two causes of source health have the same alarm type")
    func words() {
        let types = SourceHealth.Cause.allCases.map(\.alarmType)
        #expect(Set(types).count == types.count)
    }
}
