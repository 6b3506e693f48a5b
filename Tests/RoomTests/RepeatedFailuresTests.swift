import MediaTypes
import RoomOutputs
import Testing

@Suite("Rate limit of a failure that repeats with every segment")
struct RepeatedFailuresTests {
    @Test(
        "of failures that repeat, the first of a kind is reported at once, then one in ten seconds with the number suppressed"
    )
    func paced() {
        var failures = RepeatedFailures()
        let second = TimeMath.nanoseconds
        #expect(failures.tells(.diskFull, at: 5) == 0)
        for index in Int64(1)...9 { #expect(failures.tells(.diskFull, at: 5 + index * second) == nil) }
        #expect(failures.tells(.rejected, at: 6 * second) == 0, "another kind")
        #expect(failures.tells(.diskFull, at: 5 + RepeatedFailures.interval) == 9)
        #expect(failures.tells(.diskFull, at: 6 + 2 * RepeatedFailures.interval) == 0, "none was suppressed")
    }
}
