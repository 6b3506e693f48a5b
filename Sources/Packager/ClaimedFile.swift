package import MediaTypes

/// A small file that this user alone may read, written by the worker that holds the room's claim.
///
/// Each write makes a file of its own beside it, makes that durable, and moves it over the name while the claim is valid.
package struct ClaimedFile: Sendable {
    private let claim: RoomClaim
    private let store: DirectoryStore
    private let name: String
    /// Called on the writing thread after each step of a write. A test looks at the directory there, or keeps the worker from going on.
    private let reached: @Sendable (WriteStep) -> Void

    /// Workers whose unfinished writes are looked for.
    private static let pastWorkers: Int64 = 8

    package init(
        _ name: String, in directory: String, claim: RoomClaim,
        reached: @escaping @Sendable (WriteStep) -> Void = { _ in }
    ) {
        self.claim = claim
        self.store = DirectoryStore(directory: directory)
        self.name = name
        self.reached = reached
    }

    /// Incarnation of the worker that holds the claim.
    package var incarnation: Int64 { self.claim.incarnation }

    /// A file of the same claim whose name ends with `suffix` behind this one's.
    package func beside(_ suffix: String) -> ClaimedFile {
        ClaimedFile(self.name + suffix, in: self.store.directory, claim: self.claim)
    }

    package func read() -> [UInt8]? { self.store.read(self.name) }

    /// - Throws: ``MediaError/Code/superseded`` if another worker has claimed the room: nothing is written then;
    ///   ``MediaError/Code/outputLost`` or ``MediaError/Code/diskFull``.
    package func write(_ bytes: [UInt8]) throws(MediaError) {
        let temporary = self.temporary(self.claim.incarnation)
        // What may take long comes before the lock, which the output's writer takes for every segment.
        try self.store.stage(temporary, bytes, self.reached)
        do throws(MediaError) {
            try self.claim.whileValid { () throws(MediaError) in try self.store.move(temporary, to: self.name) }
        } catch {
            try? self.store.remove(exactly: temporary)
            throw error
        }
        self.reached(.renamed)
        try self.store.synchronize([])
        self.reached(.directorySynchronized)
    }

    /// Removes the file, as ``write(_:)`` writes it.
    package func remove() throws(MediaError) {
        try self.claim.whileValid { () throws(MediaError) in try self.store.remove(exactly: self.name) }
    }

    /// Removes what workers before this one were killed over.
    package func removeLeftovers() {
        let now = self.claim.incarnation
        for incarnation in max(1, now - Self.pastWorkers)..<max(1, now) {
            try? self.store.remove(exactly: self.temporary(incarnation))
        }
    }

    private func temporary(_ incarnation: Int64) -> String { ".\(self.name).\(incarnation).tmp" }
}
