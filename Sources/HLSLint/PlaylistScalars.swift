import MediaTypes

/// Parses the numbers and dates of playlists, without rounding errors.
enum PlaylistScalars {
    /// Parses a `decimal-integer`; `nil` unless it is within 0…2^63-1, more than a media sequence number ever reaches.
    static func integer(_ text: some StringProtocol) -> Int64? {
        text.utf8.count <= 19 && text.isDigits ? Int64(text) : nil
    }

    /// Parses decimal seconds as whole nanoseconds; digits after the ninth are dropped. Spec: §4.2.
    ///
    /// - Parameter signed: Whether a minus sign may precede the digits.
    /// - Returns: `nil` for anything but digits with at most one point, and for 10^7 s or more, so that sums of a few
    ///   values fit in 64 bits.
    static func nanoseconds(_ text: some StringProtocol, signed: Bool = false) -> Int64? {
        var digits = Substring(text)
        var sign: Int64 = 1
        if signed, digits.first == "-" {
            sign = -1
            digits = digits.dropFirst()
        }
        let pieces = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = pieces.first, whole.utf8.count <= 7, let seconds = self.integer(whole) else { return nil }
        var fraction: Int64 = 0
        if pieces.count == 2 {
            let text = pieces[1]
            guard text.isDigits else { return nil }
            let kept = text.prefix(9)
            guard let value = Int64(kept) else { return nil }
            fraction = value
            for _ in kept.utf8.count..<9 { fraction *= 10 }
        }
        return sign * (seconds * TimeMath.nanoseconds + fraction)
    }

    /// Parses `YYYY-MM-DDThh:mm:ss[.s…](Z|±hh:mm|±hhmm)` as nanoseconds since the Unix epoch. Spec: §4.4.4.6, ISO 8601.
    ///
    /// - Returns: `nil` for another form, and for years before 1970 or after 2200, so that the difference of two dates
    ///   fits in 64 bits.
    static func date(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A,
            bytes[16] == 0x3A, let year = self.number(bytes, 0, 4), let month = self.number(bytes, 5, 2),
            let day = self.number(bytes, 8, 2), let hour = self.number(bytes, 11, 2),
            let minute = self.number(bytes, 14, 2), let second = self.number(bytes, 17, 2),
            (1970...2200).contains(year), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        var position = 19
        var fraction: Int64 = 0
        if bytes[19] == 0x2E {
            position = 20
            var unit: Int64 = 100_000_000
            while position < bytes.count, bytes[position].isDigit {
                fraction += Int64(bytes[position] - 0x30) * unit
                unit /= 10
                position += 1
            }
        }
        guard let zone = self.zone(Array(bytes[position...])) else { return nil }
        let seconds =
            CivilDate.daysSinceEpoch(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
            - zone
        return seconds * TimeMath.nanoseconds + fraction
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int64? {
        guard start + count <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[start..<(start + count)] {
            guard byte.isDigit else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        return value
    }

    /// Parses a time zone into seconds east of UTC; `nil` if it is invalid.
    private static func zone(_ bytes: [UInt8]) -> Int64? {
        if bytes == [0x5A] { return 0 }
        guard let first = bytes.first, first == 0x2B || first == 0x2D else { return nil }
        let digits = bytes.dropFirst().filter { $0 != 0x3A }
        guard digits.count == 4, let hours = self.number(Array(digits), 0, 2),
            let minutes = self.number(Array(digits), 2, 2)
        else { return nil }
        return (first == 0x2B ? 1 : -1) * (hours * 3_600 + minutes * 60)
    }
}
