import MediaTypes
import Room
import RoomOutputs
import Testing

@Suite("Result and exit code of an ended room")
struct RoomResultTests {
    private static func error(_ code: MediaError.Code) -> MediaError {
        MediaError(code, "no space", at: "hls", fix: "make space")
    }

    private static func damage(_ code: MediaError.Code, segments: Int64) -> OutputDamage {
        var damage = OutputDamage()
        for _ in 0..<segments { damage.lost(1, of: "hls", because: Self.error(code)) }
        if segments == 0 { damage.lost(of: "hls", because: Self.error(code)) }
        return damage
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var outcome: RoomOutcome = .ended
        var isOffline = false
        var damage = OutputDamage()
        var pendingWork: MediaError?
        var word: String
        /// nil: exit code 0, or 143 if a successor continues the room.
        var code: MediaError.Code?
    }

    private static let cases = [
        Case(testDescription: "a live room without lost segments", word: "ended"),
        Case(testDescription: "a live room with gaps", damage: Self.damage(.diskFull, segments: 9), word: "damaged"),
        Case(
            testDescription: "a live room with gaps and an unfinished recording",
            damage: Self.damage(.diskFull, segments: 9), pendingWork: Self.error(.unfinished), word: "damaged",
            code: .unfinished),
        Case(
            testDescription: "a live room whose recording has no space",
            pendingWork: Self.error(.diskFull), word: "ended", code: .unfinished),
        Case(
            testDescription: "a live room whose recording is not readable",
            pendingWork: Self.error(.invalidData), word: "ended", code: .invalidData),
        Case(testDescription: "an offline job without lost segments", isOffline: true, word: "ended"),
        Case(
            testDescription: "an offline job on a full disk", isOffline: true,
            damage: Self.damage(.diskFull, segments: 9),
            word: "damaged", code: .diskFull),
        Case(
            testDescription: "an offline job on a disk that fails", isOffline: true,
            damage: Self.damage(.outputLost, segments: 1), word: "damaged", code: .outputLost),
        Case(
            testDescription: "an offline job whose raw video is cut off", isOffline: true,
            damage: Self.damage(.outputLost, segments: 0), word: "damaged", code: .outputLost),
        Case(
            testDescription: "an offline job with gaps and unfinished work", isOffline: true,
            damage: Self.damage(.diskFull, segments: 1), pendingWork: Self.error(.unfinished), word: "damaged",
            code: .diskFull),
        Case(
            testDescription: "an offline job with unfinished work", isOffline: true,
            pendingWork: Self.error(.unfinished),
            word: "ended", code: .unfinished),
        Case(
            testDescription: "a drained room with gaps", outcome: .drained,
            damage: Self.damage(.diskFull, segments: 9), word: "drained"),
        Case(testDescription: "a superseded worker", outcome: .superseded, word: "superseded"),
        Case(
            testDescription: "a room that failed", outcome: .failed(Self.error(.internal)),
            damage: Self.damage(.diskFull, segments: 9), word: "failed", code: .internal),
    ]

    @Test(
        "the outcome and error code of a room follow from how it ended, its lost segments and its unfinished work",
        arguments: Self.cases)
    func result(one: Case) {
        let result = RoomResult(one.outcome, isOffline: one.isOffline, damage: one.damage, pendingWork: one.pendingWork)
        #expect(result.word == one.word && result.error?.code == one.code)
    }

    @Test("an offline job's error says how many of its segments were lost")
    func extent() {
        let damage = Self.damage(.diskFull, segments: 9)
        let result = RoomResult(.ended, isOffline: true, damage: damage, pendingWork: nil, published: 10)
        #expect(result.error?.what.contains("9 of 10 segments") == true && damage.lostSegments == 9)
    }

    @Test("each damaged output has one alarm, with its number of lost segments or as incomplete")
    func alarms() {
        var damage = Self.damage(.diskFull, segments: 2)
        damage.lost(of: "raw", because: Self.error(.outputLost))
        #expect(damage.alarms.map(\.message) == ["hls has lost 2 segments: no space", "raw is incomplete: no space"])
        #expect(damage.alarms.allSatisfy { $0.type == "output.damaged" && $0.severity == "alert_3" })
        #expect(OutputDamage().alarms.isEmpty)
    }
}
