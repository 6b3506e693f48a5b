/// A step in writing a small file durably, in the order in which the steps are taken. A worker can be killed after any of them.
package enum WriteStep: String, Sendable, CaseIterable {
    /// An empty file is beside the target.
    case created
    /// The file beside the target has all of its bytes.
    case written
    /// A power failure no longer loses these bytes.
    case synchronized
    /// The file has the target's name.
    case renamed
    /// A power failure no longer undoes the renaming.
    case directorySynchronized
}
