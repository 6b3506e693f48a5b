import MediaTypes
import HLS
import LibAV
import NIOCore
import Synchronization

/// One version of a media playlist, valid until the playlist changes, with its cached forms. Forms differ in three
/// ways: full or delta update, compressed or not, and the request's query, which is added to the URIs. The first request
/// for a form makes it, and later ones share it, except for forms with a query that exceed the cache's limits.
final class PlaylistVersion: Sendable {
    private struct Form: Hashable {
        let skips: Bool
        let skipsDateRanges: Bool
        let isGzip: Bool
        let query: String
    }

    /// Which segments and date ranges a form contains, independent of the request's query.
    private struct Scope: Hashable {
        let skips: Bool
        let skipsDateRanges: Bool
    }

    private struct Text {
        /// The text of the playlist, without a query on its URIs.
        let plain: [UInt8]
        /// Offsets at which a query is inserted; `nil` until a request has one.
        var places: [Int]?
    }

    /// Maximum number of cached forms, beyond which only forms without a query are cached: viewers with individual
    /// tokens would otherwise fill the memory with one playlist each.
    private static let mostForms = 64
    /// Maximum size in bytes of all cached forms with a query.
    private static let mostBytes = 8 << 20

    private struct Rendered {
        let buffer: ByteBuffer
        let entityTag: String
        /// Cached heads of replies to blocking requests, which may be cached for longer.
        let heads = SharedHeads()
        /// Cached heads of replies to requests that do not wait.
        let immediateHeads = SharedHeads()
    }

    let playlist: MediaPlaylist
    let position: PlaylistPosition
    private let reports: [RenditionReport]
    private let made = Mutex(
        SharedVariants<Form, Rendered>(most: PlaylistVersion.mostForms, mostBytes: PlaylistVersion.mostBytes))
    private let texts = Mutex<[Scope: Text]>([:])

    init(_ playlist: MediaPlaylist, reports: [RenditionReport]) {
        self.playlist = playlist
        self.position = playlist.position
        self.reports = reports
    }

    /// Number of texts rendered so far: at most one per scope, however many requests there are.
    var textCount: Int { self.texts.withLock(\.count) }

    /// Returns the playlist in the form that a request needs; `nil` if the request's query would make it too long.
    ///
    /// Spec: rfc8216bis appendix B.1 for the cache lifetimes: the answer to a blocking request stays valid while the
    /// listed media is available, the answer to a plain request only for half a target duration.
    func object(for request: OriginRequest) -> OriginObject? {
        let skips = request.directives.skips && self.playlist.skippableCount > 0
        let form = Form(
            skips: skips, skipsDateRanges: skips && request.directives.skipsDateRanges, isGzip: request.acceptsGzip,
            query: request.query)
        guard let rendered = self.rendered(form) else { return nil }
        let target = self.playlist.targetDuration
        let isImmediate = request.directives.isImmediate || self.position.isEnded
        return OriginObject(
            body: .buffers([rendered.buffer]), contentType: Self.contentType,
            cacheControl: "max-age=\(isImmediate ? max(1, target / 2) : 6 * target)", entityTag: rendered.entityTag,
            variesByEncoding: true, isGzip: form.isGzip, heads: isImmediate ? rendered.immediateHeads : rendered.heads)
    }

    private func rendered(_ form: Form) -> Rendered? {
        let shared = self.made.withLock { made -> Rendered? in
            made.form(form, isForAll: form.query.isEmpty) {
                self.render(form).map { (form: $0, bytes: $0.buffer.readableBytes) }
            }
        }
        return shared ?? self.render(form)
    }

    /// Makes a form. A viewer with an individual token costs a copy of the text, not another rendering.
    private func render(_ form: Form) -> Rendered? {
        let (plain, places) = self.text(of: form)
        guard let text = QueryPropagation.pass(form.query, into: plain, at: places) else { return nil }
        return Rendered(
            buffer: ByteBuffer(bytes: form.isGzip ? Gzip.encode(text) : text),
            entityTag: Self.entityTag(of: text, isGzip: form.isGzip))
    }

    private func text(of form: Form) -> (plain: [UInt8], places: [Int]) {
        let scope = Scope(skips: form.skips, skipsDateRanges: form.skipsDateRanges)
        return self.texts.withLock { texts -> (plain: [UInt8], places: [Int]) in
            var text = texts[scope] ?? Text(plain: self.plain(scope))
            if !form.query.isEmpty, text.places == nil { text.places = QueryPropagation.places(in: text.plain) }
            texts[scope] = text
            return (plain: text.plain, places: text.places ?? [])
        }
    }

    private func plain(_ scope: Scope) -> [UInt8] {
        Array(
            self.playlist.rendered(
                reports: self.reports, skipping: scope.skips, skippingDateRanges: scope.skipsDateRanges
            ).utf8)
    }

    /// MIME type of playlists. Spec: rfc8216bis §4.
    static let contentType = "application/vnd.apple.mpegurl"

    /// Returns an entity tag: a hash of the bytes, because a counter could give the same tag to another text after a
    /// worker restart.
    static func entityTag(of bytes: [UInt8], isGzip: Bool) -> String {
        "\"\(String(FNV1a.hash(bytes), radix: 36))\(isGzip ? "z" : "")\""
    }
}
