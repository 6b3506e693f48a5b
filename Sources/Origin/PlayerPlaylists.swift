import HLS

/// The media playlists that players of an output read, and how often they read them, which tells how many players there
/// are. Default: none.
package struct PlayerPlaylists: Sendable {
    /// What a playlist has. A player of an HLS output reads one playlist with video, one with audio, or one of each.
    enum Kind: Sendable { case video, audio }

    private let kinds: [String: Kind]
    private let multivariants: Set<String>
    private let target: Int64
    private let part: Int64

    /// - Parameters:
    ///   - video: Names of media playlists with video. I-frame playlists do not count.
    ///   - audio: Names of media playlists with audio alone.
    ///   - multivariants: Paths of the multivariant playlists in subdirectories. All other playlists there are media
    ///     playlists with video and audio.
    ///   - target: Target duration in milliseconds.
    ///   - part: Target duration of parts in milliseconds; nil for playlists without parts.
    package init(
        video: Set<String> = [], audio: Set<String> = [], multivariants: Set<String> = [], target: Int64 = 0,
        part: Int64? = nil
    ) {
        self.kinds = Dictionary(
            video.map { ($0, .video) } + audio.map { ($0, .audio) }, uniquingKeysWith: { first, _ in first })
        self.multivariants = multivariants
        self.target = target
        self.part = part ?? target
    }

    /// The kind of a media playlist; nil for other playlists.
    func kind(of path: String) -> Kind? {
        if let kind = self.kinds[path] { return kind }
        return path.utf8.contains(UInt8(ascii: "/")) && !self.multivariants.contains(path) ? .video : nil
    }

    /// Milliseconds of playback until the player's next request: a part if it waits for one, otherwise a target duration.
    ///
    /// Spec: rfc8216bis §6.3.4 (a player reloads once per target duration), §6.2.5.2 (once per part if it blocks).
    func interval(_ directives: ReloadDirectives) -> Int64 {
        directives.part == nil ? self.target : self.part
    }
}
