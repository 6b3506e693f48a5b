import MediaTypes

/// Parses the value of an HTTP `Retry-After` field.
///
/// Spec: RFC 9110 §10.2.3: seconds, or a date.
package enum RetryAfter {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the wait that a `Retry-After` field asks for.
    ///
    /// - Parameters:
    ///   - field: The value of `Retry-After`; untrusted.
    ///   - now: Seconds since the Unix epoch; from the receiver's `Date` field if it has one, because its clock may
    ///     differ.
    /// - Returns: Seconds, 0 for a negative number or a date in the past; `nil` if the field is neither a number nor a
    ///   date.
    package static func seconds(_ field: String, now: Int64) -> Int? {
        if let seconds = Int(field) { return max(0, seconds) }
        return self.date(field).map { Int(clamping: max(0, $0 &- now)) }
    }

    /// Parses an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT` into seconds since the Unix epoch.
    ///
    /// Spec: RFC 9110 §5.6.7, the form that senders must use (IMF-fixdate).
    /// - Returns: `nil` for any other form, and for years before 1970; the name of the day is ignored.
    package static func date(_ text: String) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].utf8.count == 4, words[0].last == ",", words[5] == "GMT",
            let day = self.number(words[1], digits: 2), (1...31).contains(day),
            let month = self.months.firstIndex(where: { $0 == words[2] }),
            let year = self.number(words[3], digits: 4), year >= 1970
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = self.number(clock[0], digits: 2), hour < 24,
            let minute = self.number(clock[1], digits: 2), minute < 60,
            let second = self.number(clock[2], digits: 2), second <= 60
        else { return nil }
        let days = CivilDate.daysSinceEpoch(year: year, month: Int64(month) + 1, day: day)
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.isDigits else { return nil }
        return Int64(text)
    }
}
