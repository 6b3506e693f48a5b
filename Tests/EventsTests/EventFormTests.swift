import Testing

import Events

@Suite("Events on their way out")
struct EventFormTests {
    /// The example of the specification's reference libraries.
    @Test("a Standard Webhooks signature, and one for each secret while they change")
    func signature() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let field = WebhookSignature(secrets: [secret]).field(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: body)
        #expect(field == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        let two = WebhookSignature(secrets: ["plain", secret]).field(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: body)
        #expect(two?.split(separator: " ").count == 2)
        #expect(two?.hasSuffix("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=") == true)
        #expect(WebhookSignature(secrets: [""]).field(id: "a", timestamp: 0, body: []) == nil)
    }

    @Test("the envelope is a CloudEvent around the event as it is everywhere else")
    func envelope() {
        let line =
            #"{"type":"source.live","time":"2026-11-20T22:12:18.136Z","sequence":42,"roomId":"a.b-1","incarnation":3,"uid":"1001","x":[1]}"#
        let event = CloudEvent(RoomEvent(sequence: 42, type: "source.live", line: line), roomID: "a.b-1")
        #expect(event.id == "a_b-1-3-42-20261120T221218136Z", "a full stop would part what is signed")
        #expect(
            String(decoding: event.body, as: UTF8.self)
                == #"{"specversion":"1.0","id":"a_b-1-3-42-20261120T221218136Z","source":"/tandem/rooms/a.b-1/incarnations/3","#
                + #""type":"dev.tandem.source.live.v1","#
                + #""subject":"sources/1001","time":"2026-11-20T22:12:18.136Z","datacontenttype":"application/json","#
                + #""sequence":"000000000042","data":\#(line)}"#)
    }

    @Test("no two events have one id: of two workers, nor of two first ones whose states are lost")
    func ids() {
        func id(_ incarnation: Int, _ sequence: Int64, _ second: Int) -> String {
            let line =
                #"{"type":"a.b","time":"2026-11-20T22:12:1\#(second).136Z","sequence":\#(sequence),"roomId":"r","incarnation":\#(incarnation)}"#
            return CloudEvent(RoomEvent(sequence: sequence, type: "a.b", line: line), roomID: "r").id
        }
        #expect(Set([id(1, 1, 0), id(2, 1, 0), id(1, 2, 0), id(1, 1, 1)]).count == 4)
        #expect(id(1, 1, 0) == id(1, 1, 0), "the same at every attempt, whoever makes it")
    }

    @Test("a webhook shows scheme and host, nothing that could be a secret")
    func shown() {
        for (url, shown) in [
            ("https://user:pass@hooks.example:8443/t/0k3n?key=1", "https://hooks.example:8443"),
            ("http://h?token=1", "http://h"), ("http://h", "http://h"),
        ] { #expect(Webhook(url: url).shownURL == shown) }
    }
}
