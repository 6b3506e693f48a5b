package import HTTPListener
import HTTPTypes

/// Answers viewers' requests from what is published. Pure: a request in, a reply out.
package struct OriginResponder: Sendable {
    private let content: any OriginContent
    private let policy: CORSPolicy
    private let page: [UInt8]

    package init(content: any OriginContent, policy: CORSPolicy, roomTitle: String) {
        self.content = content
        self.policy = policy
        self.page = Array(ViewerPage.html(title: roomTitle).utf8)
    }

    package func reply(to request: ListenerRequest) -> ListenerReply {
        var reply = self.route(request)
        for field in self.policy.fields(origin: request.head.headerFields[.origin]) {
            reply.fields[field.name] = field.value
        }
        reply.fields[.xContentTypeOptions] = "nosniff"
        return reply
    }

    private func route(_ request: ListenerRequest) -> ListenerReply {
        switch request.head.method {
        case .get, .head: break
        case .options: return ListenerReply(.noContent, fields: CORSPolicy.preflight)
        default:
            return .plain(.methodNotAllowed, "this listener is read-only", fields: [.allow: "GET, HEAD, OPTIONS"])
        }
        guard let target = request.target else { return .plain(.badRequest, "the path cannot be read") }
        if target.path == "/" || target.path == "/index.html" { return self.viewerPage }
        guard let name = Self.objectName(target.path), let object = self.content.object(at: name) else {
            return self.missing
        }
        return Self.reply(with: object, range: request.head.headerFields[.range])
    }

    /// A playlist that is not there yet may be there in a second; nobody may remember that it was not.
    private var missing: ListenerReply {
        .plain(
            .notFound, self.content.ended ? "the room has ended" : "no such object", fields: [.cacheControl: "no-store"]
        )
    }

    private var viewerPage: ListenerReply {
        ListenerReply(
            .ok,
            fields: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-cache",
                .contentSecurityPolicy: ViewerPage.contentSecurityPolicy,
            ], body: .bytes(self.page))
    }

    private static func reply(with object: OriginObject, range field: String?) -> ListenerReply {
        let size = object.body.count
        var fields: HTTPFields = [
            .contentType: object.contentType, .cacheControl: object.cacheControl, .acceptRanges: "bytes",
        ]
        switch ByteRange(field: field, size: size) {
        case .whole: return ListenerReply(.ok, fields: fields, body: object.body.reply(0..<size))
        case .part(let range):
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return ListenerReply(.partialContent, fields: fields, body: object.body.reply(range))
        case .unsatisfiable:
            return .plain(
                .rangeNotSatisfiable, "the object has \(size) bytes", fields: [.contentRange: "bytes */\(size)"])
        }
    }

    /// The relative name in `path`, or `nil` where a content that reads a directory could be led out of it.
    package static func objectName(_ path: String) -> String? {
        let name = path.dropFirst()
        let isClean = name.split(separator: "/", omittingEmptySubsequences: false)
            .allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        guard isClean, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0 != "\u{7f}" && $0 != "\\" }) else {
            return nil
        }
        return String(name)
    }
}

extension OriginObject.Body {
    fileprivate func reply(_ range: Range<Int>) -> ListenerReply.Body {
        switch self {
        case .bytes(let bytes): .bytes(bytes, range: range)
        case .file(let path, _): .file(path: path, range: range)
        }
    }
}
