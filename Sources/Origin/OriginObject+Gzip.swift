extension OriginObject {
    /// Shorter texts would not shrink.
    private static let worthCompressing = 200

    /// The compressed form of a playlist that comes as plain text, where the client takes it.
    ///
    /// Spec: rfc8216bis appendix B.1; Apple's authoring specification 10.1: playlists are served with gzip. A range is one
    /// of the bytes as they are.
    func encoded(for request: OriginRequest, range: String?) -> OriginObject {
        guard case .bytes(let text) = self.body, self.contentType == "application/vnd.apple.mpegurl",
            !self.variesByEncoding, self.entityTag == nil, text.count > Self.worthCompressing
        else { return self }
        var object = self
        object.variesByEncoding = true
        guard request.acceptsGzip, range == nil else { return object }
        object.body = .bytes(GzipEncoder.encode(text))
        object.isGzip = true
        return object
    }
}
