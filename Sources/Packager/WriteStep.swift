/// A step of a durable write of a small file, in order. A worker can be killed after any of them.
package enum WriteStep: String, Sendable, CaseIterable {
    /// An empty temporary file exists.
    case created
    /// The temporary file has all its bytes.
    case written
    /// The bytes survive a power failure.
    case synchronized
    /// The file has its final name.
    case renamed
    /// The rename survives a power failure.
    case directorySynchronized
}
