import RoomSources
import Testing

import Room

@Suite("ActiveAlarms: a room's active and cleared alarms")
struct ActiveAlarmsTests {
    private static let second: Int64 = 1_000_000_000

    private static func alarm(_ type: String, _ severity: String = "alert_2", _ subject: String? = "1001")
        -> ActiveAlarms.Alarm
    {
        ActiveAlarms.Alarm(type, severity, kind: "source", subject: subject, message: "m")
    }

    @Test("an active alarm is reported once, and again if its severity changes, with its first start time")
    func holds() {
        var alarms = ActiveAlarms()
        let first = alarms.update([Self.alarm("source.lost")], at: 10)
        #expect(first == alarms.entries.map { .set($0) } && first.count == 1)
        #expect(alarms.update([Self.alarm("source.lost")], at: 15).isEmpty, "it is reported once")
        let second = alarms.update([Self.alarm("source.lost", "alert_3")], at: 20)
        #expect(second == alarms.entries.map { .set($0) }, "and again with another severity")
        #expect(alarms.entries.count == 1)
        #expect(alarms.entries[0].setAt == 10 && alarms.entries[0].clearedAt == nil)
        #expect(alarms.entries[0].alarm.severity == "alert_3")
    }

    @Test("a cleared alarm stays listed for five minutes; if the cause returns, it is a new alarm")
    func over() {
        var alarms = ActiveAlarms()
        alarms.update([Self.alarm("source.lost"), Self.alarm("source.lost", "alert_2", "2002")], at: 0)
        alarms.update([Self.alarm("source.lost", "alert_2", "2002")], at: Self.second)
        #expect(alarms.entries.map(\.clearedAt) == [Self.second, nil])
        alarms.update([Self.alarm("source.lost"), Self.alarm("source.lost", "alert_2", "2002")], at: 2 * Self.second)
        #expect(alarms.entries.map(\.setAt) == [0, 0, 2 * Self.second])
        alarms.update([], at: 3 * Self.second)
        alarms.update([], at: 301 * Self.second)
        #expect(alarms.entries.count == 3)
        alarms.update([], at: 302 * Self.second)
        #expect(alarms.entries.count == 2, "the first is five minutes old")
        alarms.update([], at: 304 * Self.second)
        #expect(alarms.entries.isEmpty)
    }

    @Test("a cleared alarm is reported with its number; if the cause returns, the alarm gets a new number")
    func changes() {
        var alarms = ActiveAlarms()
        alarms.update([Self.alarm("source.lost"), Self.alarm("source.stalled")], at: 0)
        let over = alarms.update([Self.alarm("source.stalled")], at: Self.second)
        guard case .cleared(let entry)? = over.first else {
            Issue.record("\(over)")
            return
        }
        #expect(over.count == 1 && entry.number == 1 && entry.clearedAt == Self.second)
        let both = alarms.update([Self.alarm("source.lost")], at: 2 * Self.second)
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

    @Test("of a thousand alarms, each cleared when the next is set, only a limited number stay listed, the newest last")
    func bounded() {
        var alarms = ActiveAlarms()
        for step in 0..<1000 { alarms.update([Self.alarm("t\(step)")], at: Int64(step)) }
        #expect(alarms.entries.count == ActiveAlarms.capacity)
        #expect(alarms.entries.last?.alarm.type == "t999" && alarms.entries.last?.clearedAt == nil)
    }

    @Test("no two causes of source health have the same alarm type")
    func words() {
        let types = SourceHealth.Cause.allCases.map(\.alarmType)
        #expect(Set(types).count == types.count)
    }
}
