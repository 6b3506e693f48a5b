import OpenSSLCrypto
import Testing
import WebRTC

@Suite("Limits of the sources of one WebRTC publisher")
struct WebRTCSourceLimitTests {
    @Test(
        "SRTP accepts at least as many SSRCs as the stream table, which holds three layers with retransmissions and audio"
    )
    func sources() {
        #expect(SRTPReceiver.mostSSRCs >= StreamTable.mostEntries)
        #expect(StreamTable.mostEntries >= 2 * StreamTable.mostLayers + 1)
    }
}
