import Origin

/// Objects in memory. With ``servesAnything`` every requested name is served, which shows what the responder lets
/// through.
struct MemoryContent: OriginContent {
    var objects: [String: OriginObject] = [:]
    var ended = false
    /// Whether every name is served.
    var servesAnything = false

    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        if self.servesAnything { return answer(.object(Self.playlist(request.path))) }
        answer(self.objects[request.path].map { .object($0) } ?? .missing)
    }

    static func playlist(_ text: String) -> OriginObject {
        OriginObject(
            body: .bytes(Array(text.utf8)), contentType: "application/vnd.apple.mpegurl", cacheControl: "max-age=1")
    }
}

extension OriginContent {
    /// The answer, for callers that can wait.
    func answer(to request: OriginRequest) async -> OriginAnswer {
        await withCheckedContinuation { continuation in
            self.answer(to: request) { continuation.resume(returning: $0) }
        }
    }
}
