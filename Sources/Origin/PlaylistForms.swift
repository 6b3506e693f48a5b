import Synchronization

/// Playlists that are published as plain bytes, such as the multivariant one, in the forms clients take: compressed, and
/// with the query of who asks.
final class PlaylistForms: Sendable {
    private struct Form: Hashable {
        let fingerprint: UInt64
        let query: String
        let isGzip: Bool
    }

    /// Forms kept; when there are more, all are made anew.
    private static let limit = 64

    private let made = Mutex<[Form: [UInt8]]>([:])

    /// The object in the form the request asks for; anything but a playlist as it is.
    func object(_ object: OriginObject, query: String, acceptsGzip: Bool) -> OriginObject {
        guard object.contentType == PlaylistVersion.contentType, !object.isGzip, !object.variesByEncoding,
            case .bytes(let plain) = object.body
        else { return object }
        let form = Form(fingerprint: PlaylistVersion.fingerprint(plain), query: query, isGzip: acceptsGzip)
        let known = self.made.withLock { $0[form] }
        var bytes = known ?? QueryPassing.pass(query, into: plain)
        if known == nil {
            if acceptsGzip { bytes = GzipEncoder.encode(bytes) }
            self.made.withLock { [bytes] made in
                if made.count >= Self.limit { made.removeAll() }
                made[form] = bytes
            }
        }
        var result = object
        result.body = .bytes(bytes)
        result.variesByEncoding = true
        result.isGzip = acceptsGzip
        result.entityTag = PlaylistVersion.entityTag(of: bytes, isGzip: acceptsGzip)
        return result
    }
}
