package import MediaTypes

/// A worker's claim on its room, for those who write files beside the output's: valid until a worker of a higher incarnation claims
/// the room.
package struct RoomClaim: Sendable {
    private let store: any SegmentStore
    package let incarnation: Int64

    init(store: any SegmentStore, incarnation: Int64) {
        self.store = store
        self.incarnation = incarnation
    }

    /// Runs `body` under the lock of the room's store if the claim is still valid: no worker can claim the room meanwhile, unless the
    /// lock is held for more than a second.
    ///
    /// - Throws: ``MediaError/Code/superseded`` if it is not, and what `body` throws.
    package func whileValid<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R {
        let (store, incarnation) = (self.store, self.incarnation)
        return try store.exclusively { () throws(MediaError) -> R in
            guard !StateFile.isSuperseded(incarnation, atHeadIn: store) else {
                throw MediaError(.superseded, "a newer worker serves this room", at: "commands", fix: "let it")
            }
            return try body()
        }
    }
}

extension HLSPackager {
    package var claim: RoomClaim { RoomClaim(store: self.store, incarnation: self.claimed.incarnation) }
}

extension StateFile {
    /// As ``isSuperseded(_:in:known:)``, for those who have not written the file: of a large file only the beginning is read.
    static func isSuperseded(_ incarnation: Int64, atHeadIn store: any SegmentStore) -> Bool {
        guard let head = store.read(Self.name, prefix: Self.headSize) else { return false }
        if let claimed = Self.incarnation(atHeadOf: head) { return claimed > incarnation }
        return Self.isSuperseded(incarnation, in: store)
    }
}
