import HTTPTypes
package import WebRTC

extension WHIPRequest {
    private static let origin = HTTPField.Name("origin")
    private static let ifMatch = HTTPField.Name("if-match")
    private static let requestedMethod = HTTPField.Name("access-control-request-method")

    /// The parts of an HTTP request that WHIP and WHEP use.
    package init(_ request: ListenerRequest) {
        func field(_ name: HTTPField.Name?) -> String? { name.flatMap { request.head.headerFields[$0] } }
        var path = Substring(request.head.path ?? "/")
        // Absolute form, as a proxy sends it (RFC 9112 §3.2.2).
        if !path.hasPrefix("/"), let scheme = path.firstRange(of: "://") {
            path = path[scheme.upperBound...]
            path = path[(path.firstIndex { $0 == "/" || $0 == "?" } ?? path.endIndex)...]
        }
        let mark = path.firstIndex(of: "?") ?? path.endIndex
        var body: [UInt8] = []
        if case .bytes(let bytes) = request.body { body = bytes }
        self.init(
            method: request.head.method.rawValue, path: String(path[..<mark]),
            query: mark < path.endIndex ? String(path[path.index(after: mark)...]) : nil,
            contentType: field(.contentType), authorization: field(.authorization), ifMatch: field(Self.ifMatch),
            origin: field(Self.origin), requestedMethod: field(Self.requestedMethod), body: body)
    }
}

extension ListenerReply {
    /// The HTTP response of a WHIP or WHEP reply.
    package init(_ reply: WHIPReply) {
        var fields = HTTPFields()
        for field in reply.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            fields.append(HTTPField(name: name, value: field.value))
        }
        self.init(
            HTTPResponse.Status(code: reply.status), fields: fields,
            body: reply.body.isEmpty ? .none : .text(reply.body))
    }
}
