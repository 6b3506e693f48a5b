import HTTPProbe
import Testing

import Events

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("Event journal")
struct EventJournalTests {
    private static func event(_ number: Int64, _ more: String = "") -> EventRecord {
        EventRecord(
            sequence: number, type: "source.live",
            line: #"{"type":"source.live","time":"t","sequence":\#(number),"uid":"\#(more)"}"#)
    }

    @Test("a successor reads the journal's complete events and skips a line cut off by a crash; the file is private")
    func successor() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/room"
        let events = (1...5).map { Self.event(Int64($0)) }
        let journal = EventJournal(directory: path)
        for event in events { journal.append(event) }
        journal.flush()
        #expect(EventJournal.read(directory: path) == events)
        // A worker that was killed while it wrote.
        let file = open(path + "/" + EventJournal.name, O_WRONLY | O_APPEND)
        let half = Array(#"{"type":"source.live","time":"t","sequ"#.utf8)
        #expect(half.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == half.count)
        close(file)
        let next = EventJournal(directory: path)
        next.append(Self.event(6))
        next.flush()
        #expect(EventJournal.read(directory: path) == events + [Self.event(6)])
        var facts = stat()
        #expect(stat(path + "/" + EventJournal.name, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600, "it contains publishers' addresses")
        directory.remove()
    }

    @Test("the journal's two files together stay near their size limit, and the newest event is in them")
    func turning() throws {
        let directory = try TemporaryDirectory()
        let journal = EventJournal(directory: directory.path)
        let filling = String(repeating: "x", count: 100_000)
        for number in 1...130 {
            journal.append(Self.event(Int64(number), filling))
            journal.flush()
        }
        var bytes = 0
        for name in [EventJournal.name, EventJournal.earlierName] {
            var facts = stat()
            #expect(stat("\(directory.path)/\(name)", &facts) == 0)
            bytes += Int(facts.st_size)
        }
        #expect(bytes < 2 * EventJournal.fileBytes + 300_000)
        #expect(EventJournal.read(directory: directory.path).last?.sequence == 130)
        directory.remove()
    }

    @Test("journal lines that are not events, or have no valid sequence number, are skipped")
    func foreign() throws {
        let directory = try TemporaryDirectory()
        let file = open(directory.path + "/" + EventJournal.name, O_WRONLY | O_CREAT, 0o600)
        let bytes =
            Array(
                "\n{}\n{\"type\":\"\nhello\n{\"type\":\"a\"}\n{\"type\":\"a\",\"sequence\":99999999999999999999}\n".utf8
            )
            + Array("{\"type\":\"a\",\"sequence\":9223372036854775807}\n{\"type\":\"a\",\"sequence\":0}\n".utf8)
            + [0x22, 0xFF, 0x0A] + Array(Self.event(7).line.utf8)
        #expect(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
        close(file)
        #expect(EventJournal.read(directory: directory.path) == [Self.event(7)])
        directory.remove()
    }
}
