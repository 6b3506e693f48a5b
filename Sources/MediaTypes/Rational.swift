/// Exact arithmetic on media time. Each function rounds at most once and does not overflow: intermediate products have
/// 128 bits if needed.
public enum TimeMath {
    /// How to round a quotient that is not an integer.
    public enum Rounding: Sendable { case down, nearest, up }

    /// Returns `value * numerator / denominator`.
    /// - Parameter denominator: Must be positive, otherwise the process ends; check external values before.
    /// - Returns: The exact quotient, rounded as requested; saturated at the limits of `Int64`.
    public static func scale(
        _ value: Int64, by numerator: Int64, over denominator: Int64, rounding: Rounding = .nearest
    ) -> Int64 {
        precondition(denominator > 0, "denominator must be positive")
        let (product, isTooLong) = value.multipliedReportingOverflow(by: numerator)
        // It almost always fits, and a division of 128 bits costs several times as much.
        if !isTooLong { return self.divide(product, by: denominator, rounding) }
        return Int64(clamping: self.divide(Int128(value) * Int128(numerator), by: Int128(denominator), rounding))
    }

    @inline(__always)
    private static func divide<Number: FixedWidthInteger & SignedInteger>(
        _ product: Number, by divisor: Number, _ rounding: Rounding
    ) -> Number {
        var (quotient, remainder) = product.quotientAndRemainder(dividingBy: divisor)  // of the sign of `product`
        switch rounding {
        case .down: if remainder < 0 { quotient -= 1 }
        case .up: if remainder > 0 { quotient += 1 }
        case .nearest:
            // Halves are rounded up, also for negative times, so that a shifted timeline rounds in the same way.
            if remainder < 0 {
                quotient -= 1
                remainder += divisor
            }
            if remainder >= divisor - remainder { quotient += 1 }
        }
        return quotient
    }

    /// Converts `ticks` of `timescale` ticks per second into ticks of `other` ticks per second; saturated at the limits
    /// of `Int64`. `timescale` must be positive.
    public static func rescale(
        _ ticks: Int64, from timescale: Int64, to other: Int64, rounding: Rounding = .nearest
    ) -> Int64 {
        timescale == other ? ticks : self.scale(ticks, by: other, over: timescale, rounding: rounding)
    }

    /// Nanoseconds in a second.
    public static let nanoseconds: Int64 = 1_000_000_000
}

/// A monotonic clock. The program uses the machine's; a test may pass a clock that it advances itself.
public protocol MonotonicClock: Sendable {
    /// Nanoseconds since an arbitrary start; never goes back.
    func now() -> Int64
}
