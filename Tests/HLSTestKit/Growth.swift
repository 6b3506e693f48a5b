import TestSupport

/// How the CPU time of an operation grows with its size.
package enum Growth {
    /// CPU time for `large` divided by that for `small`, each the least of three runs, but `small` at least 1 µs: about
    /// the ratio of the sizes for linear cost, about its square for quadratic cost.
    package static func ratio(small: Int, large: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        func least(_ size: Int) throws -> Double {
            var least = Double.infinity
            for _ in 0..<3 {
                let time = try ThreadTime.measure { try body(size) }
                least = min(least, Double(time) / 1_000)
            }
            return least
        }
        return try least(large) / max(1, least(small))
    }
}
