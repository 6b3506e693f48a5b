/// A segment that is no longer listed but must still be served for a while.
package struct RetiredSegment: Sendable, Hashable {
    package let uri: String
    package let map: InitializationSegment
    /// Media time from which on the file may be deleted: nanoseconds since the room's origin.
    package let deleteAt: Int64
    /// Whether the segment was a gap, so that there is no file.
    package let gap: Bool
    /// Size in bytes before encryption.
    package let byteCount: Int

    package init(uri: String, map: InitializationSegment, deleteAt: Int64, gap: Bool, byteCount: Int) {
        self.uri = uri
        self.map = map
        self.deleteAt = deleteAt
        self.gap = gap
        self.byteCount = byteCount
    }

    /// Returns the same segment with another deletion time.
    func leaving(at deleteAt: Int64) -> RetiredSegment {
        RetiredSegment(uri: self.uri, map: self.map, deleteAt: deleteAt, gap: self.gap, byteCount: self.byteCount)
    }
}
