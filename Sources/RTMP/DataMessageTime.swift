package import MediaTypes

/// Finds the wall-clock time in an `onFI`, `onTextData` or `onMetaData` message: milliseconds since 1970 or a date in
/// `ts`, or a time of day in `st`, which encoders send in `onFI` with each time code.
package enum DataMessageTime {
    /// The first bytes of messages other than `onMetaData` that are searched for a time.
    static let beginnings = DataMessageTime.named(["onFI", "onTextData"])

    /// The first bytes of data messages with these names. Computed once, because every data message is compared with
    /// them.
    static func named(_ names: [String]) -> [[UInt8]] {
        names.map { [0x02, 0, UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
    }

    /// Returns whether a message begins with one of `beginnings`. No allocation.
    static func isNamed(
        _ bytes: [UInt8], from offset: Int, among beginnings: [[UInt8]] = DataMessageTime.beginnings
    ) -> Bool {
        beginnings.contains { bytes.dropFirst(offset).starts(with: $0) }
    }

    /// Returns the time in the first of `values` that contains a time, where `ts` takes precedence over `st`; nil if none
    /// does.
    package static func find(_ values: ArraySlice<AMF0Value>) -> WallClockTime? {
        for value in values {
            switch value["ts"] {
            case .number(let number)?: if let time = WallClockTime(milliseconds: number) { return time }
            case .date(let number)?: if let time = WallClockTime(milliseconds: number) { return time }
            default: break
            }
            // In the encoder's local time zone, which is not known.
            if let text = value["st"]?.string, let time = self.timeOfDay(text) { return time }
        }
        return nil
    }

    /// Reads `hh:mm:ss` with up to nine fractional digits.
    static func timeOfDay(_ text: String) -> WallClockTime? {
        let bytes = Array(text.utf8)
        guard bytes.count <= 18 else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let hours = self.number(parts[0]), let minutes = self.number(parts[1]) else {
            return nil
        }
        let seconds = parts[2].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(seconds.count), let whole = self.number(seconds[0]), hours < 24, minutes < 60, whole < 60
        else { return nil }
        var fraction: Int64 = 0
        if seconds.count == 2 {
            guard let digits = self.number(seconds[1]) else { return nil }
            fraction = (seconds[1].count..<9).reduce(digits) { value, _ in value * 10 }
        }
        return WallClockTime(
            nanoseconds: (hours * 3600 + minutes * 60 + whole) * TimeMath.nanoseconds + fraction, hasZone: false)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard (1...9).contains(digits.count), digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
