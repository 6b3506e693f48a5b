import MediaTypes

/// Formats wall-clock time as playlists write it.
package enum ProgramDate {
    /// `YYYY-MM-DDThh:mm:ss.SSSZ`, to the nearest millisecond.
    ///
    /// Spec: rfc8216bis §4.4.4.6; ISO 8601. Proleptic Gregorian calendar, UTC.
    /// - Parameter nanoseconds: Since the Unix epoch; any value, the years 0…9999 print with four digits.
    package static func format(_ nanoseconds: Int64) -> String {
        let milliseconds = TimeMath.scale(nanoseconds, by: 1, over: 1_000_000)
        let seconds = floorDivide(milliseconds, 1_000)
        let days = floorDivide(seconds, 86_400)
        let (year, month, day) = self.civil(daysSinceEpoch: days)
        let ofDay = seconds - days * 86_400
        let clock = "\(pad(ofDay / 3_600, 2)):\(pad(ofDay / 60 % 60, 2)):\(pad(ofDay % 60, 2))"
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(clock).\(pad(milliseconds - seconds * 1_000, 3))Z"
    }

    /// Year, month and day of a day number. Counts in 400-year eras that start on 1 March: a leap day is then the last
    /// day of its year and needs no special case.
    static func civil(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468  // 0000-03-01
        let era = self.floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    private static func pad(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
