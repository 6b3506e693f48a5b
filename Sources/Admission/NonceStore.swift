/// Remembers the signed keys that were used, for rooms in which each is good for one publication.
///
/// Only keys whose signature is right are remembered, so whoever has no secret cannot fill it.
package struct NonceStore: Sendable {
    /// When there are so many whose time is not over, no further one is taken: better refused than used twice.
    package static let maximumCount = 65_536

    private var expiries: [String: Int64] = [:]

    package init() {}

    /// - Parameters:
    ///   - expiry: Unix time in seconds up to which the key could be used again.
    ///   - now: Unix time in seconds.
    /// - Returns: False if it was used before.
    package mutating func take(_ nonce: String, expiry: Int64, now: Int64) -> Bool {
        if self.expiries.count >= Self.maximumCount { self.expiries = self.expiries.filter { $0.value >= now } }
        guard self.expiries[nonce] == nil, self.expiries.count < Self.maximumCount else { return false }
        self.expiries[nonce] = expiry
        return true
    }

    /// It was not used after all.
    package mutating func giveBack(_ nonce: String) { self.expiries[nonce] = nil }
}
