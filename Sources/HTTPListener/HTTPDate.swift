/// The preferred date format of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Spec: RFC 9110 §5.6.7 (IMF-fixdate).
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// - Parameter seconds: Unix time, 0 to 253,402,300,799 (the end of year 9999); other values are clamped.
    package static func text(unixSeconds seconds: Int64) -> String {
        let clamped = min(max(seconds, 0), 253_402_300_799)
        let (days, second) = (Int(clamped / 86_400), Int(clamped % 86_400))
        // Civil date from a day count, in eras of 400 years that begin on 1 March, so that a leap day ends a year.
        let shifted = days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let time = "\(Self.padded(second / 3_600)):\(Self.padded(second / 60 % 60)):\(Self.padded(second % 60))"
        return
            "\(Self.weekdays[days % 7]), \(Self.padded(day)) \(Self.months[month - 1]) \(Self.padded(year, width: 4)) \(time) GMT"
    }

    private static func padded(_ value: Int, width: Int = 2) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
