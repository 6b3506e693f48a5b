import MediaTypes

/// The part of an object that an HTTP `Range` field requests.
///
/// Spec: RFC 9110 §14.1.2 (byte ranges), §14.2 (an invalid field is ignored).
package enum ByteRange: Sendable, Hashable {
    /// Send the whole object (200): the field is absent or malformed, or has several ranges or another unit.
    case whole
    /// Send this byte range (206), which is not empty and lies within the object.
    case part(Range<Int>)
    /// Reject the request, because no byte of the range exists (416).
    case unsatisfiable

    /// Parses a `Range` field.
    ///
    /// - Parameters:
    ///   - field: Value of the field; `nil` if it is absent.
    ///   - size: Size of the object in bytes, zero or more.
    package init(field: String?, size: Int) {
        guard let field, let equals = field.firstIndex(of: "="),
            field[..<equals].filter({ $0 != " " }).lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let spec = field[field.index(after: equals)...].filter { $0 != " " && $0 != "\t" }
        let ends = spec.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else {
            self = .whole
            return
        }
        switch (Self.position(ends[0]), Self.position(ends[1])) {
        case (nil, nil): self = .whole
        case (nil, .some(let suffix)):
            self = suffix == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - suffix)..<size)
        case (.some(let first), nil):
            self = first < size ? .part(first..<size) : .unsatisfiable
        case (.some(let first), .some(let last)) where last < first: self = .whole
        case (.some(let first), .some(let last)):
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        }
    }

    /// Parses a byte position; `nil` if it is absent. A number that does not fit in `Int` becomes `Int.max`, which is
    /// also beyond the end of every object.
    private static func position(_ digits: some StringProtocol) -> Int? {
        digits.isEmpty ? nil : Int(digits) ?? Int.max
    }
}
