import HLS

/// The media playlists of an output and their reload intervals, used to estimate the number of players from playlist
/// requests. Without arguments, requests count as no playback time.
package struct PlayerPlaylists: Sendable {
    /// The kind of media in a playlist. A player of an HLS output reads one playlist with video, one with audio, or one
    /// of each.
    enum Kind: Sendable { case video, audio }

    private let kinds: [String: Kind]
    private let multivariants: Set<String>
    private let target: Int64
    private let part: Int64
    /// Names of the media playlists of the whole window, and their target duration in milliseconds.
    private let whole: Set<String>
    private let wholeTarget: Int64

    /// Makes a value from the names of an output's playlists.
    ///
    /// - Parameters:
    ///   - video: Names of media playlists with video. I-frame playlists do not count.
    ///   - audio: Names of audio-only media playlists.
    ///   - multivariants: Paths of the multivariant playlists in subdirectories. All other playlists in subdirectories
    ///     count as media playlists with video and audio.
    ///   - target: Target duration in milliseconds.
    ///   - part: Target duration of parts in milliseconds; nil for playlists without parts.
    ///   - whole: Those of `video` and `audio` that list the whole window, and are reloaded less often.
    ///   - wholeTarget: Target duration of `whole` in milliseconds.
    package init(
        video: Set<String> = [], audio: Set<String> = [], multivariants: Set<String> = [], target: Int64 = 0,
        part: Int64? = nil, whole: Set<String> = [], wholeTarget: Int64 = 0
    ) {
        self.whole = whole
        self.wholeTarget = wholeTarget
        self.kinds = Dictionary(
            video.map { ($0, .video) } + audio.map { ($0, .audio) }, uniquingKeysWith: { first, _ in first })
        self.multivariants = multivariants
        self.target = target
        self.part = part ?? target
    }

    /// Returns the kind of a media playlist; nil for playlists that are not counted.
    func kind(of path: String) -> Kind? {
        if let kind = self.kinds[path] { return kind }
        return path.utf8.contains(UInt8(ascii: "/")) && !self.multivariants.contains(path) ? .video : nil
    }

    /// Returns the playback time in milliseconds until the player's next request: the duration of a part if the player
    /// waits for a part, otherwise a target duration.
    ///
    /// Spec: rfc8216bis §6.3.4 (a player reloads once per target duration), §6.2.5.2 (once per part if it blocks).
    func interval(_ directives: ReloadDirectives, path: String) -> Int64 {
        guard !self.whole.contains(path) else { return self.wholeTarget }
        return directives.part == nil ? self.target : self.part
    }
}
