import MediaTypes
import LibAV
import Synchronization

/// A cache for the forms of playlists that are published as plain bytes, such as the multivariant playlist: compressed
/// or not, and with each request's query on all URIs of this server.
final class PlaylistVariants: Sendable {
    private struct Form: Hashable {
        let fingerprint: UInt64
        let query: String
        let isGzip: Bool
    }

    private struct Rendered {
        let bytes: [UInt8]
        let entityTag: String
    }

    private struct FormCache {
        var forms: [Form: Rendered] = [:]
        /// Size of all cached forms in bytes.
        var bytes = 0
    }

    /// Maximum number of cached forms; above this or ``mostBytes``, all are dropped and made again.
    private static let mostForms = 64
    /// Maximum size of all cached forms in bytes.
    private static let mostBytes = 8 << 20

    private let cache = Mutex(FormCache())

    /// Returns a playlist in the form that a request needs: with the query on every URI of this server, and compressed if
    /// the client accepts it. Other objects are returned unchanged. `nil` if the query would make the playlist too long.
    func object(_ object: OriginObject, query: String, acceptsGzip: Bool) -> OriginObject? {
        guard object.contentType == PlaylistVersion.contentType, !object.isGzip, !object.variesByEncoding,
            case .bytes(let plain) = object.body
        else { return object }
        let form = Form(fingerprint: FNV1a.hash(plain), query: query, isGzip: acceptsGzip)
        guard let rendered = self.cache.withLock({ $0.forms[form] }) ?? self.make(form, of: plain) else { return nil }
        var result = object
        result.body = .bytes(rendered.bytes)
        result.variesByEncoding = true
        result.isGzip = acceptsGzip
        result.entityTag = rendered.entityTag
        return result
    }

    private func make(_ form: Form, of plain: [UInt8]) -> Rendered? {
        guard let text = QueryPropagation.pass(form.query, into: plain) else { return nil }
        let bytes = form.isGzip ? Gzip.encode(text) : text
        let rendered = Rendered(bytes: bytes, entityTag: PlaylistVersion.entityTag(of: bytes, isGzip: form.isGzip))
        guard bytes.count <= Self.mostBytes else { return rendered }
        self.cache.withLock { cache in
            if cache.forms.count >= Self.mostForms || cache.bytes + bytes.count > Self.mostBytes { cache = FormCache() }
            if cache.forms.updateValue(rendered, forKey: form) == nil { cache.bytes += bytes.count }
        }
        return rendered
    }
}
