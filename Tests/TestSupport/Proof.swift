#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Whether tests with very many cases run all of them (`make proofs`) or a part of them.
package enum Proof {
    /// Whether `TANDEM_PROOFS=full` is set.
    package static let isFull = getenv("TANDEM_PROOFS").map { String(cString: $0) } == "full"

    /// Whether case `index` of series `series` runs: each case if ``isFull``; otherwise every `share`-th case, shifted by one
    /// from series to series.
    package static func runs(_ index: Int, of series: Int, share: Int) -> Bool {
        self.isFull || (index &+ series) % share == 0
    }
}
