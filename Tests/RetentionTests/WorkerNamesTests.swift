import Events
import Retention
import Room
import RoomSources
import Testing

@Suite("gc: names of the files that workers write")
struct WorkerNamesTests {
    @Test("the names that modules above Retention define are those that gc knows")
    func notes() {
        let names = [
            CommandedState.name, CommandedState.name + Resumption.asideSuffix, CrashQuarantine.name, EventJournal.name,
            EventJournal.earlierName, OverloadRecord.name,
        ]
        #expect(WorkerNames.notes == Set(names))
    }
}
