/// Functions that format values for messages.
package enum SpecText {
    /// Returns the text in quotes, escaped as in JSON and truncated after 40 Unicode scalars, so that a message has one
    /// line.
    package static func quoted(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(40)
        let isCut = start.endIndex != text.unicodeScalars.endIndex
        return JSONValue.string(String(start) + (isCut ? "…" : "")).text
    }

    /// Returns the words as a list for a message: `"a", "b" or "c"`; an empty text for no words.
    package static func choice(_ words: [String], quoted: Bool = true) -> String {
        let shown = quoted ? words.map(self.quoted) : words
        guard let last = shown.last, shown.count > 1 else { return shown.first ?? "" }
        return "\(shown.dropLast().joined(separator: ", ")) or \(last)"
    }

    /// Returns the number with thousands separators if it has five digits or more, so that bit rates are readable.
    package static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        guard digits.count > 4 else { return String(number) }
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// Returns `numerator / denominator` with up to three decimals, rounded to the nearest, without trailing zeros; `0`
    /// if the numerator is negative or the denominator is not positive.
    package static func decimal(_ numerator: Int, over denominator: Int) -> String {
        guard denominator > 0, numerator >= 0 else { return "0" }
        let thousandths = Int128(numerator) * 1000 + Int128(denominator) / 2
        let quotient = thousandths / Int128(denominator)
        var fraction = String(String(quotient % 1000 + 1000).dropFirst())
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? "\(quotient / 1000)" : "\(quotient / 1000).\(fraction)"
    }

    /// Returns the known word that `word` is probably a misspelling of; `nil` if no known word is similar enough, or if
    /// `word` has more than 64 bytes. Ignores case.
    package static func nearest(to word: String, among known: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        var best: (word: String, distance: Int)?
        for candidate in known {
            let distance = self.distance(word.lowercased(), candidate.lowercased())
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, min(word.utf8.count, best.word.utf8.count) / 3) else { return nil }
        return best.word
    }

    /// Returns the edit distance in bytes: the smallest number of insertions, deletions, replacements and swaps of
    /// neighbors that turn one word into the other.
    package static func distance(_ first: String, _ second: String) -> Int {
        let a = Array(first.utf8)
        let b = Array(second.utf8)
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            row.reserveCapacity(b.count + 1)
            for j in b.indices {
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
