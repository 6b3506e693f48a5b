/// Comparisons of secrets, whose time tells nothing of where two of them differ.
package enum ConstantTime {
    /// Takes as long as `known` is, whatever `offered` holds: the time must not tell how much of a guess was right.
    ///
    /// - Returns: `true` for two empty ones, too; who knows no secret must not ask.
    package static func isEqual(_ known: [UInt8], _ offered: [UInt8]) -> Bool {
        var difference = known.count ^ offered.count
        for index in known.indices {
            let other: UInt8 = index < offered.count ? offered[index] : 0
            difference |= Int(known[index] ^ other)
        }
        return difference == 0
    }
}
