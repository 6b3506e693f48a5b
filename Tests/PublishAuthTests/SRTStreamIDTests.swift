import PublishAuth
import RTMP
import Testing

@Suite("SRT stream id: the forms in which encoders send the stream key")
struct SRTStreamIDTests {
    @Test(
        "the plain form, `publish:` and `#!::` with or without the app all give the same stream key",
        arguments: [
            "k1", "live/k1", "/live/k1", "publish:k1", "publish:live/k1", "#!::r=k1", "#!::r=live/k1,m=publish",
            "#!::m=publish,r=/live/k1,u=anna,h=example.org,s=1,t=stream", "#!::u=k1", "#!::u=k1,m=publish,r=",
        ])
    func forms(text: String) {
        guard case .publish(let address) = SRTStreamID.read(text, app: "live") else {
            Issue.record("not read: \(text)")
            return
        }
        #expect(address.key(app: "live") == "k1")
    }

    @Test("an SRT stream id with the query of a signed key gives stream name and query")
    func query() {
        guard case .publish(let address) = SRTStreamID.read("#!::r=live/1001?e=9&n=x&s=a-b_c=,m=publish", app: "live")
        else {
            Issue.record("not read")
            return
        }
        #expect(address.key(app: "live") == "1001")
        #expect(address.rawQuery == "e=9&n=x&s=a-b_c=")
    }

    @Test(
        "SRT stream ids that ask to play or for both directions are refused",
        arguments: ["#!::r=k1,m=request", "#!::r=k1,m=bidirectional", "read:k1"])
    func players(text: String) { #expect(SRTStreamID.read(text, app: "live") == .otherMode) }

    @Test(
        "an SRT stream id that is empty, cut off, too long or contains a NUL is malformed",
        arguments: ["", "/", "#!::", "#!::r", "#!::m=publish", "a\u{0}b", String(repeating: "a", count: 513)])
    func malformed(text: String) { #expect(SRTStreamID.read(text, app: "live") == .malformed) }

    @Test("publish refusals have the expected SRT rejection codes")
    func codes() {
        #expect(PublishRefusal.denied.srtCode == 1401)
        #expect(PublishRefusal.expired.srtCode == 1401)
        #expect(PublishRefusal.address.srtCode == 1403)
        #expect(PublishRefusal.busy.srtCode == 1409)
        #expect(PublishRefusal.quarantined.srtCode == 1423)
        #expect(PublishRefusal.ended.srtCode == 1503 && PublishRefusal.handedOver.srtCode == 1503)
    }
}
