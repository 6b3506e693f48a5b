package import MediaKernels
package import MediaTypes

/// A change at the live edge of a low-latency stream: new objects, changed playlists and removed names, to be applied
/// in this order.
package struct LiveEdgeUpdate: Sendable {
    /// The content of an object.
    package enum Content: Sendable {
        /// The bytes of a part, of an initialization segment, of an encrypted segment, or of a subtitle segment.
        case whole(PacketMemory)
        /// An unencrypted segment that consists of the parts with these names, in order; all of the parts are
        /// available.
        case parts([String])
    }

    package struct Object: Sendable {
        package let name: String
        package let kind: TrackKind
        package let content: Content
        /// MIME type of the object; `nil`: that of fragmented MP4 of this kind.
        package let contentType: String?

        package init(name: String, kind: TrackKind, content: Content, contentType: String? = nil) {
            self.name = name
            self.kind = kind
            self.content = content
            self.contentType = contentType
        }
    }

    /// New objects; they must be available before the playlists that list them.
    package var added: [Object] = []
    /// Changed playlists, with their file names.
    package var playlists: [(name: String, playlist: MediaPlaylist)] = []
    /// Names of objects that are no longer available.
    package var removed: [String] = []
    /// File names of the playlists whose renditions have fallen asleep; each exists again with the update that
    /// contains its next version.
    package var asleep: [String] = []

    package init() {}

    package var isEmpty: Bool {
        self.added.isEmpty && self.playlists.isEmpty && self.removed.isEmpty && self.asleep.isEmpty
    }
}
