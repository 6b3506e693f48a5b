import MediaTypes

/// The delivery directives of a playlist request.
///
/// Spec: rfc8216bis §6.2.5 (`_HLS_msn`, `_HLS_part`, `_HLS_skip`).
package struct ReloadDirectives: Sendable, Hashable {
    /// Wait until this segment, or a part of it, is listed.
    package var mediaSequence: Int64?
    /// Wait until this part of the segment is listed.
    package var part: Int64?
    /// Answer with a delta update.
    package var skips = false
    /// Leave out older date ranges too (`_HLS_skip=v2`).
    package var skipsDateRanges = false
    /// Why the request is invalid, as text for humans; `nil` if it is valid.
    package var fault: String?

    /// No directives: the current playlist is requested.
    package init() {}

    /// - Parameter query: Decoded pairs. Other names are ignored.
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

    /// Whether the request can be answered without waiting.
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
