/// A date of the proleptic Gregorian calendar.
///
/// Both conversions count in years that start on 1 March: a leap day is then the last day of its year and needs no
/// special case.
package struct CivilDate: Sendable, Hashable {
    package let year: Int64
    /// Month, 1…12.
    package let month: Int64
    /// Day of the month, 1…31.
    package let day: Int64

    /// Creates the date of a day number; day 0 is 1970-01-01.
    package init(daysSinceEpoch days: Int64) {
        let shifted = days + 719_468  // 0000-03-01
        let era = shifted / 146_097 - (shifted % 146_097 < 0 ? 1 : 0)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        self.month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        self.year = yearOfEra + era * 400 + (self.month <= 2 ? 1 : 0)
    }

    /// Returns the number of days from 1970-01-01 to a date, which must be in the year 1 or later. The month is 1…12; a
    /// day beyond the month's end is counted into the next month.
    package static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719_468
    }
}
