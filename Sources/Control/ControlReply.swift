package import HTTPListener
package import HTTPTypes

extension ListenerReply {
    package static func json(_ status: HTTPResponse.Status, _ text: String) -> ListenerReply {
        ListenerReply(
            status, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: .text(text + "\n"))
    }

    /// What a failure may ask for; anything else is a mistake of ours.
    private static let statuses: [HTTPResponse.Status] = [
        .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .conflict, .gone, .preconditionFailed,
        .contentTooLarge, .unsupportedMediaType, .unprocessableContent, .tooManyRequests, .internalServerError,
        .badGateway,
        .serviceUnavailable,
    ]

    /// Spec: RFC 9457 §3, with the members `code`, `number` (again as `nertcCode`), `fix` and, for documents, `errors`.
    package static func problem(_ failure: ControlFailure) -> ListenerReply {
        let status = Self.statuses.first { $0.code == failure.status } ?? .internalServerError
        var fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
        if status == .tooManyRequests { fields[.retryAfter] = "1" }
        var members = [
            ("type", JSONText.string("urn:tandem:error:\(failure.code)")),
            ("title", JSONText.string(status.reasonPhrase)),
            ("status", String(status.code)),
            ("code", JSONText.string(failure.code)),
            ("number", String(failure.number)),
            ("detail", JSONText.string(failure.what)),
            ("fix", JSONText.string(failure.fix)),
            ("nertcCode", String(failure.number)),
        ]
        if !failure.details.isEmpty {
            let details = failure.details.map { detail in
                JSONText.object([
                    ("path", JSONText.string(detail.path)), ("line", String(detail.line)),
                    ("column", String(detail.column)), ("what", JSONText.string(detail.what)),
                    ("fix", JSONText.string(detail.fix)),
                ])
            }
            members.append(("errors", "[\(details.joined(separator: ","))]"))
        }
        let text = JSONText.object(members)
        return ListenerReply(status, fields: fields, body: .text(text + "\n"))
    }

    package static func health(_ report: HealthReport, passes: Bool) -> ListenerReply {
        let checks = report.checks.sorted { $0.key < $1.key }.map { ($0.key, JSONText.string($0.value)) }
        let text = JSONText.object([
            ("status", JSONText.string(passes ? "pass" : "fail")),
            ("state", JSONText.string(report.state)),
            ("checks", JSONText.object(checks)),
        ])
        return .json(passes ? .ok : .serviceUnavailable, text)
    }
}
