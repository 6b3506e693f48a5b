import MediaTypes

/// A time range of the program with metadata, for example the time a scene is on air.
///
/// Spec: rfc8216bis §4.4.5.1 (`EXT-X-DATERANGE`). One tag opens the range; a second tag with the same ID closes it. The
/// second tag repeats the first one's ID, class and start and adds the end, so no attribute ever changes its value.
package struct DateRange: Sendable, Hashable {
    /// A custom attribute of a date range. Spec: §4.4.5.1, `X-<extension-attribute>`, always a quoted-string here.
    package struct Attribute: Sendable, Hashable {
        /// Attribute name with its `X-` prefix; it contains only capital letters, digits and `-`.
        package let name: String
        package let value: String

        /// Maximum length of a value in characters, so that user input cannot fill up the playlist.
        private static let longest = 512

        /// Makes an attribute from any name and value.
        ///
        /// - Parameters:
        ///   - name: Attribute name without the `X-` prefix; characters that an attribute name cannot contain become
        ///     `-`.
        ///   - value: Any text; at most 512 characters are kept, double quotes become single quotes, and control characters
        ///     are removed.
        package init(_ name: String, _ value: String) {
            let letters = name.uppercased().unicodeScalars.map { scalar -> Character in
                switch scalar {
                case "A"..."Z", "0"..."9": Character(scalar)
                default: "-"
                }
            }
            self.name = "X-" + String(letters)
            self.value = AttributeText.clean(String(value.prefix(Self.longest)))
        }
    }

    /// A change to the date ranges of a playlist.
    package enum Change: Sendable, Hashable {
        case opened(DateRange)
        /// An open date range ends.
        ///
        /// - Parameter end: Nanoseconds since the Unix epoch.
        case closed(id: String, end: Int64)
    }

    /// `ID` of the date range. No other range ever gets this ID.
    package let id: String
    /// `CLASS`: the kind of range, in reverse-DNS form.
    package let rangeClass: String
    /// Date of the first frame in the range: nanoseconds since the Unix epoch.
    package let start: Int64
    /// Date of the first frame after the range; `nil` while the range is open.
    package private(set) var end: Int64?
    /// Expected duration in nanoseconds (`PLANNED-DURATION`); `nil` if it is unknown.
    package let plannedDuration: Int64?
    package let attributes: [Attribute]

    package init(
        id: String, rangeClass: String, start: Int64, end: Int64? = nil, plannedDuration: Int64? = nil,
        attributes: [Attribute] = []
    ) {
        self.id = AttributeText.clean(id)
        self.rangeClass = AttributeText.clean(rangeClass)
        self.start = start
        self.end = end.map { max($0, start) }
        self.plannedDuration = plannedDuration.map { max(0, $0) }
        self.attributes = attributes
    }

    /// Returns the same range with an end; a range that is already closed is returned unchanged.
    func closed(at end: Int64) -> DateRange {
        guard self.end == nil else { return self }
        var range = self
        range.end = max(end, self.start)
        return range
    }

    /// The `EXT-X-DATERANGE` tag that opens the range, with a line feed.
    var openingTag: String {
        var fields = self.head
        if let planned = self.plannedDuration {
            fields.append("PLANNED-DURATION=\((planned / 1_000_000).decimal(3))")
        }
        fields += self.attributes.map { "\($0.name)=\(AttributeText.quoted($0.value))" }
        return "#EXT-X-DATERANGE:\(fields.joined(separator: ","))\n"
    }

    /// The `EXT-X-DATERANGE` tag that closes the range, with a line feed; `nil` while the range is open.
    var closingTag: String? {
        guard let end = self.end else { return nil }
        // The duration is in whole milliseconds, as the dates are printed, so that start plus duration equals the end
        // exactly.
        let duration = Self.milliseconds(end) &- Self.milliseconds(self.start)
        let fields =
            self.head + [
                "END-DATE=\(AttributeText.quoted(ProgramDate.format(end)))",
                "DURATION=\(duration.decimal(3))",
            ]
        return "#EXT-X-DATERANGE:\(fields.joined(separator: ","))\n"
    }

    private static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        TimeMath.scale(nanoseconds, by: 1, over: 1_000_000)
    }

    /// Attributes that the opening and the closing tag both contain: older players need them in each.
    private var head: [String] {
        [
            "ID=\(AttributeText.quoted(self.id))", "CLASS=\(AttributeText.quoted(self.rangeClass))",
            "START-DATE=\(AttributeText.quoted(ProgramDate.format(self.start)))",
        ]
    }
}
