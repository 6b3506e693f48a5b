/// Estimates which bit rate a peer's connection carries, for senders that expect REMB.
///
/// Spec: draft-ietf-rmcat-gcc-02 §6: below 2 % loss the rate grows, above 10 % it falls, between it stays.
package struct LossBasedEstimate: Sendable {
    /// The estimated bit rate, in bits per second.
    package private(set) var bitRate: Int
    private let highest: Int
    private static let lowest = 100_000

    /// - Parameters:
    ///   - start: In bits per second.
    ///   - highest: What the operator allows, in bits per second.
    package init(start: Int, highest: Int) {
        self.highest = max(Self.lowest, highest)
        self.bitRate = min(max(start, Self.lowest), self.highest)
    }

    /// Updates the estimate, once a second.
    ///
    /// - Parameters:
    ///   - fractionLost: 0…1, of the last second.
    ///   - received: What arrived in the last second, in bits per second.
    package mutating func update(fractionLost: Double, received: Int) {
        var rate = Double(self.bitRate)
        if fractionLost > 0.1 {
            rate *= 1 - 0.5 * min(1, fractionLost)
        } else if fractionLost < 0.02 {
            // What a sender does not use says nothing about the network.
            rate = max(rate, min(rate * 1.08 + 1_000, Double(received) * 1.5))
        }
        self.bitRate = min(max(Int(rate), Self.lowest), self.highest)
    }
}
