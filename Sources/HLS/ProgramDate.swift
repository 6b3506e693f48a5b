import MediaTypes

/// Formats wall-clock time as in `EXT-X-PROGRAM-DATE-TIME`.
package enum ProgramDate {
    /// Returns a date in the form `YYYY-MM-DDThh:mm:ss.SSSZ`, rounded to milliseconds.
    ///
    /// Spec: rfc8216bis §4.4.4.6; ISO 8601. Proleptic Gregorian calendar, UTC.
    /// - Parameter nanoseconds: Nanoseconds since the Unix epoch. Any value is allowed; the years 0…9999 are printed
    ///   with four digits.
    package static func format(_ nanoseconds: Int64) -> String {
        let milliseconds = TimeMath.scale(nanoseconds, by: 1, over: 1_000_000)
        let ofDay = milliseconds % 86_400_000
        let days = milliseconds / 86_400_000 - (ofDay < 0 ? 1 : 0)
        let date = CivilDate(daysSinceEpoch: days)
        let clock = (milliseconds - days * 86_400_000).clockText
        return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))T\(clock)Z"
    }
}
