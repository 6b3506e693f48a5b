import Origin

/// Objects in memory, and every name that was asked for would be served: what the responder lets through is seen here.
struct MemoryContent: OriginContent {
    var objects: [String: OriginObject] = [:]
    var ended = false
    /// Answers for every name.
    var servesAnything = false

    func answer(to request: OriginRequest) async -> OriginAnswer {
        if self.servesAnything { return .object(Self.playlist(request.path)) }
        return self.objects[request.path].map { .object($0) } ?? .missing
    }

    static func playlist(_ text: String) -> OriginObject {
        OriginObject(
            body: .bytes(Array(text.utf8)), contentType: "application/vnd.apple.mpegurl", cacheControl: "max-age=1")
    }
}
