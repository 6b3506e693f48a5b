import HLS
import Testing

@Suite("Delivery directives: rfc8216bis §6.2.5")
struct ReloadDirectivesTests {
    @Test("_HLS_msn, _HLS_part and _HLS_skip are read, other parameters are ignored")
    func read() {
        let directives = ReloadDirectives(query: [
            ("token", "a"), ("_HLS_part", "3"), ("_HLS_msn", "17"), ("_HLS_skip", "YES"), ("_HLS_other", "?"),
        ])
        #expect(directives.mediaSequence == 17 && directives.part == 3 && directives.skips)
        #expect(directives.fault == nil && !directives.isImmediate)
        #expect(ReloadDirectives(query: [("token", "a")]) == ReloadDirectives())
    }

    @Test(
        "an invalid _HLS_msn or _HLS_part is an error",
        arguments: ["", "-1", "+1", "1.0", "0x1", " 1", "1 ", "9223372036854775808", "١", "YES"])
    func numbers(text: String) {
        #expect(ReloadDirectives(query: [("_HLS_msn", text)]).fault != nil)
        #expect(ReloadDirectives(query: [("_HLS_msn", "1"), ("_HLS_part", text)]).fault != nil)
    }

    @Test("_HLS_part without _HLS_msn, and a repeated _HLS_msn, are errors")
    func contradictions() {
        #expect(ReloadDirectives(query: [("_HLS_part", "1")]).fault?.contains("_HLS_msn") == true)
        #expect(ReloadDirectives(query: [("_HLS_msn", "1"), ("_HLS_msn", "1")]).fault != nil)
    }

    @Test(
        "only the values YES and v2 of _HLS_skip request a delta update",
        arguments: [("YES", true), ("v2", true), ("NO", false)])
    func skips(value: String, expected: Bool) {
        let directives = ReloadDirectives(query: [("_HLS_skip", value)])
        #expect(directives.skips == expected && directives.fault == nil)
        #expect(directives.skipsDateRanges == (value == "v2"))
    }
}
