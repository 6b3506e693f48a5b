package import MediaKernels
package import MediaTypes

/// A change at the live edge of a low-latency stream: new objects, changed playlists and removed names, in the order to
/// apply them.
package struct LiveEdgeUpdate: Sendable {
    /// The bytes of an object.
    package enum Content: Sendable {
        /// A part or an initialization segment.
        case whole(PacketMemory)
        /// A segment as the names of its parts, in order; all of them are published and not removed.
        case parts([String])
    }

    package struct Object: Sendable {
        package let name: String
        package let kind: TrackKind
        package let content: Content

        package init(name: String, kind: TrackKind, content: Content) {
            self.name = name
            self.kind = kind
            self.content = content
        }
    }

    /// New objects; added before the playlists that name them.
    package var added: [Object] = []
    /// Playlists whose text has changed, by name.
    package var playlists: [(name: String, playlist: MediaPlaylist)] = []
    /// Names of objects that are no longer kept.
    package var removed: [String] = []

    package init() {}

    package var isEmpty: Bool { self.added.isEmpty && self.playlists.isEmpty && self.removed.isEmpty }
}
