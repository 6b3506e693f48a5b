import MediaTypes

/// The delivery directives in the query of a playlist request.
///
/// Spec: rfc8216bis §6.2.5 (`_HLS_msn`, `_HLS_part`, `_HLS_skip`).
package struct ReloadDirectives: Sendable, Hashable {
    /// The response must wait until the segment with this number is listed as complete or, if ``part`` is set, until that
    /// part of it is listed (`_HLS_msn`); `nil` if absent.
    package var mediaSequence: Int64?
    /// The response must wait until this part of the segment is listed (`_HLS_part`); `nil` if absent.
    package var part: Int64?
    /// Whether a delta update is requested (`_HLS_skip`).
    package var skips = false
    /// Whether a delta update without older date ranges is requested (`_HLS_skip=v2`).
    package var skipsDateRanges = false
    /// Description of the error in the directives; `nil` if they are valid.
    package var fault: String?

    /// Makes a value without directives, which requests the current playlist.
    package init() {}

    /// Reads the directives of a query.
    ///
    /// - Parameter query: Decoded names and values. Names other than the directives are ignored.
    package init(query: [(name: String, value: String)]) {
        var seen: Set<String> = []
        for (name, value) in query {
            guard ["_HLS_msn", "_HLS_part", "_HLS_skip"].contains(name) else { continue }
            guard seen.insert(name).inserted else {
                self.fault = "\(name) is given twice"
                continue
            }
            switch name {
            case "_HLS_msn": self.mediaSequence = self.number(value, name)
            case "_HLS_part": self.part = self.number(value, name)
            default:
                self.skipsDateRanges = value == "v2"
                self.skips = value == "YES" || self.skipsDateRanges
            }
        }
        if self.part != nil, self.mediaSequence == nil, self.fault == nil {
            self.fault = "_HLS_part needs _HLS_msn"
        }
    }

    /// Whether the request asks for the current playlist, so that it never waits.
    package var isImmediate: Bool { self.mediaSequence == nil && self.part == nil }

    /// Parses a decimal-integer (§4.2): only digits, at most 2^63-1.
    private mutating func number(_ text: String, _ name: String) -> Int64? {
        guard text.isDigits, let value = Int64(text) else {
            self.fault = self.fault ?? "\(name) is not a number from 0 to \(Int64.max)"
            return nil
        }
        return value
    }
}
