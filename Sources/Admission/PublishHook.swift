import MediaTypes
package import PipelineSpec

/// What a webhook is told of somebody who asks to publish. Holds the stream key, which the other end must see: it goes there and
/// nowhere else.
package struct PublishFacts: Sendable, Hashable {
    /// Unix time in seconds.
    package var time: Int64
    /// Which connection of this worker it is.
    package var connection: Int
    package var address: IPAddress?
    /// TCP port of the publisher.
    package var port: Int
    package var app: String
    /// What follows the app in the path, as sent.
    package var stream: String
    /// Query without `?`, as sent.
    package var query: String
    /// As the publisher gave them.
    package var tcURL: String
    package var flashVersion: String
    /// `HOST:PORT` of the listener.
    package var server: String
    /// `rtmp` or `srt`.
    package var scheme = "rtmp"

    package init(
        time: Int64, connection: Int, address: IPAddress?, port: Int, app: String, stream: String, query: String,
        tcURL: String, flashVersion: String, server: String
    ) {
        self.time = time
        self.connection = connection
        self.address = address
        self.port = port
        self.app = app
        self.stream = stream
        self.query = query
        self.tcURL = tcURL
        self.flashVersion = flashVersion
        self.server = server
    }
}

/// How a webhook is asked, and what its answer means: in one of the forms that servers for it are written for already. Pure.
package struct PublishHook: Sendable {
    /// How the webhook is asked.
    package typealias Form = Pipeline.OnPublish.Form

    package struct Request: Sendable, Hashable {
        package var contentType: String
        /// Further header fields.
        package var fields: [(name: String, value: String)]
        package var body: [UInt8]

        package static func == (one: Request, other: Request) -> Bool {
            one.contentType == other.contentType && one.body == other.body
                && one.fields.elementsEqual(other.fields) { $0 == $1 }
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(self.body) }
    }

    package enum Answer: Sendable, Hashable {
        case allowed
        /// - Parameter reason: What it says to the person at the encoder, if anything.
        case refused(reason: String?)
        /// It gave no answer that could be understood.
        case failed(String)
    }

    package var form: Form
    /// Signs what is sent, in `Form.ome`; nil: it is not signed.
    package var secret: String?

    package init(form: Form, secret: String? = nil) {
        self.form = form
        self.secret = secret
    }

    package func request(for facts: PublishFacts) -> Request {
        switch self.form {
        case .srs: Request(contentType: "application/json", fields: [], body: Array(Self.srs(facts).text.utf8))
        case .nginx:
            Request(
                contentType: "application/x-www-form-urlencoded", fields: [], body: Array(Self.nginx(facts).utf8))
        case .ome: self.signed(Array(Self.ome(facts).text.utf8))
        }
    }

    /// What an answer's status says, whatever body comes with it.
    ///
    /// - Parameter status: HTTP status code.
    /// - Returns: nil where the body decides.
    package func answer(status: Int) -> Answer? {
        switch self.form {
        case .srs: return status == 200 || status == 201 ? nil : Self.refusal(status)
        case .nginx: return (200...299).contains(status) ? Answer.allowed : Self.refusal(status)
        case .ome: return status == 200 ? nil : Self.refusal(status)
        }
    }

    /// - Parameter status: HTTP status code.
    package func answer(status: Int, body: [UInt8]) -> Answer {
        if let answer = self.answer(status: status) { return answer }
        switch self.form {
        case .srs:
            let text = String(decoding: body.prefix(64), as: UTF8.self).filter { !$0.isWhitespace }
            if text == "0" { return .allowed }
            guard let code = Self.root(body)?[key: "code"]?.integer else { return .failed("no code in its answer") }
            return code == 0 ? .allowed : .refused(reason: nil)
        // Its status has said it.
        case .nginx: return .allowed
        case .ome:
            guard let root = Self.root(body), case .boolean(let isAllowed)? = root[key: "allowed"]?.content else {
                return .failed("no \"allowed\" in its answer")
            }
            return isAllowed ? .allowed : .refused(reason: root[key: "reason"]?.string.map(Self.line))
        }
    }

    /// 4xx is its decision, 5xx its trouble.
    private static func refusal(_ status: Int) -> Answer {
        (500...599).contains(status) ? .failed("HTTP status \(status)") : .refused(reason: nil)
    }

    private static func root(_ body: [UInt8]) -> JSONNode? { JSONParser.parse(body).root }

    /// Short enough for a status, and one line.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.prefix(200).map(Character.init))
    }
}
