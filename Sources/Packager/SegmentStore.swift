package import MediaKernels
package import MediaTypes

/// The destination of an output's files: a directory, or any store that keeps whole objects by name.
///
/// There is one writer at a time. Names contain no path separator.
package protocol SegmentStore: Sendable {
    /// Prepares the store for writing.
    ///
    /// - Throws: ``MediaError/Code/notCreatable``.
    func prepare() throws(MediaError)

    /// Replaces the content of `name` by the concatenated `pieces`. Readers see the old or the new object, never a part
    /// of it.
    ///
    /// - Parameter durable: The object survives a crash of the machine once this returns.
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``; the old content stays then, unless only
    ///   the flush of the new name to disk has failed.
    func put(_ name: String, _ pieces: [PacketMemory], durable: Bool) throws(MediaError)

    /// Adds bytes to the end of `name`, which exists. They survive a crash of the machine once this returns. A reader,
    /// and a later worker, may see a part of them.
    ///
    /// - Throws: ``MediaError/Code/outputLost``, also if the object does not exist; ``MediaError/Code/diskFull``. A part of
    ///   the bytes may be added.
    func append(_ name: String, _ bytes: [UInt8]) throws(MediaError)

    /// Writes a durable object that only this user can read; otherwise like ``put(_:_:durable:)``.
    func keep(secret name: String, _ bytes: [UInt8]) throws(MediaError)

    /// Overwrites the beginning of `name` in place. It needs no additional space if the object exists and is at least
    /// as large. A reader may see a partial write.
    ///
    /// - Throws: ``MediaError/Code/outputLost``, ``MediaError/Code/diskFull``.
    func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError)

    /// Removes `name`; does nothing if it does not exist.
    func remove(_ name: String) throws(MediaError)

    /// The content of `name`; `nil` if it does not exist or cannot be read.
    func read(_ name: String) -> [UInt8]?

    /// The first bytes of `name`, at most `prefix` of them; `nil` if it does not exist or cannot be read.
    func read(_ name: String, prefix: Int) -> [UInt8]?

    /// Whether `name` exists.
    func contains(_ name: String) -> Bool

    /// Size of `name` in bytes; `nil` if it does not exist.
    func size(of name: String) -> Int?

    /// Path of the object for readers on this machine; `nil` if it has none.
    func path(of name: String) -> String?

    /// Makes objects and their names durable: they survive a crash of the machine once this returns.
    ///
    /// - Throws: ``MediaError/Code/outputLost``.
    func synchronize(_ names: [String]) throws(MediaError)

    /// Opens the store's directory, to detect later whether it was replaced; `nil` if the store cannot detect that.
    func hold() -> (any HeldDirectory)?

    /// Runs `body` under the store's lock, so that no other worker changes the room at the same time. Runs it without a
    /// lock if the store has none, or if another process holds the lock for more than a second.
    func exclusively<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R
}

/// A store's directory, kept open. The directory can be read even after it has been moved away or another directory is
/// mounted over it.
package protocol HeldDirectory: Sendable {
    /// Whether the store's path still leads to this directory.
    var isCurrent: Bool { get }
    /// Names of the directory's entries, including `.` and `..`.
    var names: [String] { get }

    /// Restores a file from this directory at the store's current path, with the same permissions.
    ///
    /// - Parameter limit: Maximum size in bytes of a file that is copied if a hard link is not possible.
    /// - Returns: Number of copied bytes; 0 for a hard link, and if the path already has a file of this name; `nil` if
    ///   the file does not exist or could not be restored.
    func restore(_ name: String, limit: Int) -> Int?
}

extension SegmentStore {
    package func hold() -> (any HeldDirectory)? { nil }

    /// Does nothing: for stores in which every object is durable.
    package func synchronize(_ names: [String]) throws(MediaError) {}

    package func overwrite(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
        try self.put(name, [PacketMemory(bytes)], durable: false)
    }

    package func append(_ name: String, _ bytes: [UInt8]) throws(MediaError) {
        guard let old = self.read(name) else {
            throw MediaError(
                .outputLost, "\(name) does not exist", at: "hls",
                fix: "free space or restore the directory; the output keeps trying")
        }
        try self.put(name, [PacketMemory(old), PacketMemory(bytes)], durable: true)
    }

    package func size(of name: String) -> Int? { self.read(name)?.count }

    package func read(_ name: String, prefix: Int) -> [UInt8]? { self.read(name).map { Array($0.prefix(prefix)) } }

    package func keep(secret name: String, _ bytes: [UInt8]) throws(MediaError) {
        try self.put(name, [PacketMemory(bytes)], durable: true)
    }

    package func exclusively<R>(_ body: () throws(MediaError) -> R) throws(MediaError) -> R { try body() }

    /// Removes objects in order until one cannot be removed: further attempts would fail, too, each with a system call.
    ///
    /// - Returns: The names that are left, at most the last 16,384.
    func removeAll(_ names: [String], failed: (MediaError) -> Void) -> [String] {
        for (place, name) in names.enumerated() {
            do throws(MediaError) { try self.remove(name) } catch {
                failed(error)
                return Array(names[place...].suffix(16_384))
            }
        }
        return []
    }

    /// Writes a byte array; otherwise like ``put(_:_:durable:)``.
    func put(_ name: String, bytes: [UInt8], durable: Bool = false) throws(MediaError) {
        try self.put(name, [PacketMemory(bytes)], durable: durable)
    }
}
