package import HLS
package import MediaTypes

/// One HLS output of a room: where it goes and how it is listed.
package struct HLSOutputSettings: Sendable, Hashable {
    /// Whether segments leave the playlists.
    package enum PlaylistType: String, Sendable, Hashable, CaseIterable { case live, event }

    /// The directory; made with its parents if it is not there.
    package var directory: String
    /// File name of the multivariant playlist.
    package var multivariantName: String
    package var grid: OutputGrid
    /// Seconds that stay listed at least; below three target durations those count. Ignored for event playlists.
    package var windowSeconds: Int
    package var playlistType: PlaylistType
    /// Seconds a segment that is no longer listed stays beyond what players may need; at least one target duration.
    package var deleteGraceSeconds: Int
    /// For the players' user interface.
    package var title: String?
    /// What players know the room by, whatever its address; `nil`: nothing.
    package var contentID: String?
    /// Start anew in a directory whose room has ended: what the ended session left is removed. A room that has not ended is
    /// continued all the same.
    package var newSession: Bool
    /// What the multivariant playlist offers, in its order; `nil`: every rendition with every sound, and sound alone where
    /// there are no pictures.
    package var variants: [Variant]?
    /// `receive` blocks while the store is behind, and no track is ever given up: for jobs that run as fast as they can.
    /// Otherwise a track that is two segments behind the others is listed as a gap.
    package var waitsForStore: Bool
    /// Nanoseconds a part may wait for the store to keep it for a successor before viewers get it all the same. With what
    /// encoders hold back a part is out 150 ms after its last picture even then.
    package var storePatience: Int64 = 50_000_000
    /// Every rendition with pictures has an I-frame playlist too.
    package var iFramePlaylists = false
    /// The short segments a room begins with: its playlists are shown first when they list
    /// ``OpeningSegments/listed`` segments, or when the room ends. A successor does not begin with them. `nil`: playlists are
    /// shown with the first segment, which is as long as any.
    package var opening: OpeningSegments?
    /// `nil`: segments are clear.
    package var encryption: EncryptionSettings?

    package init(
        directory: String, multivariantName: String = "index.m3u8", grid: OutputGrid, windowSeconds: Int = 60,
        playlistType: PlaylistType = .live, deleteGraceSeconds: Int = 10, title: String? = nil,
        newSession: Bool = false,
        waitsForStore: Bool = false, variants: [Variant]? = nil
    ) {
        self.directory = directory
        self.multivariantName = multivariantName
        self.grid = grid
        self.windowSeconds = windowSeconds
        self.playlistType = playlistType
        self.deleteGraceSeconds = deleteGraceSeconds
        self.title = title
        self.newSession = newSession
        self.waitsForStore = waitsForStore
        self.variants = variants
    }

    /// What is played together, by track names.
    package struct Variant: Sendable, Hashable {
        /// `nil`: sound alone.
        package var video: String?
        package var audio: String?

        package init(video: String?, audio: String?) {
            self.video = video
            self.audio = audio
        }
    }

    var windowStyle: PlaylistWindow.Style {
        switch self.playlistType {
        case .live: .live(windowSeconds: max(0, min(self.windowSeconds, 7 * 86_400)))
        case .event: .event
        }
    }
}
