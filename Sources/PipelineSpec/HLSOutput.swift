package import MediaTypes

/// Output of the renditions as HLS: in a directory, and over HTTP if ``HTTP/listen`` is set.
///
/// Lengths of parts, GOPs and segments are counted in frames of the canvas; durations follow from them.
package struct HLSOutput: Sendable, Hashable {
    package enum PlaylistType: String, Sendable, CaseIterable {
        /// A sliding window; old segments are deleted.
        case live
        /// All segments since the start stay listed (RFC 8216bis §4.4.3.5).
        case event
    }

    /// The viewers' listener: public and read-only.
    package struct HTTP: Sendable, Hashable {
        /// TCP address of the listener; `nil`: no listener. Default `127.0.0.1:0`; `nil` for an offline room.
        package var listen: ListenAddress? = .tcp(host: "127.0.0.1", port: 0)
        /// Origins of web pages that may play the streams (CORS); `*` means any. Default `["*"]`.
        package var allowOrigins = ["*"]
        /// Origins of web pages that may show the viewers' page in a frame (`frame-ancestors`); `*` means any, and
        /// `https://*.example.com` every subdomain. Default none.
        package var embedOrigins: [String] = []
        /// HTTP or HTTPS URL that the viewers' page offers as the room's recording when the room has ended; `nil`: none.
        package var recordingURL: String?
        /// Certificate for HTTPS with HTTP/2; `nil`: HTTP/1.1 in clear text.
        package var tls: TLSSettings?
        /// Settings for signed URLs, which viewers then need; `nil`: anyone can watch.
        package var signedURLs: SignedURLs?
        /// Maximum number of concurrent connections (1…65,535), limited by the number of files that the process can
        /// open; further connections wait. Default 8,192.
        package var maxConnections = 8_192
        /// Maximum number of concurrent connections from one address (1…65,535); further connections are closed. `nil`:
        /// no limit, because all viewers behind a proxy have one address.
        package var maxConnectionsPerAddress: Int?
        /// Seconds that the listener stays open after the room's end (0…86,400). `nil`: if a viewer requested a
        /// playlist within the last 30 s, the length of the live playlist, at most 60 s (60 s for an event playlist);
        /// otherwise 3 s; 0 if the clock is offline.
        package var lingerSeconds: Int?
        /// Whether each rendition is also served as HTTP-FLV and WebSocket-FLV at `live/NAME.flv`. Default false.
        package var flv = false

        package init() {}
    }

    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `hls`.
    package var outputID = "hls"
    /// Directory of playlists and segments, relative to the working directory.
    package var path: String
    /// File name of the multivariant playlist. Default `index.m3u8`.
    package var multivariantPlaylist = "index.m3u8"
    /// Frames from one key frame (IDR) to the next (1…600), a multiple of ``partFrames``. Default 32 at 30 fps, in
    /// proportion at other frame rates.
    package var gopFrames = 32
    /// GOPs in a segment (1…30). Default 2.
    package var segmentGops = 2
    /// Frames in a part (1…600). Default 16 at 30 fps, in proportion at other frame rates.
    package var partFrames = 16
    /// Whether the viewers' listener offers parts and blocking reload (low-latency HLS). Playlists in the directory
    /// never do. Default true; false if the clock is offline.
    package var lowLatency = true
    /// Encoder preset of renditions that have no preset of their own and belong to no WebRTC output. Default
    /// ``VideoEncoding/Preset/veryfast``.
    package var preset = VideoEncoding.Preset.veryfast
    /// Seconds that viewers can seek back in a live output (3…86,400), at least three target durations. Default 60. See
    /// ``hasWholeWindowPlaylists``.
    package var windowSeconds = 60
    /// Type of the media playlists. Default ``PlaylistType/live``; ``PlaylistType/event`` if the clock is offline.
    package var playlistType = PlaylistType.live
    /// Whether every video rendition has an I-frame playlist, so that players can show frames while seeking (RFC
    /// 8216bis §4.4.3.6). Default true for an event playlist without encryption; a short live window does not need it.
    package var iFramePlaylists = false
    /// Seconds that a segment stays on disk after it was removed from all playlists, in addition to its own duration
    /// (0…86,400); at least one target duration. Default 30.
    package var deleteGraceSeconds = 30
    package var http = HTTP()
    /// Directory of clips, relative to the working directory. `nil`: `clips` in ``path``; for an encrypted output,
    /// `clips` in the record output's directory, and no clips if there is no record output.
    package var clipPath: String?
    /// Encryption of segments and parts; `nil`: they are not encrypted.
    package var encryption: HLSEncryption?

    package init(path: String) { self.path = path }

    /// Largest `windowSeconds` whose whole window the live playlists list.
    package static let longestLiveWindow = 600

    /// Whether the window is so long that further playlists, with `-dvr` in their names, list it: the live playlists are
    /// written with every segment, and then list only the last minute.
    package var hasWholeWindowPlaylists: Bool {
        self.playlistType == .live && self.windowSeconds > Self.longestLiveWindow
    }

    /// Frames in a segment.
    package var segmentFrames: Int { self.gopFrames * self.segmentGops }

    /// Returns EXT-X-TARGETDURATION in seconds: the duration of a whole segment rounded to the nearest second, at least
    /// 1.
    ///
    /// Spec: RFC 8216bis §4.4.3.1.
    package func targetDuration(fps: Int) -> Int {
        guard fps > 0 else { return 1 }
        return max(1, (2 * self.segmentFrames + fps) / (2 * fps))
    }
}

extension HLSOutput {
    /// Returns the default part length in frames for `fps`: 16 frames at 30 fps, in proportion at other frame rates. If
    /// `gopFrames` is given, returns the divisor of `gopFrames` that is nearest to that length by ratio, the smaller
    /// one if two are equally near.
    package static func defaultPartFrames(fps: Int, gopFrames: Int?) -> Int {
        let wanted = max(1, Int(clamping: TimeMath.scale(Int64(fps), by: 16, over: 30)))
        guard let gopFrames, gopFrames > 0 else { return wanted }
        var best = 1
        for candidate in 1...gopFrames where gopFrames.isMultiple(of: candidate) {
            let isNearer = max(candidate, wanted) * min(best, wanted) < max(best, wanted) * min(candidate, wanted)
            if isNearer { best = candidate }
        }
        return best
    }

    /// Returns the default GOP length in frames for `fps`: the multiple of `partFrames` nearest to 32 frames at 30 fps
    /// (in proportion at other frame rates), at least one part.
    package static func defaultGopFrames(fps: Int, partFrames: Int) -> Int {
        guard partFrames > 0 else { return 1 }
        let wanted = Int(clamping: TimeMath.scale(Int64(fps), by: 32, over: 30))
        return max(1, (wanted + partFrames / 2) / partFrames) * partFrames
    }
}
