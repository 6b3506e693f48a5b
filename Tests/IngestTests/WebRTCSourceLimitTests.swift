import OpenSSLCrypto
import Testing
import WebRTC

@Suite("Limits of the sources of one WebRTC publisher")
struct WebRTCSourceLimitTests {
    @Test("SRTP accepts as many SSRCs as the table of streams: three layers with retransmissions, and audio")
    func sources() {
        #expect(SRTPReceiver.mostSSRCs >= StreamTable.mostEntries)
        #expect(StreamTable.mostEntries >= 2 * StreamTable.mostLayers + 1)
    }
}
