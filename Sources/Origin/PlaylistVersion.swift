import HLS
import LibAV
import NIOCore
import Synchronization

/// A media playlist as it is from one change to the next: each of its forms is made once, by the first request for it, and
/// shared by all others.
final class PlaylistVersion: Sendable {
    private struct Form: Hashable {
        let skips: Bool
        let skipsDateRanges: Bool
        let isGzip: Bool
        let query: String
    }

    /// What of the list a form has, whoever asks.
    private struct Scope: Hashable {
        let skips: Bool
        let skipsDateRanges: Bool
    }

    private struct Text {
        /// Without a query.
        let plain: [UInt8]
        /// Where a query goes; `nil` until somebody has one.
        var places: [Int]?
    }

    /// Forms that are shared: viewers with a token each would otherwise fill the memory with one list each.
    private static let mostForms = 64
    /// Bytes of forms with a query that are shared.
    private static let mostBytes = 8 << 20

    private struct Rendered {
        let buffer: ByteBuffer
        let entityTag: String
        /// Of replies to requests that waited, and to those that did not: caches keep them for different times.
        let heads = SharedHeads()
        let immediateHeads = SharedHeads()
    }

    let playlist: MediaPlaylist
    let position: PlaylistPosition
    private let reports: [RenditionReport]
    private let made = Mutex(
        SharedForms<Form, Rendered>(most: PlaylistVersion.mostForms, mostBytes: PlaylistVersion.mostBytes))
    private let texts = Mutex<[Scope: Text]>([:])

    init(_ playlist: MediaPlaylist, reports: [RenditionReport]) {
        self.playlist = playlist
        self.position = playlist.position
        self.reports = reports
    }

    /// Texts that were put together so far: one for each part of the list that is asked for, however many ask.
    var textCount: Int { self.texts.withLock(\.count) }

    /// The playlist as an answer; `nil` where the request's query would make it too long.
    ///
    /// Spec: rfc8216bis appendix B.1 for the caching times: an answer to a blocking request is true for as long as the list
    /// may name what it names, one to a plain request only until half a target duration has passed.
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

    /// A viewer with a token of its own costs a copy of the text, not a list.
    private func render(_ form: Form) -> Rendered? {
        let (plain, places) = self.text(of: form)
        guard let text = QueryPassing.pass(form.query, into: plain, at: places) else { return nil }
        return Rendered(
            buffer: ByteBuffer(bytes: form.isGzip ? Gzip.encode(text) : text),
            entityTag: Self.entityTag(of: text, isGzip: form.isGzip))
    }

    private func text(of form: Form) -> (plain: [UInt8], places: [Int]) {
        let scope = Scope(skips: form.skips, skipsDateRanges: form.skipsDateRanges)
        return self.texts.withLock { texts -> (plain: [UInt8], places: [Int]) in
            var text = texts[scope] ?? Text(plain: self.plain(scope))
            if !form.query.isEmpty, text.places == nil { text.places = QueryPassing.places(in: text.plain) }
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

    /// Spec: rfc8216bis §4.
    static let contentType = "application/vnd.apple.mpegurl"

    /// Of the bytes, not of a count: a later worker of the room must not give the same tag to another text.
    static func entityTag(of bytes: [UInt8], isGzip: Bool) -> String {
        "\"\(String(self.fingerprint(bytes), radix: 36))\(isGzip ? "z" : "")\""
    }

    /// 64-bit FNV-1a.
    static func fingerprint(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
