package import MediaTypes

/// A worker's claim on its room, for writing additional files in its directory. It is valid until a worker with a
/// higher incarnation (run number) claims the room.
package struct RoomClaim: Sendable {
    private let store: any SegmentStore
    package let incarnation: Int64

    init(store: any SegmentStore, incarnation: Int64) {
        self.store = store
        self.incarnation = incarnation
    }

    /// Runs `body` under the lock of the room's store if the claim is still valid. While `body` runs, no other worker
    /// can claim the room, unless the lock is held for more than a second.
    ///
    /// - Throws: ``MediaError/Code/superseded`` if the claim is not valid, and the errors of `body`.
    package func whileValid<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R {
        let (store, incarnation) = (self.store, self.incarnation)
        return try store.exclusively { () throws(MediaError) -> R in
            guard !StateFile.isSuperseded(incarnation, atHeadIn: store) else {
                throw MediaError(
                    .superseded, "a newer worker serves this room", at: "commands", fix: "stop this worker")
            }
            return try body()
        }
    }
}

extension HLSPackager {
    /// This worker's claim on the room.
    package var claim: RoomClaim { RoomClaim(store: self.store, incarnation: self.claimed.incarnation) }
}

extension StateFile {
    /// Whether a worker with a higher incarnation has claimed the room. Unlike ``isSuperseded(_:in:known:)`` it reads
    /// only the beginning of the state file if that is enough.
    static func isSuperseded(_ incarnation: Int64, atHeadIn store: any SegmentStore) -> Bool {
        guard let head = store.read(Self.name, prefix: Self.headSize) else { return false }
        if let claimed = Self.incarnation(atHeadOf: head) { return claimed > incarnation }
        return Self.isSuperseded(incarnation, in: store)
    }
}
