import MediaTypes

/// The target of a request: a decoded path and the query.
///
/// Spec: RFC 9112 §3.2 (origin-form and absolute-form), RFC 3986 §2.1 (percent-encoding).
package struct RequestTarget: Sendable, Hashable {
    /// The percent-decoded path, which begins with `/`. It is not normalized: `..` stays `..`.
    package let path: String
    /// The percent-decoded name-value pairs in the order of the query; `+` is a space, and a name without `=` has an
    /// empty value.
    package let query: [(name: String, value: String)]
    /// The pairs of ``query`` as received, in the same order.
    package let writtenQuery: [String]

    package init?(parsing text: String) {
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://"), !rest.hasPrefix("/") {
            // Absolute form, as sent by a proxy; the authority is taken from the Host field.
            rest = rest[scheme.upperBound...]
            rest = rest[(rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex)...]
            if rest.isEmpty { rest = "/" }
        }
        let cut = rest.firstIndex(of: "?") ?? rest.endIndex
        guard rest.hasPrefix("/"), let path = Self.percentDecoded(rest[..<cut], plusIsSpace: false) else { return nil }
        self.path = path
        var pairs: [(name: String, value: String)] = []
        var written: [String] = []
        for piece in rest[cut...].dropFirst().split(separator: "&") {
            let equals = piece.firstIndex(of: "=") ?? piece.endIndex
            guard let name = Self.percentDecoded(piece[..<equals], plusIsSpace: true),
                let value = Self.percentDecoded(piece[equals...].dropFirst(), plusIsSpace: true)
            else { return nil }
            pairs.append((name, value))
            written.append(String(piece))
        }
        self.query = pairs
        self.writtenQuery = written
    }

    /// Decodes percent escapes; `nil` for a broken escape, bytes that are not UTF-8, or a NUL.
    private static func percentDecoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        guard let decoded = PercentEncoding.decode(text, plusIsSpace: plusIsSpace), !decoded.utf8.contains(0) else {
            return nil
        }
        return decoded
    }

    package static func == (left: RequestTarget, right: RequestTarget) -> Bool {
        left.path == right.path && left.query.elementsEqual(right.query, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.path)
        for pair in self.query {
            hasher.combine(pair.name)
            hasher.combine(pair.value)
        }
    }
}
