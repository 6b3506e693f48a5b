import HLSLint
import Testing

@Suite("Lint: CODECS that declare more than the media needs")
struct CodecCompatibilityTests {
    @Test(
        "declared CODECS cover media of the same or a lower profile and level, not of a higher or another codec",
        arguments: [
            ("avc1.64001f", "avc1.4d401f", true), ("avc1.64001f", "avc1.42c01e", true),
            ("avc1.64001F", "avc1.64001f", true), ("avc1.4d401f", "avc1.64001f", false),
            ("avc1.64001f", "avc1.640028", false), ("avc1.64001f", "avc1.6e001f", false),
            ("mp4a.40.2", "avc1.64001f", false), ("avc1.64001f", "mp4a.40.2", false), ("avc1.64", "avc1.64001f", false),
            ("mp4a.40.5", "mp4a.40.2", true), ("mp4a.40.29", "mp4a.40.5", true), ("mp4a.40.2", "mp4a.40.5", false),
            ("mp4a.40.5", "avc1.64001f", false), ("mp4a.40.5", "mp4a.40.34", false),
        ])
    func covers(declared: String, found: String, isCovered: Bool) {
        #expect(CodecCompatibility.covers(declared, found) == isCovered)
    }
}
