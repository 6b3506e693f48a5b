import HLS
package import HTTPListener
import HTTPTypes
import NIOCore
package import Push
import WebRTC
import WHEP

/// Answers viewers' requests from the published objects.
package struct OriginResponder: Sendable {
    private let content: any OriginContent
    private let policy: CORSPolicy
    /// Checks the signatures of URLs; `nil`: anyone may watch.
    private let gate: SignedURLVerifier?
    /// Renditions over HTTP-FLV and WebSocket-FLV; `nil` for none.
    private let live: LiveOutputs?
    /// Answers WHEP requests; `nil`: the room has no WebRTC output.
    private let webRTC: WebRTCViewers?
    private let page: ViewerPage
    /// Path of the multivariant playlist: a query that is signed for it also admits to the status.
    private let playlistPath: String
    /// The room's status for the player page.
    private let status: @Sendable () -> ViewerStatus
    private let forms = PlaylistVariants()
    private let streams: StreamViewers

    /// Makes a responder for a room.
    ///
    /// - Parameters:
    ///   - gate: Checks the signed URL of every object request; `nil`: anyone may watch. The player page is always
    ///     public, because it contains no media.
    ///   - live: Renditions that are served as `live/NAME.flv`; `nil` for none.
    ///   - webRTC: Answers the requests at `/whep` and below; `nil`: the room has no WebRTC output. The page then plays
    ///     only HLS.
    ///   - page: What the player page contains, besides whether it offers WebRTC.
    ///   - status: Returns the room's status; called for each request for `/status.json`. `nil`: only the room's end is
    ///     known.
    ///   - streams: Counts the viewers of `live/NAME.flv`.
    package init(
        content: any OriginContent, policy: CORSPolicy, page: ViewerPage.Options, gate: SignedURLVerifier? = nil,
        live: LiveOutputs? = nil, webRTC: WebRTCViewers? = nil, status: (@Sendable () -> ViewerStatus)? = nil,
        streams: StreamViewers = StreamViewers()
    ) {
        self.gate = gate
        self.live = live
        self.webRTC = webRTC
        self.streams = streams
        self.content = content
        self.policy = policy
        var page = page
        page.hasWebRTC = webRTC != nil
        self.page = ViewerPage(page)
        self.playlistPath = "/\(page.playlist)"
        self.status = status ?? { ViewerStatus(content.ended ? .ended : .live, isPlayable: true) }
    }

    /// Answers a request by calling `answer` once: immediately, when the requested object is available, or when the
    /// request has waited too long.
    package func reply(to request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void) {
        self.route(request) { reply in
            // A cached head already has these fields.
            answer(reply.shared == nil ? self.completed(reply, for: request) : reply)
        }
    }

    /// Adds the header fields that every reply has.
    private func completed(_ reply: ListenerReply, for request: ListenerRequest) -> ListenerReply {
        var reply = reply
        for field in self.policy.fields(origin: request.head.headerFields[.origin]) {
            if field.name == .accessControlExposeHeaders, reply.fields[field.name] != nil { continue }
            let isFurther = field.name == .vary && reply.fields[.vary] != nil
            reply.fields[field.name] = isFurther ? "\(reply.fields[.vary] ?? ""), \(field.value)" : field.value
        }
        reply.fields[.xContentTypeOptions] = "nosniff"
        return reply
    }

    /// Answers a request and waits until the reply is available.
    package func reply(to request: ListenerRequest) async -> ListenerReply {
        await withCheckedContinuation { continuation in
            self.reply(to: request) { continuation.resume(returning: $0) }
        }
    }

    private func route(_ request: ListenerRequest, _ answer: @escaping @Sendable (ListenerReply) -> Void) {
        if let webRTC = self.webRTC, request.head.path?.contains("/whep") == true {
            let path = WHIPRequest(request).path
            if WHEPServer.isPath(path) { return self.pass(request, path, to: webRTC, answer) }
        }
        switch request.head.method {
        case .get, .head: break
        case .options: return answer(ListenerReply(.noContent, fields: CORSPolicy.preflight))
        default:
            return answer(
                .plain(.methodNotAllowed, "this listener is read-only", fields: [.allow: "GET, HEAD, OPTIONS"]))
        }
        guard let target = request.target else { return answer(.plain(.badRequest, "the path cannot be read")) }
        if let page = self.page.reply(path: target.path) { return answer(page) }
        if target.path == "/status.json" { return answer(self.statusReply(query: target.query)) }
        guard let name = Self.objectName(target.path) else { return answer(self.missing) }
        if let reason = self.gate?.verdict(path: target.path, query: target.query).reason {
            return answer(.plain(.forbidden, reason, fields: [.cacheControl: "no-store"]))
        }
        if let live = self.live, let rendition = FLVStream.rendition(name) {
            guard !self.content.ended, let feed = live.feed(named: rendition) else { return answer(self.missing) }
            return answer(self.reply(with: feed, to: request.head))
        }
        let fields = request.head.headerFields
        let query = QueryPropagation.query(of: target)
        guard query.utf8.count <= QueryPropagation.longest || !name.hasSuffix(".m3u8") else {
            return answer(.plain(.uriTooLong, QueryPropagation.tooLong, fields: [.cacheControl: "no-store"]))
        }
        let asked = OriginRequest(
            path: name, directives: ReloadDirectives(query: target.query),
            acceptsGzip: Self.acceptsGzip(fields[.acceptEncoding]), query: query, client: request.client)
        self.content.answer(to: asked) { result in
            switch result {
            case .object(let object):
                // A range refers to the uncompressed bytes.
                let form = self.forms.object(
                    object, query: asked.query, acceptsGzip: asked.acceptsGzip && fields[.range] == nil)
                guard let form else {
                    return answer(.plain(.badRequest, QueryPropagation.tooLong, fields: [.cacheControl: "no-store"]))
                }
                answer(self.reply(with: form, to: request))
            case .missing: answer(Self.isAwaited(name, fields) && !self.content.ended ? Self.nothingYet : self.missing)
            // This is not cacheable: a request that is too far ahead now will be valid later.
            case .refused(let reason): answer(.plain(.badRequest, reason, fields: [.cacheControl: "no-store"]))
            case .late(let reason):
                answer(
                    .plain(
                        .serviceUnavailable, reason, fields: [.cacheControl: "no-store", .retryAfter: "1"]))
            }
        }
    }

    /// Passes a request of a WebRTC viewer on. A request that begins to watch needs a signed URL, if URLs are signed; its
    /// session then needs none, since its path cannot be guessed.
    private func pass(
        _ request: ListenerRequest, _ path: String, to webRTC: WebRTCViewers,
        _ answer: @escaping @Sendable (ListenerReply) -> Void
    ) {
        if let gate = self.gate, request.head.method == .post, WHEPServer.isEndpoint(path) {
            guard let target = request.target else { return answer(.plain(.badRequest, "the path cannot be read")) }
            if let reason = gate.verdict(path: target.path, query: target.query).reason {
                return answer(.plain(.forbidden, reason, fields: [.cacheControl: "no-store"]))
            }
        }
        let origin = request.head.headerFields[.origin]
        let exposed = self.policy.fields(origin: origin)[.accessControlExposeHeaders]
        webRTC.respond(request) { reply in
            var reply = reply
            // Kept when the fields of CORS are added.
            if let exposed { reply.fields[.accessControlExposeHeaders] = "\(exposed), \(WHEPServer.exposedHeaders)" }
            answer(reply)
        }
    }

    /// Replies with an FLV stream, over a WebSocket if the request asks for one, otherwise as an HTTP body.
    private func reply(with feed: LiveFeed, to head: HTTPRequest) -> ListenerReply {
        switch WebSocketHandshake(head) {
        case .notAsked: return FLVStream.reply(feed, counted: self.streams)
        case .refused(let reply): return reply
        case .accepted(let fields):
            guard self.policy.admits(origin: head.headerFields[.origin], authority: head.authority) else {
                return .plain(.forbidden, "pages of this origin are not allowed", fields: [.cacheControl: "no-store"])
            }
            return ListenerReply(
                .switchingProtocols, fields: fields, body: .socket(FLVStream(feed, counted: self.streams)))
        }
    }

    /// Whether an Accept-Encoding field allows gzip. Spec: RFC 9110 §12.5.3.
    package static func acceptsGzip(_ field: String?) -> Bool {
        for item in (field ?? "").split(separator: ",") {
            let pieces = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard pieces.first == "gzip" || pieces.first == "*" else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            return weight.map { $0.contains { ("1"..."9").contains($0) } } ?? true
        }
        return false
    }

    /// Header field with which the player page asks again and again until the room has its first playlist, still image
    /// or index of thumbnails.
    private static let waiting = HTTPField.Name("Tandem-Waiting")

    /// Whether a page waits for this playlist, still image or index of thumbnails.
    private static func isAwaited(_ name: String, _ fields: HTTPFields) -> Bool {
        self.waiting.map { fields.contains($0) } == true
            && [".m3u8", ".jpg", ".vtt"].contains { name.hasSuffix($0) }
    }

    /// The answer to a page instead of a 404, which browsers log as an error each time.
    private static let nothingYet = ListenerReply(.noContent, fields: [.cacheControl: "no-store"])

    /// The reply with status 404. It is not cacheable: a playlist that does not exist yet may exist a second later.
    private var missing: ListenerReply {
        .plain(
            .notFound, self.content.ended ? "the room has ended" : "no such object", fields: [.cacheControl: "no-store"]
        )
    }

    /// The reply to `GET /status.json`. If URLs are signed, then a query without a signature for the multivariant playlist
    /// gets the state `refused` and nothing else.
    private func statusReply(query: [(name: String, value: String)]) -> ListenerReply {
        let isRefused = self.gate?.verdict(path: self.playlistPath, query: query).reason != nil
        let status = isRefused ? ViewerStatus(.refused, isPlayable: false) : self.status()
        return ListenerReply(
            .ok,
            fields: [.contentType: "application/json", .cacheControl: isRefused ? "no-store" : "max-age=1"],
            body: .bytes(Array(status.json.utf8)))
    }

    private func reply(with object: OriginObject, to request: ListenerRequest) -> ListenerReply {
        var fields = request.head.headerFields
        // RFC 9110 §14.2: only GET supports ranges.
        if request.head.method != .get { fields[.range] = nil }
        guard let heads = object.heads, fields[.range] == nil, fields[.ifNoneMatch] == nil else {
            return Self.reply(with: object, to: fields)
        }
        return heads.reply(
            for: self.policy.key(origin: fields[.origin]), body: object.body.reply(0..<object.body.count)
        ) { [fields] in
            self.completed(Self.reply(with: object, to: fields), for: request)
        }
    }

    private static func reply(with object: OriginObject, to request: HTTPFields) -> ListenerReply {
        let size = object.body.count
        var fields: HTTPFields = [
            .contentType: object.contentType, .cacheControl: object.cacheControl, .acceptRanges: "bytes",
        ]
        if object.variesByEncoding { fields[.vary] = "Accept-Encoding" }
        if object.isGzip { fields[.contentEncoding] = "gzip" }
        var range = request[.range]
        if let tag = object.entityTag {
            fields[.eTag] = tag
            if let known = request[.ifNoneMatch], Self.matches(known, tag) {
                return ListenerReply(.notModified, fields: fields)
            }
            // A range of a newer version would not fit the bytes that the client already has.
            if let condition = request[.ifRange], condition != tag { range = nil }
        }
        switch ByteRange(field: range, size: size) {
        case .whole: return ListenerReply(.ok, fields: fields, body: object.body.reply(0..<size))
        case .part(let range):
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return ListenerReply(.partialContent, fields: fields, body: object.body.reply(range))
        case .unsatisfiable:
            return .plain(
                .rangeNotSatisfiable, "the requested range is outside the object, which has \(size) bytes",
                fields: [.contentRange: "bytes */\(size)"])
        }
    }

    /// Whether an If-None-Match field matches a tag. Spec: RFC 9110 §13.1.2: weak comparison with any of the tags.
    private static func matches(_ field: String, _ tag: String) -> Bool {
        field.split(separator: ",").contains { item in
            let item = item.filter { $0 != " " }
            return item == "*" || item == tag || item == "W/" + tag
        }
    }

    /// Returns `path` without its leading slash; `nil` if it has an empty, `.` or `..` component, a backslash or a
    /// control character, and so could lead out of a directory.
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
        case .buffers(let buffers): .buffers(Self.cut(buffers, to: range))
        case .file(let path, let size): .file(path: path, size: size, range: range)
        }
    }

    /// Returns the slices of consecutive buffers that cover a byte range; the slices share the buffers' memory.
    private static func cut(_ buffers: [ByteBuffer], to range: Range<Int>) -> [ByteBuffer] {
        if range.lowerBound == 0, buffers.reduce(0, { $0 + $1.readableBytes }) == range.upperBound { return buffers }
        var result: [ByteBuffer] = []
        var start = 0
        for buffer in buffers {
            let inside = range.clamped(to: start..<start + buffer.readableBytes)
            let offset = buffer.readerIndex + inside.lowerBound - start
            if !inside.isEmpty, let slice = buffer.getSlice(at: offset, length: inside.count) { result.append(slice) }
            start += buffer.readableBytes
        }
        return result
    }
}
