extension BinaryInteger {
    /// Returns the digits of a number that is not negative, with leading zeros up to `width` digits.
    package func padded(_ width: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension Int64 {
    // Playlists are written several times per second, and a generic function would not be specialized in other modules.

    /// Returns the digits of a number that is not negative, with leading zeros up to `width` digits.
    package func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }

    /// Returns the number divided by 10^`digits` as text, with exactly `digits` (1…18) digits after the point.
    package func decimal(_ digits: Int) -> String {
        var unit: UInt64 = 1
        for _ in 0..<digits { unit *= 10 }
        let (whole, rest) = self.magnitude.quotientAndRemainder(dividingBy: unit)
        let fraction = String(rest)
        let padding = String(repeating: "0", count: Swift.max(0, digits - fraction.utf8.count))
        return "\(self < 0 ? "-" : "")\(whole).\(padding)\(fraction)"
    }

    /// The number, taken as milliseconds (0 or more), as `hh:mm:ss.mmm`. From 100 hours on, the hours have more digits.
    package var clockText: String {
        let (hours, minutes, seconds) = (self / 3_600_000, self / 60_000 % 60, self / 1_000 % 60)
        return "\(hours.padded(2)):\(minutes.padded(2)):\(seconds.padded(2)).\((self % 1_000).padded(3))"
    }
}
