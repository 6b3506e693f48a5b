import HLS
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

    /// Forms that are shared: viewers with a token each would otherwise fill the memory with one list each.
    private static let mostForms = 64

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
    private let forms = Mutex<[Form: Rendered]>([:])

    init(_ playlist: MediaPlaylist, reports: [RenditionReport]) {
        self.playlist = playlist
        self.position = playlist.position
        self.reports = reports
    }

    /// The playlist as an answer.
    ///
    /// Spec: rfc8216bis appendix B.1 for the caching times: an answer to a blocking request is true for as long as the list
    /// may name what it names, one to a plain request only until half a target duration has passed.
    func object(for request: OriginRequest) -> OriginObject {
        let skips = request.directives.skips && self.playlist.skippableCount > 0
        let form = Form(
            skips: skips, skipsDateRanges: skips && request.directives.skipsDateRanges, isGzip: request.acceptsGzip,
            query: request.query)
        let rendered =
            self.forms.withLock { forms -> Rendered? in
                if let made = forms[form] { return made }
                guard form.query.isEmpty || forms.count < Self.mostForms else { return nil }
                let made = self.render(form)
                forms[form] = made
                return made
            } ?? self.render(form)
        let target = self.playlist.targetDuration
        let isImmediate = request.directives.isImmediate || self.position.isEnded
        return OriginObject(
            body: .buffers([rendered.buffer]), contentType: Self.contentType,
            cacheControl: "max-age=\(isImmediate ? max(1, target / 2) : 6 * target)", entityTag: rendered.entityTag,
            variesByEncoding: true, isGzip: form.isGzip, heads: isImmediate ? rendered.immediateHeads : rendered.heads)
    }

    /// Spec: rfc8216bis §4.
    static let contentType = "application/vnd.apple.mpegurl"

    private func render(_ form: Form) -> Rendered {
        let plain = Array(
            self.playlist.rendered(
                reports: self.reports, skipping: form.skips, skippingDateRanges: form.skipsDateRanges
            ).utf8)
        let text = QueryPassing.pass(form.query, into: plain)
        return Rendered(
            buffer: ByteBuffer(bytes: form.isGzip ? GzipEncoder.encode(text) : text),
            entityTag: Self.entityTag(of: text, isGzip: form.isGzip))
    }

    /// Of the bytes, not of a count: a later worker of the room must not give the same tag to another text.
    static func entityTag(of bytes: [UInt8], isGzip: Bool) -> String {
        "\"\(String(self.fingerprint(bytes), radix: 36))\(isGzip ? "z" : "")\""
    }

    /// 64-bit FNV-1a.
    static func fingerprint(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
