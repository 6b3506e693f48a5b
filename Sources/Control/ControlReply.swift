package import HTTPListener
package import HTTPTypes
import MediaTypes

extension ListenerReply {
    package static func json(_ status: HTTPResponse.Status, _ text: String) -> ListenerReply {
        ListenerReply(
            status, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: .text(text + "\n"))
    }

    /// The statuses that an error may have. Any other is a bug, and is replaced by 500.
    private static let statuses: [HTTPResponse.Status] = [
        .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .conflict, .gone, .preconditionFailed,
        .contentTooLarge, .unsupportedMediaType, .unprocessableContent, .tooManyRequests, .internalServerError,
        .badGateway,
        .serviceUnavailable,
    ]

    /// An error reply with problem details in JSON.
    ///
    /// Spec: RFC 9457 §3, with the members `code`, `number` (again as `nertcCode`), `fix` and, for documents, `errors`.
    package static func problem(_ failure: ControlFailure) -> ListenerReply {
        let status = Self.statuses.first { $0.code == failure.status } ?? .internalServerError
        var fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
        if status == .tooManyRequests { fields[.retryAfter] = "1" }
        var members: [JSONValue.Member] = [
            .init("type", .string("urn:tandem:error:\(failure.code)")),
            .init("title", .string(status.reasonPhrase)),
            .init("status", JSONValue(status.code)),
            .init("code", .string(failure.code)),
            .init("number", JSONValue(failure.number)),
            .init("detail", .string(failure.what)),
            .init("fix", .string(failure.fix)),
            .init("nertcCode", JSONValue(failure.number)),
        ]
        if !failure.details.isEmpty {
            let details = failure.details.map { detail -> JSONValue in
                [
                    "path": .string(detail.path), "line": JSONValue(detail.line), "column": JSONValue(detail.column),
                    "what": .string(detail.what), "fix": .string(detail.fix),
                ]
            }
            members.append(.init("errors", .array(details)))
        }
        return ListenerReply(status, fields: fields, body: .text(JSONValue.object(members).text + "\n"))
    }

    package static func health(_ report: HealthReport, passes: Bool) -> ListenerReply {
        let checks = report.checks.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) }
        let health: JSONValue = [
            "status": passes ? "pass" : "fail", "state": .string(report.state), "checks": .object(checks),
        ]
        return .json(passes ? .ok : .serviceUnavailable, health.text)
    }
}
