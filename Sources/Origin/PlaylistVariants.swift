import MediaTypes
import LibAV
import Synchronization

/// Variants of playlists that are published as plain bytes, such as the multivariant one: compressed or not, and with
/// each request's query.
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

    private struct Made {
        var forms: [Form: Rendered] = [:]
        /// Size of all forms.
        var bytes = 0
    }

    /// Most forms to keep, and their bytes; above either limit, all are dropped and made again.
    private static let mostForms = 64
    private static let mostBytes = 8 << 20

    private let made = Mutex(Made())

    /// The object in the form that the request needs; objects other than playlists unchanged. `nil` if the query would
    /// make it too long.
    func object(_ object: OriginObject, query: String, acceptsGzip: Bool) -> OriginObject? {
        guard object.contentType == PlaylistVersion.contentType, !object.isGzip, !object.variesByEncoding,
            case .bytes(let plain) = object.body
        else { return object }
        let form = Form(fingerprint: FNV1a.hash(plain), query: query, isGzip: acceptsGzip)
        guard let rendered = self.made.withLock({ $0.forms[form] }) ?? self.make(form, of: plain) else { return nil }
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
        self.made.withLock { made in
            if made.forms.count >= Self.mostForms || made.bytes + bytes.count > Self.mostBytes { made = Made() }
            if made.forms.updateValue(rendered, forKey: form) == nil { made.bytes += bytes.count }
        }
        return rendered
    }
}
