import PublishAuth
import MediaTypes
import PipelineSpec
import Testing

@Suite("The publish webhook: requests and responses in the forms of SRS, nginx-rtmp and OvenMediaEngine")
struct PublishWebhookTests {
    static let facts = PublishFacts(
        time: 1_800_000_000, connection: 7, address: IPAddress("192.0.2.7"), port: 40_000, app: "live",
        stream: "key\"1",
        query: "token=a b&NAME=x&c%61ll=y&z", tcURL: "rtmp://h/live", flashVersion: "FMLE/3.0 (x)",
        server: "127.0.0.1:1935")

    @Test("SRS: the webhook request is JSON with the publisher's query as `param`")
    func srs() throws {
        let request = PublishWebhook(form: .srs).request(for: Self.facts)
        #expect(request.contentType == "application/json" && request.fields.isEmpty)
        let root = try #require(JSONParser.parse(request.body).root)
        for (key, value) in [
            ("action", "on_publish"), ("client_id", "7"), ("ip", "192.0.2.7"), ("app", "live"), ("stream", "key\"1"),
            ("param", "?token=a b&NAME=x&c%61ll=y&z"), ("tcUrl", "rtmp://h/live"), ("stream_url", "/live/key\"1"),
        ] {
            #expect(root[key: key]?.string == value, "\(key)")
        }
    }

    @Test(
        "nginx-rtmp: the webhook request is a form that ends with the publisher's query, without the form's own names")
    func nginx() {
        let request = PublishWebhook(form: .nginx).request(for: Self.facts)
        #expect(request.contentType == "application/x-www-form-urlencoded")
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "app=live&flashver=FMLE%2F3.0%20%28x%29&swfurl=&tcurl=rtmp%3A%2F%2Fh%2Flive&pageurl=&addr=192.0.2.7"
                + "&clientid=7&call=publish&name=key%221&type=live&token=a b&z")
    }

    @Test(
        "nginx-rtmp: a query parameter that a parser may read as one of the form's own fields is left out",
        arguments: [
            "%20name=2002", "+name=2002", "%09Name=2002", "name[]=2002", "name%5B0%5D=2002", "name%00z=2002",
            "a=1;name=2002", "%name=2002", "name=\u{301}2002", "name[\u{301}]=2002",
            "a=1;\u{301};NAME\u{301}=1;name=\u{301}2",
        ])
    func nginxNames(item: String) {
        var facts = Self.facts
        facts.query = "token=a&\(item)&z=1"
        let body = String(decoding: PublishWebhook(form: .nginx).request(for: facts).body, as: UTF8.self)
        #expect(body.hasSuffix("&name=key%221&type=live&token=a&z=1"), "\(body)")
    }

    @Test(
        "OvenMediaEngine: the webhook request is JSON, and has the HMAC-SHA1 of its body in a field if there is a secret"
    )
    func ome() throws {
        let request = PublishWebhook(form: .ome, secret: "1234").request(for: Self.facts)
        let root = try #require(JSONParser.parse(request.body).root)
        #expect(root[key: "client"]?[key: "address"]?.string == "192.0.2.7")
        #expect(root[key: "client"]?[key: "port"]?.integer == 40_000)
        #expect(root[key: "request"]?[key: "status"]?.string == "opening")
        #expect(
            root[key: "request"]?[key: "url"]?.string
                == "rtmp://127.0.0.1:1935/live/key\"1?token=a b&NAME=x&c%61ll=y&z")
        #expect(root[key: "request"]?[key: "time"]?.string == "2027-01-15T08:00:00.000Z")
        let body =
            #"{"client":{"address":"192.0.2.7","port":40000,"user_agent":"FMLE/3.0 (x)"},"#
            + #""request":{"direction":"incoming","protocol":"rtmp","status":"opening","#
            + #""url":"rtmp://127.0.0.1:1935/live/key\"1?token=a b&NAME=x&c%61ll=y&z","time":"2027-01-15T08:00:00.000Z"}}"#
        #expect(String(decoding: request.body, as: UTF8.self) == body)
        // Computed for this body with Python: base64.urlsafe_b64encode(hmac.digest(b"1234", body, "sha1")), without "=".
        #expect(request.fields.map(\.name) == ["X-OME-Signature"])
        #expect(request.fields.first?.value == "LEdPoWtzsCe6z1coesY9I65wZ5s")
        #expect(PublishWebhook(form: .ome).request(for: Self.facts).fields.isEmpty)
    }

    @Test(
        "a webhook response's status and body allow, refuse or fail, as each form defines",
        arguments: [
            (.srs, 200, "0", .allowed), (.srs, 201, " 0\n", .allowed),
            (.srs, 200, #"{"code":0,"data":null}"#, .allowed),
            (.srs, 200, #"{"code":1}"#, .refused(reason: nil)), (.srs, 200, "", .failed("its answer has no code")),
            (.srs, 200, "1", .failed("its answer has no code")), (.srs, 403, "0", .refused(reason: nil)),
            (.srs, 204, "0", .refused(reason: nil)), (.srs, 302, "0", .refused(reason: nil)),
            (.srs, 500, "0", .failed("HTTP status 500")), (.nginx, 204, "", .allowed),
            (.nginx, 302, "", .refused(reason: nil)), (.nginx, 404, "", .refused(reason: nil)),
            (.nginx, 503, "", .failed("HTTP status 503")), (.ome, 200, #"{"allowed":true}"#, .allowed),
            (.ome, 200, #"{"allowed":false,"reason":"no\nway"}"#, .refused(reason: "noway")),
            (.ome, 200, #"{"allowed":1}"#, .failed("its answer has no \"allowed\"")),
            (.ome, 200, "{", .failed("its answer has no \"allowed\"")), (.ome, 401, "{}", .refused(reason: nil)),
        ] as [(PublishWebhook.Form, Int, String, PublishWebhook.Answer)])
    func answers(form: PublishWebhook.Form, status: Int, body: String, answer: PublishWebhook.Answer) {
        #expect(PublishWebhook(form: form).answer(status: status, body: Array(body.utf8)) == answer)
    }

    @Test(
        "a webhook response's status decides without its body, except 200 and 201 for SRS and 200 for OvenMediaEngine",
        arguments: [
            (.srs, 200, nil), (.srs, 201, nil), (.srs, 403, .refused(reason: nil)), (.nginx, 200, .allowed),
            (.nginx, 403, .refused(reason: nil)), (.nginx, 502, .failed("HTTP status 502")), (.ome, 200, nil),
            (.ome, 201, .refused(reason: nil)), (.ome, 500, .failed("HTTP status 500")),
        ] as [(PublishWebhook.Form, Int, PublishWebhook.Answer?)])
    func statusAlone(form: PublishWebhook.Form, status: Int, answer: PublishWebhook.Answer?) {
        #expect(PublishWebhook(form: form).answer(status: status) == answer)
    }
}
