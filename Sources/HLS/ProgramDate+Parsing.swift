import MediaTypes

extension ProgramDate {
    /// Parses a date of the form `YYYY-MM-DDThh:mm:ss[.fraction]Z`, to the nanosecond.
    ///
    /// - Returns: Nanoseconds since the Unix epoch; `nil` for another form, a date that does not exist, or a year
    ///   outside 1970–2200.
    package static func parse(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 30, bytes.last == UInt8(ascii: "Z"), bytes[4] == UInt8(ascii: "-"),
            bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":"), let year = self.number(bytes[0..<4]), let month = self.number(bytes[5..<7]),
            let day = self.number(bytes[8..<10]), let hour = self.number(bytes[11..<13]), hour < 24,
            let minute = self.number(bytes[14..<16]), minute < 60, let second = self.number(bytes[17..<19]),
            second < 60,
            year >= 1970, year <= 2200, (1...12).contains(month)
        else { return nil }
        var fraction: Int64 = 0
        if bytes.count > 20 {
            guard bytes[19] == UInt8(ascii: "."), let digits = self.number(bytes[20..<bytes.count - 1]) else {
                return nil
            }
            fraction = digits
            for _ in 0..<(9 - (bytes.count - 21)) { fraction *= 10 }
        }
        // A day that does not exist is converted to another date.
        let days = CivilDate.daysSinceEpoch(year: year, month: month, day: day)
        let date = CivilDate(daysSinceEpoch: days)
        guard (date.year, date.month, date.day) == (year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
        return seconds * TimeMath.nanoseconds + fraction
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
