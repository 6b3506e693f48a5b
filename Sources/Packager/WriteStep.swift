/// A step of the durable write of a small file; the cases are in order. A worker can be killed after any of them.
package enum WriteStep: String, Sendable, CaseIterable {
    /// An empty temporary file exists.
    case created
    /// The temporary file has all its bytes.
    case written
    /// The temporary file is flushed to disk, so its bytes survive a power failure.
    case synchronized
    /// The file has its final name.
    case renamed
    /// The directory is flushed to disk, so the rename survives a power failure.
    case directorySynchronized
}
