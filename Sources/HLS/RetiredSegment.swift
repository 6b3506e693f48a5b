/// A segment that is no longer listed but must still be served for a while.
package struct RetiredSegment: Sendable, Hashable {
    package let uri: String
    package let map: InitializationSegment
    /// Nanoseconds of media time since the room's origin; from then on the file may be deleted.
    package let deleteAt: Int64
    /// The segment was a gap: there is no file.
    package let gap: Bool
    /// Size in bytes.
    package let byteCount: Int

    package init(uri: String, map: InitializationSegment, deleteAt: Int64, gap: Bool, byteCount: Int) {
        self.uri = uri
        self.map = map
        self.deleteAt = deleteAt
        self.gap = gap
        self.byteCount = byteCount
    }

    /// The same segment with another deletion time.
    func leaving(at deleteAt: Int64) -> RetiredSegment {
        RetiredSegment(uri: self.uri, map: self.map, deleteAt: deleteAt, gap: self.gap, byteCount: self.byteCount)
    }
}
