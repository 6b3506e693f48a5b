import MediaTypes

/// A position or size on the canvas as written in the pipeline file: in pixels or in percent of the canvas.
package enum Length: Sendable, Hashable, CustomStringConvertible {
    /// A number of pixels; the parser lowers an odd number to an even one.
    case pixels(Int)
    /// A share of the canvas in units of 1/10,000 percent (0…``whole``): `"33.33%"` is 333,300.
    case share(Int)

    /// Value of ``share(_:)`` for the whole canvas: `"100%"`.
    package static let whole = 1_000_000

    /// Parses `50%` or `33.3333%`: 0 to 100 with at most four decimals. `nil` for any other text.
    package init?(percent text: String) {
        guard text.utf8.last == UInt8(ascii: "%") else { return nil }
        let parts = text.utf8.dropLast().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let units = Self.digits(first, 1...3) else { return nil }
        var fraction = 0
        if parts.count == 2 {
            guard let decimals = parts.last, let number = Self.digits(decimals, 1...4) else { return nil }
            fraction = (decimals.count..<4).reduce(number) { number, _ in number * 10 }
        }
        let share = units * 10_000 + fraction
        guard share <= Self.whole else { return nil }
        self = .share(share)
    }

    private static func digits(_ text: Substring.UTF8View, _ count: ClosedRange<Int>) -> Int? {
        guard count.contains(text.count), text.allSatisfy(\.isDigit) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The length as text, for example `640` or `33.33%`; a percentage has at most three decimals.
    package var description: String {
        switch self {
        case .pixels(let pixels): "\(pixels)"
        case .share(let share): "\(SpecText.decimal(share / 10, over: 1000))%"
        }
    }

    /// Returns the length in pixels, rounded down to an even number.
    ///
    /// - Parameter length: Size of the canvas in this direction, in pixels (0…1920).
    package func pixels(of length: Int) -> Int {
        switch self {
        case .pixels(let pixels): pixels / 2 * 2
        case .share(let share): length * share / Self.whole / 2 * 2
        }
    }
}

extension Length: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int) { self = .pixels(value) }
}
