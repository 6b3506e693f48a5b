/// Comparison of secrets in constant time, which does not reveal where they differ.
package enum ConstantTime {
    /// Compares two byte arrays. The time depends only on the length of `known`, not on how much of a guess is right.
    ///
    /// - Returns: `true` also if both are empty; do not call it without a secret.
    package static func isEqual(_ known: [UInt8], _ offered: [UInt8]) -> Bool {
        var difference = known.count ^ offered.count
        for index in known.indices {
            let other: UInt8 = index < offered.count ? offered[index] : 0
            difference |= Int(known[index] ^ other)
        }
        return difference == 0
    }
}
