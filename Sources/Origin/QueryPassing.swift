import HTTPListener

/// Carries what a viewer's request says beside its path on to everything the answer names: a token that opens the playlist
/// must open what is in it.
///
/// Spec: rfc8216bis §6.2.5: the delivery directives are the playlist request's own and are not passed on; nor is what the
/// player tells of itself with each request (CTA-5004 §2), which would give a segment another URI with each reload.
enum QueryPassing {
    /// RFC 3986 §3.4: what a query may hold besides unreserved characters.
    private static let written = Set("%!$&'()*+,;=:@/?".utf8)
    /// Bytes of a query that goes on: it is in the list once for each URI, and tokens are far shorter.
    static let longest = 2_048
    /// Bytes that a query may add to a list, at most: one of a day has tens of thousands of URIs.
    private static let mostAdded = 16 << 20
    /// For a person who looks at the answer.
    static let tooLong = "the query is too long to go with everything that the playlist names"

    /// The query of the URIs in a playlist: what of a request's goes on, as it was written, since one that is escaped in
    /// another way is another one (RFC 3986 §2.2). It can end neither an attribute nor a line; empty for none.
    static func query(of target: RequestTarget) -> String {
        zip(target.query, target.writtenQuery).filter { pair, _ in !self.isOwn(pair.name) }
            .map { _, text in self.encoded(text, keeping: self.written) }.joined(separator: "&")
    }

    /// Of the playlist request alone.
    private static func isOwn(_ name: String) -> Bool { name.hasPrefix("_HLS_") || name == "CMCD" }

    /// A query of these pairs, with the same property.
    static func query(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { name, value in
            value.isEmpty ? self.encoded(name) : "\(self.encoded(name))=\(self.encoded(value))"
        }.joined(separator: "&")
    }

    /// Spec: RFC 3986 §2.3: everything but unreserved characters, and those to be kept, is escaped.
    private static func encoded(_ text: String, keeping kept: Set<UInt8> = []) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where kept.contains(byte): result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// The playlist with `query` behind every URI in it; the URIs of a playlist of ours have none of their own.
    ///
    /// - Returns: `nil` where it would become too long by it.
    static func pass(_ query: String, into playlist: [UInt8]) -> [UInt8]? {
        query.isEmpty ? playlist : self.pass(query, into: playlist, at: self.places(in: playlist))
    }

    /// The same where its places are known: a copy of the bytes.
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

    /// Where in a playlist a query goes, rising: behind every URI.
    static func places(in playlist: [UInt8]) -> [Int] {
        let attribute = Array("URI=\"".utf8)
        var places: [Int] = []
        for line in playlist.split(separator: 0x0A) {
            if line.first != UInt8(ascii: "#") {
                places.append(line.endIndex)
            } else if let start = line.firstRange(of: attribute)?.upperBound, Self.isAttribute(line, start - 5),
                let end = line[start...].firstIndex(of: UInt8(ascii: "\"")), !Self.isElsewhere(line[start..<end])
            {
                places.append(end)
            }
        }
        return places
    }

    /// A server of its own, such as one that has keys, is not told what opens ours.
    private static func isElsewhere(_ uri: ArraySlice<UInt8>) -> Bool { uri.firstRange(of: Array("://".utf8)) != nil }

    /// The name at `start` is a whole one: no other attribute's name ends with it there.
    private static func isAttribute(_ line: ArraySlice<UInt8>, _ start: Int) -> Bool {
        guard start > line.startIndex else { return false }
        return line[start - 1] == UInt8(ascii: ":") || line[start - 1] == UInt8(ascii: ",")
    }
}
