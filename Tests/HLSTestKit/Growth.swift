import TestSupport

/// How the processor time something takes grows with its size.
package enum Growth {
    /// Processor time for `large` over that for `small`, the least of three runs each: about their quotient where the work is in
    /// proportion, about its square where everything is looked up among everything.
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
