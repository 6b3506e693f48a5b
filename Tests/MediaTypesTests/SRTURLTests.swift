import MediaTypes
import Testing

@Suite("URLs of SRT listeners")
struct SRTURLTests {
    @Test("host, port and query parameters of an SRT URL are parsed, and the stream id is percent-decoded")
    func reading() throws {
        let url = try #require(
            SRTURL(
                "srt://[::1]:9000?mode=caller&streamid=%23!::r=live/a%26b,m=request&latency=300&passphrase=0123456789&pbkeylen=32"
            ))
        #expect(url.host == "::1" && url.port == 9000)
        #expect(url.streamID == "#!::r=live/a&b,m=request")
        #expect(url.latencyMs == 300 && url.passphrase == "0123456789" && url.keyLength == 32)
        let plain = try #require(SRTURL("SRT://example.org:7/"))
        #expect(plain.host == "example.org" && plain.port == 7 && plain.streamID.isEmpty)
        #expect(plain.latencyMs == 120 && plain.passphrase.isEmpty && plain.keyLength == 0)
    }

    @Test("an SRT URL's redacted form has only host and port, no stream id or passphrase")
    func redacted() throws {
        let url = try #require(SRTURL("srt://h:1?streamid=hunter2&passphrase=hunter2hunter2"))
        #expect(url.redacted == "srt://h:1")
    }

    @Test(
        "SRT URLs with another scheme, an invalid host or port, or an invalid or unknown parameter are refused",
        arguments: [
            "rtmp://h:1/a/b", "srt://h", "srt://h:0", "srt://h:65536", "srt://:9", "srt://h:9?mode=listener",
            "srt://h:9?latency=5", "srt://h:9?passphrase=short", "srt://h:9?pbkeylen=17", "srt://h:9?unknown=1",
            "srt://h:9?streamid", "srt://h:9?streamid=%0", "srt://h:9?streamid=%00", "srt://h:9?streamid=%ff",
            "srt://u@h:9", "srt://a/b:9", "srt://::1:9", "srt://h:9?streamid=" + String(repeating: "a", count: 513),
        ])
    func others(text: String) { #expect(SRTURL(text) == nil) }
}
