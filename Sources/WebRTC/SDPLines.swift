/// Reads `type=value` lines, as session descriptions and fragments of them have.
///
/// Spec: RFC 8866 §5; CR alone also ends a line.
struct SDPLines {
    struct Line {
        /// The letter before `=`.
        var type: UInt8
        /// The text after `=`, without spaces and tabs at its end.
        var value: Substring
        /// Counted from 1.
        var number: Int
    }

    private let bytes: [UInt8]
    private var position = 0
    private var number = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next line that is not empty; nil at the end.
    ///
    /// - Throws: ``WHIPError`` if the line is too long, contains NUL, is not UTF-8, or does not begin with a letter and `=`.
    mutating func next() throws(WHIPError) -> Line? {
        while self.position < self.bytes.count {
            let rest = self.bytes[self.position...]
            let end = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? self.bytes.count
            let line = self.bytes[self.position..<end]
            self.position = end + 1
            // CR LF is one line end.
            if end + 1 < self.bytes.count, self.bytes[end] == 0x0D, self.bytes[end + 1] == 0x0A { self.position += 1 }
            self.number += 1
            if line.isEmpty { continue }
            return try self.parsed(line)
        }
        return nil
    }

    private func parsed(_ line: ArraySlice<UInt8>) throws(WHIPError) -> Line {
        guard line.count <= SessionDescription.Limits.line else {
            throw .tooLarge(
                "line \(self.number) has more than \(SessionDescription.Limits.line) bytes",
                fix: "shorten the line, or leave it out")
        }
        let first = line.startIndex
        guard line.count >= 2, line[first].isLetter, line[first + 1] == UInt8(ascii: "=") else {
            throw .malformed("the line does not begin with a letter and an equals sign", line: self.number)
        }
        guard !line.contains(0), let text = String(validating: line.dropFirst(2), as: UTF8.self) else {
            throw .malformed("the text contains NUL or is not valid UTF-8", line: self.number)
        }
        var value = text[...]
        while value.last == " " || value.last == "\t" { value.removeLast() }
        return Line(type: line[first], value: value, number: self.number)
    }
}
