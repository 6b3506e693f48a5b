package import MediaTypes
package import RTMP

/// Finds the source that a publisher's address names.
package struct KeyTable: Sendable {
    private let app: String
    private let bindings: [IngestBinding]

    package init(app: String, bindings: [IngestBinding]) {
        self.app = app
        self.bindings = bindings
    }

    /// The source bound to the key in `address`; nil for another app and for a key that is not bound.
    ///
    /// Takes the same time whichever key is right, and whether one is: every key is compared to its end.
    package func source(of address: StreamAddress) -> SourceID? {
        guard let key = address.key(app: self.app) else { return nil }
        let plain = Array(key.utf8)
        let full = address.rawQuery.isEmpty ? plain : plain + [UInt8(ascii: "?")] + Array(address.rawQuery.utf8)
        var found: SourceID?
        for binding in self.bindings where !binding.streamKey.isEmpty {
            let bound = Array(binding.streamKey.utf8)
            let candidate = bound.contains(UInt8(ascii: "?")) ? full : plain
            if ConstantTime.isEqual(bound, candidate) { found = binding.source }
        }
        return found
    }
}
