/// A hash that is the same in every process: 64-bit FNV-1a. Not for secrets.
package enum FNV1a {
    // Every playlist request hashes a playlist: not generic, since other modules would call it unspecialized.

    /// Returns the hash of the bytes.
    package static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
