import Origin

/// Objects in memory, and every name that was asked for would be served: what the responder lets through is seen here.
struct MemoryContent: OriginContent {
    var objects: [String: OriginObject] = [:]
    var ended = false
    /// Answers for every name.
    var servesAnything = false

    func object(at path: String) -> OriginObject? {
        self.servesAnything ? Self.playlist(path) : self.objects[path]
    }

    static func playlist(_ text: String) -> OriginObject {
        OriginObject(
            body: .bytes(Array(text.utf8)), contentType: "application/vnd.apple.mpegurl", cacheControl: "max-age=1")
    }
}
