import Events
import Retention
import Room
import RoomSources
import Testing

@Suite("gc: names of the files that workers write")
struct WorkerNamesTests {
    @Test("gc knows the file names that are defined in modules it does not import")
    func notes() {
        let names = [
            CommandedState.name, CommandedState.name + Resumption.asideSuffix, CrashQuarantine.name, DeliveryLog.name,
            DeliveryLog.temporaryName, EventJournal.name, EventJournal.earlierName, OverloadRecord.name,
        ]
        #expect(WorkerNames.notes == Set(names))
    }
}
