import TestSupport
import Testing

@Suite("Test support: external programs that tests need, and timeouts of waitUntil")
struct TestToolTests {
    @Test("where tools are required, a missing ffmpeg or ffprobe is a failure, a missing mpv or hls.js is not")
    func required() {
        for tool in ["ffmpeg", "ffprobe"] {
            #expect(TestTool.isFailure(missing: tool, areRequired: true), "\(tool)")
            #expect(!TestTool.isFailure(missing: tool, areRequired: false), "\(tool)")
        }
        #expect(!TestTool.isFailure(missing: "mpv", areRequired: true))
        #expect(!TestTool.isFailure(missing: "hls.js", areRequired: true), "a package index may be unavailable")
    }

    @Test("TestTool.path finds sh, and returns nil for an unknown program")
    func path() {
        #expect(TestTool.path("sh")?.hasSuffix("/sh") == true)
        #expect(TestTool.path("no-such-program-of-tandem") == nil)
    }

    @Test("a timeout of waitUntil names the condition and the last value")
    func waitInVain() async {
        let error = await #expect(throws: WaitTimeout.self) {
            try await waitUntil("a number over 9", seconds: 0, { 7 }) { $0 > 9 }
        }
        #expect(error?.description == "not within 0 s: a number over 9; seen last: 7")
    }
}
