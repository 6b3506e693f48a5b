package import MediaTypes

/// A small file in a room's directory, which only the worker with the valid claim on the room can change.
///
/// Each write creates a temporary file in the same directory, flushes that file to disk and, if the claim is still
/// valid, renames it to the final name.
package struct ClaimedFile: Sendable {
    private let claim: RoomClaim
    private let store: DirectoryStore
    private let name: String
    /// Called on the writing thread after each step of a write. Tests use it to inspect the directory or to stop the
    /// worker at that step.
    private let reached: @Sendable (WriteStep) -> Void

    /// Number of previous workers whose temporary files are cleaned up.
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

    /// Incarnation (run number) of the worker that holds the claim.
    package var incarnation: Int64 { self.claim.incarnation }

    /// A file under the same claim whose name is this file's name plus `suffix`.
    package func beside(_ suffix: String) -> ClaimedFile {
        ClaimedFile(self.name + suffix, in: self.store.directory, claim: self.claim)
    }

    /// The file's content; `nil` if it does not exist or cannot be read.
    package func read() -> [UInt8]? { self.store.read(self.name) }

    /// Replaces the file's content.
    ///
    /// - Throws: ``MediaError/Code/superseded`` if another worker has claimed the room; the file keeps its content then.
    ///   ``MediaError/Code/outputLost`` or ``MediaError/Code/diskFull``.
    package func write(_ bytes: [UInt8]) throws(MediaError) {
        let temporary = self.temporary(self.claim.incarnation)
        // The slow part runs before taking the lock, which the output's writer takes for every segment.
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

    /// Removes the file, if this worker still holds the room's claim.
    ///
    /// - Throws: ``MediaError/Code/superseded`` if another worker has claimed the room; ``MediaError/Code/outputLost``.
    package func remove() throws(MediaError) {
        try self.claim.whileValid { () throws(MediaError) in try self.store.remove(exactly: self.name) }
    }

    /// Removes temporary files that any of the eight workers before this one left when it was killed during a write.
    package func removeLeftovers() {
        let now = self.claim.incarnation
        for incarnation in max(1, now - Self.pastWorkers)..<max(1, now) {
            try? self.store.remove(exactly: self.temporary(incarnation))
        }
    }

    private func temporary(_ incarnation: Int64) -> String { ".\(self.name).\(incarnation).tmp" }
}
