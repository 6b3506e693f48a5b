/// A hash that is the same in every process: 64-bit FNV-1a. Not for secrets.
package enum FNV1a {
    /// The hash of the bytes in order; that of two parts is the hash of both, one after the other.
    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
