package import MediaTypes
package import RTMP

/// Finds the source whose static stream key a publisher's address contains.
package struct KeyTable: Sendable {
    private let app: String
    /// The bindings whose keys are in plain text.
    private let bindings: [IngestBinding]
    /// Keys of which the worker has only a hash.
    private let sealed: [(source: SourceID, key: HashedStreamKey)]

    package init(app: String, bindings: [IngestBinding]) {
        self.app = app
        self.bindings = bindings.filter { !$0.streamKey.isEmpty && HashedStreamKey($0.streamKey) == nil }
        self.sealed = bindings.compactMap { binding in HashedStreamKey(binding.streamKey).map { (binding.source, $0) } }
    }

    /// Returns the source bound to the key in `address`; nil if the address has another app or an unknown key.
    ///
    /// The search takes the same time whether or not a key matches, and whichever key matches, because every key is
    /// compared completely.
    package func source(of address: StreamAddress) -> SourceID? {
        guard let key = address.key(app: self.app) else { return nil }
        let plain = Array(key.utf8)
        let full = address.rawQuery.isEmpty ? plain : plain + [UInt8(ascii: "?")] + Array(address.rawQuery.utf8)
        var found: SourceID?
        for binding in self.bindings {
            let bound = Array(binding.streamKey.utf8)
            let candidate = bound.contains(UInt8(ascii: "?")) ? full : plain
            if ConstantTime.isEqual(bound, candidate) { found = binding.source }
        }
        for (source, key) in self.sealed {
            // It is not known whether the hashed key includes a query, so both are tried.
            let isPlain = key.matches(plain)
            if key.matches(full) || isPlain { found = source }
        }
        return found
    }
}
