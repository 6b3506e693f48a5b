import MediaTypes
package import PipelineSpec

/// The data about a publisher that is sent to the webhook. It contains the stream key.
package struct PublishFacts: Sendable, Hashable {
    /// Time of the publish request, as Unix time in seconds.
    package var time: Int64
    /// Number of the connection, unique in this worker.
    package var connection: Int
    package var address: IPAddress?
    /// TCP or UDP port of the publisher.
    package var port: Int
    package var app: String
    /// The path after the app, as the publisher sent it; it contains the stream key.
    package var stream: String
    /// The query without `?`, as the publisher sent it.
    package var query: String
    /// `tcUrl` as an RTMP publisher sent it; for SRT and WebRTC the URL of the listener and the app.
    package var tcURL: String
    package var flashVersion: String
    /// `HOST:PORT` of the worker's listener to which the publisher has connected.
    package var server: String
    /// `rtmp`, `srt` or `webrtc`.
    package var scheme = "rtmp"
    /// Whether an RTMP publisher is connected over TLS.
    package var isSecure = false

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

/// Builds webhook requests and reads the answers, in one of the formats of existing webhook servers. Pure.
package struct PublishWebhook: Sendable {
    /// The format of request and answer.
    package typealias Form = Pipeline.OnPublish.Form

    package struct Request: Sendable, Hashable {
        package var contentType: String
        /// Additional header fields of the request.
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
        /// The webhook refuses the publisher.
        ///
        /// - Parameter reason: Text for the person at the encoder; nil: none.
        case refused(reason: String?)
        /// The answer could not be understood, or the webhook failed; the text says why.
        case failed(String)
    }

    package var form: Form
    /// Secret that signs the request body in ``Form/ome``; nil: the body is not signed.
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

    /// Returns the decision that follows from the status code of an answer alone.
    ///
    /// - Parameter status: HTTP status code.
    /// - Returns: nil if the body decides.
    package func answer(status: Int) -> Answer? {
        switch self.form {
        case .srs: return status == 200 || status == 201 ? nil : Self.refusal(status)
        case .nginx: return (200...299).contains(status) ? Answer.allowed : Self.refusal(status)
        case .ome: return status == 200 ? nil : Self.refusal(status)
        }
    }

    /// Returns the decision in an answer.
    ///
    /// - Parameter status: HTTP status code.
    package func answer(status: Int, body: [UInt8]) -> Answer {
        if let answer = self.answer(status: status) { return answer }
        switch self.form {
        case .srs:
            let text = String(decoding: body.prefix(64), as: UTF8.self).filter { !$0.isWhitespace }
            if text == "0" { return .allowed }
            guard let code = Self.root(body)?[key: "code"]?.integer else { return .failed("its answer has no code") }
            return code == 0 ? .allowed : .refused(reason: nil)
        // For `nginx`, the status alone decides.
        case .nginx: return .allowed
        case .ome:
            guard let root = Self.root(body), case .boolean(let isAllowed)? = root[key: "allowed"]?.content else {
                return .failed("its answer has no \"allowed\"")
            }
            return isAllowed ? .allowed : .refused(reason: root[key: "reason"]?.string.map(Self.line))
        }
    }

    /// Returns the meaning of a status other than success: 5xx means that the webhook failed; any other status refuses
    /// the publisher.
    private static func refusal(_ status: Int) -> Answer {
        (500...599).contains(status) ? .failed("HTTP status \(status)") : .refused(reason: nil)
    }

    private static func root(_ body: [UInt8]) -> JSONNode? { JSONParser.parse(body).root }

    /// Makes a refusal's reason one line that is short enough for an RTMP status.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.prefix(200).map(Character.init))
    }
}
