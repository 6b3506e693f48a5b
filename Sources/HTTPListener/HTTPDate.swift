import MediaTypes

/// The preferred date format of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Spec: RFC 9110 §5.6.7 (IMF-fixdate).
package enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Formats a time as an HTTP date.
    ///
    /// - Parameter seconds: Unix time, 0 to 253,402,300,799 (the end of year 9999); other values are clamped.
    package static func text(unixSeconds seconds: Int64) -> String {
        let clamped = min(max(seconds, 0), 253_402_300_799)
        let (days, second) = clamped.quotientAndRemainder(dividingBy: 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        let time = "\((second / 3_600).padded(2)):\((second / 60 % 60).padded(2)):\((second % 60).padded(2))"
        return "\(Self.weekdays[Int(days % 7)]), \(date.day.padded(2)) \(Self.months[Int(date.month) - 1]) "
            + "\(date.year.padded(4)) \(time) GMT"
    }
}
