import HLS
import Recording
import Testing

@Suite("Chapters of a recording")
struct ChapterTests {
    private static let start: Int64 = 1_700_000_000_000_000_000

    private static func phase(_ name: String, _ from: Int64, _ to: Int64?) -> DateRange {
        DateRange(
            id: "\(name)-\(from)", rangeClass: "live.tandem.pk", start: self.start + from * 1_000_000_000,
            end: to.map { self.start + $0 * 1_000_000_000 }, attributes: [DateRange.Attribute("TANDEM-PHASE", name)])
    }

    private static func chapters(_ ranges: [DateRange], seconds: Int64 = 100) -> [Chapter] {
        Chapter.chapters(ranges, from: self.start, to: self.start + seconds * 1_000_000_000)
    }

    @Test("a room without a PK has no chapters")
    func none() {
        let scene = DateRange(id: "s", rangeClass: "live.tandem.scene", start: Self.start)
        #expect(Self.chapters([scene]) == [])
    }

    @Test("each PK phase, and the solo time before, between and after phases, becomes a chapter")
    func phases() {
        let ranges = [
            Self.phase("countdown", 10, 13), Self.phase("pk", 13, 40), Self.phase("punish", 40, 50),
            Self.phase("pk", 70, 80),
        ]
        #expect(
            Self.chapters(ranges) == [
                Chapter(startMs: 0, title: "solo"), Chapter(startMs: 10_000, title: "countdown"),
                Chapter(startMs: 13_000, title: "pk"), Chapter(startMs: 40_000, title: "punish"),
                Chapter(startMs: 50_000, title: "solo"), Chapter(startMs: 70_000, title: "pk"),
                Chapter(startMs: 80_000, title: "solo"),
            ])
    }

    @Test("a phase that started before the recording begins at 0 ms; phases entirely outside it give no chapter")
    func edges() {
        #expect(
            Self.chapters([Self.phase("pk", -20, 30), Self.phase("pk", 90, nil)]) == [
                Chapter(startMs: 0, title: "pk"), Chapter(startMs: 30_000, title: "solo"),
                Chapter(startMs: 90_000, title: "pk"),
            ])
        #expect(Self.chapters([Self.phase("pk", -20, -10), Self.phase("pk", 200, nil)]) == [])
    }
}
