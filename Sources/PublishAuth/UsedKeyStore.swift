/// Remembers used signed keys, for rooms in which each key can be used for one publication only.
///
/// Only keys with a valid signature are remembered, so a client without the secret cannot fill the store.
package struct UsedKeyStore: Sendable {
    /// Maximum number of unexpired keys. If the store is full, further keys are refused, because a key must not be used
    /// twice.
    package static let maximumCount = 65_536

    private var expiries: [String: Int64] = [:]

    package init() {}

    /// Marks a key as used.
    ///
    /// - Parameters:
    ///   - nonce: Text that identifies the key, such as its hash.
    ///   - expiry: Unix time in seconds at which the key expires.
    ///   - now: Unix time in seconds.
    /// - Returns: False if the key was used before, or the store is full.
    package mutating func take(_ nonce: String, expiry: Int64, now: Int64) -> Bool {
        if self.expiries.count >= Self.maximumCount { self.expiries = self.expiries.filter { $0.value >= now } }
        guard self.expiries[nonce] == nil, self.expiries.count < Self.maximumCount else { return false }
        self.expiries[nonce] = expiry
        return true
    }

    /// Marks a key as unused, because no publication followed.
    package mutating func giveBack(_ nonce: String) { self.expiries[nonce] = nil }
}
