import TestSupport
import Testing

@Suite("Programs that tests need of the machine")
struct TestToolTests {
    @Test("what .ci/deps installs fails a test if it is missing where tools are required")
    func required() {
        for tool in ["ffmpeg", "ffprobe"] {
            #expect(TestTool.isFailure(missing: tool, areRequired: true), "\(tool)")
            #expect(!TestTool.isFailure(missing: tool, areRequired: false), "\(tool)")
        }
        #expect(!TestTool.isFailure(missing: "mpv", areRequired: true))
        #expect(!TestTool.isFailure(missing: "hls.js", areRequired: true), "a package index may be away")
    }

    @Test("a program is found by its name, and one that is not there is not")
    func path() {
        #expect(TestTool.path("sh")?.hasSuffix("/sh") == true)
        #expect(TestTool.path("no-such-program-of-tandem") == nil)
    }

    @Test("a wait in vain says what was waited for and what was seen last")
    func waitInVain() async {
        let error = await #expect(throws: WaitTimeout.self) {
            try await waitUntil("a number over 9", seconds: 0, { 7 }) { $0 > 9 }
        }
        #expect(error?.description == "not within 0 s: a number over 9; seen last: 7")
    }
}
