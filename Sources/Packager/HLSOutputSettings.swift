package import HLS
package import MediaTypes

/// Settings of one HLS output of a room.
package struct HLSOutputSettings: Sendable, Hashable {
    /// Whether segments are removed from the playlists.
    package enum PlaylistType: String, Sendable, Hashable, CaseIterable { case live, event }

    /// The directory; created with its parents if it does not exist.
    package var directory: String
    /// File name of the multivariant playlist.
    package var multivariantName: String
    package var grid: OutputGrid
    /// Least seconds that stay listed; at least three target durations. Ignored for event playlists.
    package var windowSeconds: Int
    package var playlistType: PlaylistType
    /// Seconds that an unlisted segment is kept longer than players may need it; at least one target duration.
    package var deleteGraceSeconds: Int
    /// Title for the players' user interface.
    package var title: String?
    /// Identifies the room to players independently of its URL; `nil` leaves the tag out.
    package var contentID: String?
    /// Starts a new session in a directory whose room has ended; files of the ended session are removed. A room that
    /// has not ended is continued even if this is set.
    package var newSession: Bool
    /// The variants of the multivariant playlist, in its order; `nil`: every rendition with every audio track, or
    /// audio-only variants if there is no video.
    package var variants: [Variant]?
    /// `receive` blocks while the store is behind, and no track is ever given up: for jobs that run faster than real
    /// time. If it is false, a track that is two segments behind the others is listed as a gap.
    package var waitsForStore: Bool
    /// Nanoseconds that a part may wait to be stored for the next worker before viewers get it anyway. With the
    /// encoders' delay, a part is available at most 150 ms after its last frame.
    package var storePatience: Int64 = 50_000_000
    /// Every video rendition has an I-frame playlist too.
    package var iFramePlaylists = false
    /// The short segments at the start of a room. Playlists are first shown when they list ``StartupSegments/listed``
    /// segments, or when the room ends. Later workers of the room do not use them. `nil`: playlists are shown with the
    /// first segment, which has the full length.
    package var opening: StartupSegments?
    /// `nil`: segments are not encrypted.
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

    /// Tracks that are played together, by name.
    package struct Variant: Sendable, Hashable {
        /// `nil` for an audio-only variant.
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
