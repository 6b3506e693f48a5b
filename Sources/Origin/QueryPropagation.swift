import MediaTypes
import HTTPListener

/// Appends the query of a viewer's playlist request to every URI of this server in the playlist: a token that opens the
/// playlist must also open everything it lists.
///
/// Spec: rfc8216bis §6.2.5: delivery directives belong to the playlist request and are not passed on. Neither is the
/// player's client data (CTA-5004 §2), which would give a segment another URI with each reload.
enum QueryPropagation {
    /// Characters that a query may contain in addition to unreserved ones. Spec: RFC 3986 §3.4.
    private static let written = Set("%!$&'()*+,;=:@/?".utf8)
    /// Maximum length in bytes of a query that is appended to URIs. The query is repeated for each URI of the playlist,
    /// and tokens are far shorter.
    static let longest = 2_048
    /// Maximum number of bytes that a query may add to a playlist: after a day a playlist has tens of thousands of
    /// URIs.
    private static let mostAdded = 16 << 20
    /// Text of the error response if a query is too long.
    static let tooLong = "the query is too long to be added to every URI of the playlist"

    /// Returns the query to append to the URIs in a playlist: the request's query without delivery directives and
    /// client data, with its original escaping, because a different escaping would make it a different query (RFC 3986
    /// §2.2). Characters that could end an attribute or a line are escaped. Empty if nothing is to be appended.
    static func query(of target: RequestTarget) -> String {
        zip(target.query, target.writtenQuery).filter { pair, _ in !self.isOwn(pair.name) }
            .map { _, text in PercentEncoding.encode(text, keeping: self.written) }.joined(separator: "&")
    }

    /// Whether a query parameter belongs only to the playlist request: a delivery directive or client data.
    private static func isOwn(_ name: String) -> Bool { name.hasPrefix("_HLS_") || name == "CMCD" }

    /// Returns a query with these names and values, percent-encoded.
    static func query(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { name, value in
            value.isEmpty
                ? PercentEncoding.encode(name) : "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))"
        }.joined(separator: "&")
    }

    /// Appends `query` to every URI in a playlist except those on other servers; the URIs in these playlists have no
    /// query of their own.
    ///
    /// - Returns: `nil` if the playlist would become too long.
    static func pass(_ query: String, into playlist: [UInt8]) -> [UInt8]? {
        query.isEmpty ? playlist : self.pass(query, into: playlist, at: self.places(in: playlist))
    }

    /// Appends `query` to the URIs that end at known offsets, see ``places(in:)``; `nil` if the playlist would become
    /// too long.
    static func pass(_ query: String, into playlist: [UInt8], at places: [Int]) -> [UInt8]? {
        guard !query.isEmpty else { return playlist }
        let suffix = Array("?\(query)".utf8)
        let (added, isTooMuch) = suffix.count.multipliedReportingOverflow(by: places.count)
        guard !isTooMuch, added <= Self.mostAdded else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(playlist.count + added)
        var start = 0
        for place in places {
            result += playlist[start..<place]
            result += suffix
            start = place
        }
        result += playlist[start...]
        return result
    }

    /// Returns the offsets in a playlist at which a query is inserted, in increasing order: after every URI line and the
    /// first `URI` attribute of every tag, except URIs on another server.
    static func places(in playlist: [UInt8]) -> [Int] {
        let attribute = Array("URI=\"".utf8)
        var places: [Int] = []
        for line in playlist.split(separator: 0x0A) {
            if line.first != UInt8(ascii: "#") {
                if !Self.isElsewhere(line) { places.append(line.endIndex) }
            } else if let start = line.firstRange(of: attribute)?.upperBound, Self.isAttribute(line, start - 5),
                let end = line[start...].firstIndex(of: UInt8(ascii: "\"")), !Self.isElsewhere(line[start..<end])
            {
                places.append(end)
            }
        }
        return places
    }

    /// Whether a URI refers to another server, such as a key server, which must not receive the viewer's token.
    private static func isElsewhere(_ uri: ArraySlice<UInt8>) -> Bool { uri.firstRange(of: self.authorityMark) != nil }

    private static let authorityMark = Array("://".utf8)

    /// Whether the attribute name at `start` is complete, and not the end of another attribute's name.
    private static func isAttribute(_ line: ArraySlice<UInt8>, _ start: Int) -> Bool {
        guard start > line.startIndex else { return false }
        return line[start - 1] == UInt8(ascii: ":") || line[start - 1] == UInt8(ascii: ",")
    }
}
