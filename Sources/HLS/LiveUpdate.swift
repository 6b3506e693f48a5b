package import MediaKernels
package import MediaTypes

/// What changed at the live edge: everything players of a low-latency stream may ask for, in the order it came to be.
package struct LiveUpdate: Sendable {
    /// The bytes of an object.
    package enum Content: Sendable {
        /// A part or an initialization segment.
        case whole(PacketMemory)
        /// A segment: its parts, by name, one after the other; all of them are published and not removed.
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

    /// New objects; before the playlists that name them.
    package var added: [Object] = []
    /// Playlists whose text is another now, by name.
    package var playlists: [(name: String, playlist: MediaPlaylist)] = []
    /// Names that are no longer kept.
    package var removed: [String] = []

    package init() {}

    package var isEmpty: Bool { self.added.isEmpty && self.playlists.isEmpty && self.removed.isEmpty }
}
