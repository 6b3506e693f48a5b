import Testing

import Events

@Suite("Headers and body of delivered events")
struct EventFormTests {
    /// The secret, message and signature are those of the reference libraries of Standard Webhooks.
    @Test("a webhook's signature equals the Standard Webhooks example; with two secrets there are two signatures")
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

    @Test("a webhook's body is a CloudEvents 1.0 envelope whose data is the event's line in the journal")
    func envelope() {
        let line =
            #"{"type":"source.live","time":"2026-11-20T22:12:18.136Z","sequence":42,"roomId":"a.b-1","incarnation":3,"uid":"1001","x":[1]}"#
        let event = CloudEvent(EventRecord(sequence: 42, type: "source.live", line: line), roomID: "a.b-1")
        #expect(event.id == "a_b-1-3-42-20261120T221218136Z", "a full stop would separate the signed fields")
        #expect(
            String(decoding: event.body, as: UTF8.self)
                == #"{"specversion":"1.0","id":"a_b-1-3-42-20261120T221218136Z","source":"/tandem/rooms/a.b-1/incarnations/3","#
                + #""type":"dev.tandem.source.live.v1","#
                + #""subject":"sources/1001","time":"2026-11-20T22:12:18.136Z","datacontenttype":"application/json","#
                + #""sequence":"000000000042","data":\#(line)}"#)
    }

    @Test(
        "a CloudEvent's subject has the event's own uid, not a uid inside a list, a nested object or a text",
        arguments: [
            (#""program":{"peakDb":-3.1},"sources":[{"uid":"1001","peakDb":-9.0},{"uid":"2002"}]"#, nil),
            (#""reason":"\"uid\":\"1001\" {","list":["uid"]"#, nil), (#""uid":null,"alarm":{"uid":"1001"}"#, nil),
            (#""alarm":{"uid":"1001","say":"} \\"},"uid":"2002""#, "2002"),
        ] as [(String, String?)])
    func subject(members: String, uid: String?) {
        let common = #""type":"a.b","time":"2026-11-20T22:12:18.136Z","sequence":1,"roomId":"r","incarnation":1"#
        let line = "{\(common),\(members)}"
        let event = CloudEvent(EventRecord(sequence: 1, type: "a.b", line: line), roomID: "r")
        let envelope = String(decoding: event.body, as: UTF8.self).prefix { $0 != "[" }
        #expect(envelope.contains(#""subject":"sources/"#) == (uid != nil))
        #expect(uid.map { envelope.contains(#""subject":"sources/\#($0)""#) } ?? true)
    }

    @Test(
        "CloudEvents ids differ by incarnation, sequence number and time, so a worker that lost its state reuses none")
    func ids() {
        func id(_ incarnation: Int, _ sequence: Int64, _ second: Int) -> String {
            let line =
                #"{"type":"a.b","time":"2026-11-20T22:12:1\#(second).136Z","sequence":\#(sequence),"roomId":"r","incarnation":\#(incarnation)}"#
            return CloudEvent(EventRecord(sequence: sequence, type: "a.b", line: line), roomID: "r").id
        }
        #expect(Set([id(1, 1, 0), id(2, 1, 0), id(1, 2, 0), id(1, 1, 1)]).count == 4)
        #expect(id(1, 1, 0) == id(1, 1, 0), "the same at every attempt, from any worker")
    }

    @Test("a webhook's displayed URL has only scheme, host and port")
    func shown() {
        for (url, shown) in [
            ("https://user:pass@hooks.example:8443/t/0k3n?key=1", "https://hooks.example:8443"),
            ("http://h?token=1", "http://h"), ("http://h", "http://h"),
        ] { #expect(Webhook(url: url).shownURL == shown) }
    }
}
