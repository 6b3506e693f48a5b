import HLS
import HLSTestKit
import MediaTypes
import Packager
import Recording
import Testing

@Suite("The journal of a recording")
struct RecordingJournalTests {
    static func segmentIndex(_ number: Int64, incarnation: Int64 = 1, gap: Bool = false) -> ListedSegmentSet {
        func track(_ name: String, _ kind: TrackKind) -> ListedSegmentSet.Track {
            let timescale: Int32 = kind == .video ? 30_000 : 48_000
            return ListedSegmentSet.Track(
                name: name, kind: kind,
                segment: Segment(
                    mediaSequence: number, uri: "\(name)-\(incarnation)-\(number).m4s",
                    start: number * 2 * Int64(timescale),
                    duration: MediaDuration(ticks: 2 * Int64(timescale), timescale: timescale),
                    programDate: 1_700_000_000_000_000_000 + number * 2_000_000_000,
                    map: InitializationSegment(uri: "\(name)-\(incarnation).mp4"), discontinuity: number == 3,
                    gap: gap, byteCount: gap ? 0 : 1_000, independent: true,
                    keyFrames: kind == .video && number == 3
                        ? [KeyFrame(start: 180_000, offset: 24, byteCount: 80)] : []))
        }
        return ListedSegmentSet(
            mediaSequence: number, incarnation: incarnation, frames: number * 60..<(number + 1) * 60,
            tracks: [track("720p", .video), track("audio", .audio)])
    }

    private static let range = DateRange(
        id: "pk-1-1", rangeClass: "live.tandem.pk", start: 1_700_000_002_000_000_000,
        attributes: [DateRange.Attribute("TANDEM-PHASE", "pk"), DateRange.Attribute("TANDEM-UIDS", "1001,2002")])

    @Test("a recording's journal has the same content after it is written and read")
    func roundTrip() throws {
        let segmentSets = [
            Self.segmentIndex(0), Self.segmentIndex(1, gap: true), Self.segmentIndex(2, incarnation: 2),
            Self.segmentIndex(3, incarnation: 2),
        ]
        var text = RecordingJournal.head(roomID: "88231")
        for segmentIndex in segmentSets { text += RecordingJournal.line(segmentIndex) }
        text += RecordingJournal.line(.opened(Self.range))
        text += RecordingJournal.line(.closed(id: "pk-1-1", end: 1_700_000_004_000_000_000))
        text += RecordingJournal.stop("no\tspace\nleft") + RecordingJournal.end(nextMediaSequence: 5)
        let journal = try RecordingJournal(text: text)
        #expect(journal.roomID == "88231" && journal.isEnded && journal.segmentSets == segmentSets)
        #expect(journal.stopReason == "no space left" && journal.endMediaSequence == 5)
        #expect(RecordingCoverage(journal).missing == 2, "one was lost, one not recorded")
        // Written before the journal recorded their number.
        #expect(try RecordingJournal(text: RecordingJournal.head(roomID: "1") + "end\n").isEnded)
        let range = try #require(journal.ranges.first)
        #expect(range.attributes == Self.range.attributes && range.end == 1_700_000_004_000_000_000)
    }

    @Test("from a journal that is truncated anywhere, the complete lines are read")
    func cut() throws {
        let lines = [RecordingJournal.head(roomID: "1")] + (0..<3).map { RecordingJournal.line(Self.segmentIndex($0)) }
        let bytes = Array(lines.joined().utf8)
        let first = lines[0].utf8.count
        for count in first...bytes.count {
            let text = String(decoding: bytes[..<count], as: UTF8.self)
            let whole = text.utf8.count { $0 == UInt8(ascii: "\n") } - 1
            #expect(try RecordingJournal(text: text).segmentSets.count == whole)
        }
    }

    @Test(
        "in a journal, a new worker's segment replaces one with the same number; later lines of the old worker are ignored"
    )
    func incarnations() throws {
        var text = RecordingJournal.head(roomID: "1")
        for number: Int64 in 0...2 { text += RecordingJournal.line(Self.segmentIndex(number)) }
        for number: Int64 in 2...4 { text += RecordingJournal.line(Self.segmentIndex(number, incarnation: 2)) }
        text += RecordingJournal.line(Self.segmentIndex(3, incarnation: 1))
        let journal = try RecordingJournal(text: text)
        #expect(journal.segmentSets.map(\.mediaSequence) == [0, 1, 2, 3, 4])
        #expect(journal.segmentSets.map(\.incarnation) == [1, 1, 2, 2, 2])
        #expect(journal.replaced == ["720p-1-2.m4s", "audio-1-2.m4s", "720p-1-3.m4s", "audio-1-3.m4s"])
    }

    @Test(
        "a recording's journal with an invalid line is refused",
        arguments: [
            "slot\t1\t1\t0\t60", "slot\t1\t1\t60\t0\t720p\tvideo\ta.m4s\ta.mp4\t0\t1\t30\t0\t1\t0",
            "slot\t1\t1\t0\t60\t720p\tvideo\t../a.m4s\ta.mp4\t0\t1\t30\t0\t1\t0",
            "slot\t1\t1\t0\t60\t720p\tvideo\ta.m4s\ta.mp4\t0\t1\t0\t0\t1\t0",
            "slot\t1\t1\t0\t60\t720p\tvideo\ta.m4s\ta.mp4\t-1\t1\t30\t0\t1\t0",
            "slot\t1\t1\t0\t60\t720p\tvideo\ta.m4s\ta.mp4\t0\t99999999999999999999\t30\t0\t1\t0",
            "open\tid", "close\tid\tlater", "nothing", "open\tid\tlive.tandem.pk\t-9223372036854775808",
            "close\tid\t-1", "close\tid\t9223372036854775807",
        ])
    func damage(line: String) {
        let text = RecordingJournal.head(roomID: "1") + RecordingJournal.line(Self.segmentIndex(0)) + line + "\n"
        #expect(throws: RecordingJournal.Damage.self) { try RecordingJournal(text: text) }
        #expect(throws: RecordingJournal.Damage.self) { try RecordingJournal(text: line + "\n") }
    }

    @Test("the time to read a journal's date ranges grows in proportion to their number, for thousands of them")
    func many() throws {
        let ratio = try Growth.ratio(small: 2_000, large: 20_000) { count in
            var text = RecordingJournal.head(roomID: "1")
            for number in 0..<count {
                let range = DateRange(
                    id: "live.tandem.score-1-\(number)", rangeClass: "live.tandem.score", start: Int64(number) * 1_000)
                text += RecordingJournal.line(.opened(range))
                text += RecordingJournal.line(.closed(id: range.id, end: Int64(number) * 1_000 + 1_000))
            }
            let ranges = try RecordingJournal(text: text).ranges
            #expect(ranges.count == count && ranges.allSatisfy { $0.end == $0.start + 1_000 })
        }
        #expect(ratio < 40, "\(ratio): 10 is in proportion, 100 its square")
    }
}
