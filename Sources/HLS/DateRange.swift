import MediaTypes

/// A stretch of the program with something to say about it, such as a scene that is on air.
///
/// Spec: rfc8216bis §4.4.5.1 (`EXT-X-DATERANGE`). It is opened by one tag and closed by a second one with the same ID, which
/// repeats what the first said and adds the end: no attribute ever gets another value.
package struct DateRange: Sendable, Hashable {
    /// An attribute of ours. Spec: §4.4.5.1, `X-<extension-attribute>`, always a quoted-string here.
    package struct Attribute: Sendable, Hashable {
        /// With its `X-`; capital letters, digits and `-`.
        package let name: String
        package let value: String

        /// Longest value in characters: what comes from people must not fill the list.
        private static let longest = 512

        /// - Parameters:
        ///   - name: Without `X-`; anything an attribute name cannot hold becomes `-`.
        ///   - value: Any text; what would end the quoted-string is taken out of it.
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

    /// Something that happens to the ranges of a playlist.
    package enum Change: Sendable, Hashable {
        case opened(DateRange)
        /// - Parameter end: Nanoseconds since the Unix epoch.
        case closed(id: String, end: Int64)
    }

    /// Never given to another range.
    package let id: String
    /// `CLASS`: what kind of range it is, in reverse-DNS form.
    package let rangeClass: String
    /// Date of the first picture in it: nanoseconds since the Unix epoch.
    package let start: Int64
    /// Date of the first picture behind it; `nil` while it is open.
    package private(set) var end: Int64?
    /// Nanoseconds it is expected to last; `nil`: nobody knows.
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

    /// The same range with an end; one that is closed stays as it is.
    func closed(at end: Int64) -> DateRange {
        guard self.end == nil else { return self }
        var range = self
        range.end = max(end, self.start)
        return range
    }

    /// The tag that opens it, ended by a line feed.
    var openingTag: String {
        var fields = self.head
        if let planned = self.plannedDuration {
            fields.append("PLANNED-DURATION=\(AttributeText.decimal(planned / 1_000_000, digits: 3))")
        }
        fields += self.attributes.map { "\($0.name)=\(AttributeText.quoted($0.value))" }
        return "#EXT-X-DATERANGE:\(fields.joined(separator: ","))\n"
    }

    /// The tag that closes it; `nil` while it is open.
    var closingTag: String? {
        guard let end = self.end else { return nil }
        // In the milliseconds the dates show, so that the end is the start plus the duration to the last digit.
        let duration = Self.milliseconds(end) &- Self.milliseconds(self.start)
        let fields =
            self.head + [
                "END-DATE=\(AttributeText.quoted(ProgramDate.format(end)))",
                "DURATION=\(AttributeText.decimal(duration, digits: 3))",
            ]
        return "#EXT-X-DATERANGE:\(fields.joined(separator: ","))\n"
    }

    private static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        TimeMath.scale(nanoseconds, by: 1, over: 1_000_000)
    }

    /// In both tags: older players want them in each.
    private var head: [String] {
        [
            "ID=\(AttributeText.quoted(self.id))", "CLASS=\(AttributeText.quoted(self.rangeClass))",
            "START-DATE=\(AttributeText.quoted(ProgramDate.format(self.start)))",
        ]
    }
}
