import MediaTypes

/// Formats wall-clock time as playlists write it.
package enum ProgramDate {
    /// `YYYY-MM-DDThh:mm:ss.SSSZ`, to the nearest millisecond.
    ///
    /// Spec: rfc8216bis §4.4.4.6; ISO 8601. Proleptic Gregorian calendar, UTC.
    /// - Parameter nanoseconds: Since the Unix epoch; any value, the years 0…9999 print with four digits.
    package static func format(_ nanoseconds: Int64) -> String {
        let milliseconds = TimeMath.scale(nanoseconds, by: 1, over: 1_000_000)
        let ofDay = milliseconds % 86_400_000
        let days = milliseconds / 86_400_000 - (ofDay < 0 ? 1 : 0)
        let date = CivilDate(daysSinceEpoch: days)
        let clock = (milliseconds - days * 86_400_000).clockText
        return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))T\(clock)Z"
    }
}
