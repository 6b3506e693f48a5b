package import MediaTypes

/// The ladder as HLS in a directory, and over HTTP when it listens.
///
/// The grid is counted in frames of the canvas; durations follow from it.
package struct HLSOutput: Sendable, Hashable {
    package enum PlaylistType: String, Sendable, CaseIterable {
        /// A window that slides; old segments are deleted.
        case live
        /// Everything since the start stays listed (RFC 8216bis §4.4.3.5).
        case event
    }

    /// The viewers' listener: public and read-only.
    package struct HTTP: Sendable, Hashable {
        /// A TCP address; `nil`: none. Default `127.0.0.1:0`, none for an offline room.
        package var listen: ListenAddress? = .tcp(host: "127.0.0.1", port: 0)
        /// Origins a browser may play from; `*` is any. Default `["*"]`.
        package var allowOrigins = ["*"]
        /// HTTPS, with HTTP/2, by this certificate; `nil`: HTTP/1.1 in clear text.
        package var tls: TLSSettings?
        /// Viewers need signed URLs; `nil`: anybody may watch.
        package var signedURLs: SignedURLs?
        /// Connections at once (1…65,535), as far as the process may open so many files; more wait. Default 8,192.
        package var maxConnections = 8_192
        /// Connections at once from one address (1…65,535), more are closed; `nil`: no limit, since a proxy is one address.
        package var maxConnectionsPerAddress: Int?
        /// Seconds that the listener stays open behind the room's end (0…86,400); `nil`: as long as the window, at most 60, if a viewer
        /// asked within the last 30 seconds, else 3; 0 when the clock is offline.
        package var lingerSeconds: Int?
        /// Each rendition is there as HTTP-FLV and WebSocket-FLV too, at `live/NAME.flv`. Default false.
        package var flv = false

        package init() {}
    }

    /// `[A-Za-z0-9_.-]{1,64}`. Default `hls`.
    package var outputID = "hls"
    /// Directory, relative to the working directory.
    package var path: String
    /// File name of the multivariant playlist. Default `index.m3u8`.
    package var multivariantPlaylist = "index.m3u8"
    /// Frames from one IDR picture to the next (1…600), a multiple of ``partFrames``. Default 32 at 30 frames a second,
    /// in proportion at others.
    package var gopFrames = 32
    /// GOPs in a segment (1…30). Default 2.
    package var segmentGops = 2
    /// Frames in a part (1…600). Default 16 at 30 frames a second, in proportion at others.
    package var partFrames = 16
    /// The viewers' listener offers parts and blocking reload (low-latency HLS); the directory's playlists stay plain.
    /// Default true, false when the clock is offline.
    package var lowLatency = true
    /// Preset of the renditions that name none. Default ``VideoEncoding/Preset/veryfast``.
    package var preset = VideoEncoding.Preset.veryfast
    /// How much a live playlist lists, in seconds (3…86,400), at least three segments. Default 60.
    package var windowSeconds = 60
    /// Default ``PlaylistType/live``; ``PlaylistType/event`` when the clock is offline.
    package var playlistType = PlaylistType.live
    /// Every rendition with pictures has an I-frame playlist, so that players show pictures while somebody seeks (RFC 8216bis
    /// §4.4.3.6). Default true for an event playlist with clear segments; nobody seeks far in a short window.
    package var iFramePlaylists = false
    /// How long a segment stays on disk after it left every playlist, in seconds (0…86,400). Default 30.
    package var deleteGraceSeconds = 30
    package var http = HTTP()
    /// Directory of clips, relative to the working directory; `nil`: `clips` in ``path``, of an encrypted output `clips` in the
    /// record output's directory.
    package var clipPath: String?
    /// `nil`: segments are clear.
    package var encryption: HLSEncryption?

    package init(path: String) { self.path = path }

    /// Frames in a segment.
    package var segmentFrames: Int { self.gopFrames * self.segmentGops }

    /// EXT-X-TARGETDURATION in seconds: the duration of a whole segment rounded to the nearest second, at least 1.
    ///
    /// Spec: RFC 8216bis §4.4.3.1.
    package func targetDuration(fps: Int) -> Int {
        guard fps > 0 else { return 1 }
        return max(1, (2 * self.segmentFrames + fps) / (2 * fps))
    }
}

extension HLSOutput {
    /// Part length that fits `fps`: 16 frames at 30 a second in proportion, or the divisor of `gopFrames` that differs
    /// from that by the smallest factor, the smaller one of two.
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

    /// GOP length that fits `fps`: the multiple of `partFrames` nearest to 32 frames at 30 a second, at least one part.
    package static func defaultGopFrames(fps: Int, partFrames: Int) -> Int {
        guard partFrames > 0 else { return 1 }
        let wanted = Int(clamping: TimeMath.scale(Int64(fps), by: 32, over: 30))
        return max(1, (wanted + partFrames / 2) / partFrames) * partFrames
    }
}
