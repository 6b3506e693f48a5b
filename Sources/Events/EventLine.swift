import MediaTypes

/// Parses the members at the beginning of an event's line, which all events have.
enum EventLine {
    private static let typeKey = Array(#"{"type":""#.utf8)
    private static let sequenceKey = Array(#""sequence":"#.utf8)
    /// Valid sequence numbers, which every JSON parser can represent. A number outside this range in a damaged line
    /// must not end the room's numbering.
    private static let sequences: ClosedRange<Int64> = 1...9_007_199_254_740_991

    /// Parses a journal line; `nil` if the line is not a complete event.
    static func event(_ line: [UInt8]) -> EventRecord? {
        guard line.starts(with: self.typeKey), line.last == UInt8(ascii: "}"),
            let end = line[self.typeKey.count...].firstIndex(of: UInt8(ascii: "\"")),
            let sequence = self.number(after: self.sequenceKey, in: line[end...]), self.sequences.contains(sequence),
            let text = String(validating: line, as: UTF8.self)
        else { return nil }
        return EventRecord(
            sequence: sequence, type: String(decoding: line[self.typeKey.count..<end], as: UTF8.self), line: text)
    }

    /// Returns the integer after the first occurrence of `key`; `nil` if there is none.
    static func number(after key: [UInt8], in line: ArraySlice<UInt8>) -> Int64? {
        var rest = line
        while let start = rest.firstIndex(of: key[0]) {
            rest = rest[start...]
            if rest.starts(with: key) {
                let digits = rest.dropFirst(key.count).prefix(while: \.isDigit)
                return Int64(String(decoding: digits, as: UTF8.self))
            }
            rest = rest.dropFirst()
        }
        return nil
    }
}
