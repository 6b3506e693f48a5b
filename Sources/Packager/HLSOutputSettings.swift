package import HLS
package import MediaTypes

/// Settings of one HLS output of a room.
package struct HLSOutputSettings: Sendable, Hashable {
    /// Whether playlists are sliding windows (`live`) or keep every segment (`event`, `EXT-X-PLAYLIST-TYPE:EVENT`).
    package enum PlaylistType: String, Sendable, Hashable, CaseIterable { case live, event }

    /// The output directory; created with its parents if it does not exist.
    package var directory: String
    /// File name of the multivariant playlist.
    package var multivariantName: String
    /// Frame rate, GOP, segment and part lengths, and audio sample rate of the output.
    package var grid: OutputGrid
    /// Minimum duration in seconds of the listed segments; at least three target durations are used, and at most seven
    /// days. If it is more than 600, then only the playlists of the whole window are that long, and the live ones have
    /// 60 seconds. Ignored for event playlists.
    package var windowSeconds: Int
    package var playlistType: PlaylistType
    /// Seconds for which the file of a segment stays after the time that the HLS specification requires; at least one
    /// target duration is used.
    package var deleteGraceSeconds: Int
    /// Title for the players' user interface.
    package var title: String?
    /// Content ID that identifies the room to players independently of its URL; `nil` omits the tag.
    package var contentID: String?
    /// The channels of closed captions in the video; empty: the playlist says that there are none.
    package var captions: [MultivariantPlaylist.Captions] = []
    /// The subtitle renditions.
    package var subtitles: [SubtitleSettings] = []
    /// Whether to start a new session in a directory whose room has ended, or that contains playlists but no state
    /// file; files of the ended session are removed. A room that has not ended is continued in any case.
    package var newSession: Bool
    /// The variants of the multivariant playlist, in its order; `nil`: every rendition with every audio track, or
    /// audio-only variants if there is no video.
    package var variants: [Variant]?
    /// Whether ``HLSPackager/receive(track:_:)`` blocks while the store is behind, so that no track becomes a gap for
    /// being late: for jobs that run faster than real time. If it is false, a track that is two segments behind the
    /// fastest one is listed as a gap.
    package var waitsForStore: Bool
    /// Maximum time in nanoseconds for which a part is withheld from viewers until it is stored for the next worker. If
    /// that takes longer, a ``LiveEdgeMark`` is written, which may take up to the same time again.
    package var storePatience: Int64 = 50_000_000
    /// Whether every video rendition also has an I-frame playlist.
    package var iFramePlaylists = false
    /// The shorter segments at the start of a room, for a fast first playback. Playlists are then first shown when they
    /// list ``StartupSegments/listed`` segments or the room ends. Later workers of the room make no short segments and
    /// use this setting only to number theirs. `nil`: the first segment has the full length and playlists are shown
    /// with it.
    package var opening: StartupSegments?
    /// Encryption of the segments; `nil`: segments are not encrypted.
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

    /// A variant stream: the names of the video and audio track that are played together; at least one is set.
    package struct Variant: Sendable, Hashable {
        /// Name of the video track; `nil` for an audio-only variant.
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
