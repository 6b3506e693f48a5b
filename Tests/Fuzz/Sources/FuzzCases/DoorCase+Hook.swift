import PublishAuth
import MediaTypes
import PipelineSpec

/// Publish webhook requests made from a publisher's data, and their answers.
///
/// Input: form (1 byte), status (2 bytes), then, separated by line feeds, stream, query, `tcUrl`, the encoder's name
/// and the answer.
extension DoorCase {
    static func hookSeeds() -> [(name: String, bytes: [UInt8])] {
        let answers: [(UInt8, Int, String)] = [
            (0, 200, "0"), (0, 201, "{\"code\":0}"), (0, 200, "{\"code\":1,\"data\":null}"), (0, 500, "x"),
            (1, 204, ""), (1, 302, ""), (2, 200, "{\"allowed\":true,\"lifetime\":0}"),
            (2, 200, "{\"allowed\":false,\"reason\":\"Pay first.\"}"), (2, 200, "{\"allowed\":1}"),
        ]
        return answers.enumerated().map { index, answer in
            let head = [answer.0, UInt8(answer.1 >> 8), UInt8(answer.1 & 255)]
            let said = "anna\na=b&name=x&c%61ll=y;addr=z&%20app[]=w\nrtmp://h/live\nFMLE/3.0\n\(answer.2)"
            return ("hook.\(index)", [6] + head + Array(said.utf8))
        }
    }

    static func hook(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let forms = PublishWebhook.Form.allCases
        let hook = PublishWebhook(form: forms[Int(input.byte()) % forms.count], secret: "s3cr3t")
        let status = Int(input.number(2))
        let lines = input.rest().split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false)
        func text(_ index: Int) -> String { lines.count > index ? String(decoding: lines[index], as: UTF8.self) : "" }
        let facts = PublishFacts(
            time: 1_800_000_000, connection: 7, address: IPAddress("192.0.2.7"), port: 40_000, app: "live",
            stream: text(0), query: text(1), tcURL: text(2), flashVersion: text(3), server: "127.0.0.1:1935")
        if let broken = Self.question(hook.request(for: facts), hook.form, text(0)) { return broken }
        return Self.answer(hook, status, lines.count > 4 ? Array(lines[4]) : [])
    }

    private static func question(_ request: PublishWebhook.Request, _ form: PublishWebhook.Form, _ stream: String)
        -> String?
    {
        if form == .ome, request.fields.count != 1 { return "a request without a signature" }
        guard form == .nginx else {
            guard let root = JSONParser.parse(request.body).root else { return "a request body that is not JSON" }
            if form == .srs, root[key: "stream"]?.string != stream { return "a request with another stream name" }
            return nil
        }
        // By bytes, like a receiver.
        let items = request.body.split { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }
        for name in ["app", "addr", "clientid", "call", "name", "type", "tcurl"] {
            let beginning = Array("\(name)=".utf8)
            let count = items.count { item in
                item.starts(with: beginning) { (0x41...0x5A).contains($0) ? $0 | 0x20 == $1 : $0 == $1 }
            }
            if count != 1 { return "the form has \(name) \(count) times" }
        }
        return nil
    }

    private static func answer(_ hook: PublishWebhook, _ status: Int, _ body: [UInt8]) -> String? {
        let answer = hook.answer(status: status, body: body)
        if let alone = hook.answer(status: status), alone != answer {
            return "the body changes the verdict of the status"
        }
        switch answer {
        case .allowed: return (200...299).contains(status) ? nil : "status \(status) admits the publisher"
        case .refused(let reason):
            let scalars = reason?.unicodeScalars.map(\.value) ?? []
            return scalars.count > 200 || scalars.contains { $0 < 0x20 }
                ? "a reason of more than 200 characters, or with control characters" : nil
        case .failed: return nil
        }
    }
}
