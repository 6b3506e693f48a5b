/// Checks of the HTTP headers of playlists and media. Spec: rfc8216bis §4, appendix B.1; Apple's authoring
/// specification 10.
extension Linter {
    /// Size in bytes up to which a playlist need not be compressed.
    private static let worthCompressing = 300

    mutating func checkPlaylistHeaders(_ reply: LintReply, _ url: String, target: Int64?, isLive: Bool) {
        guard !reply.isLocal else { return }
        let type = Self.mediaType(reply)
        if type != "application/vnd.apple.mpegurl", type != "audio/mpegurl" {
            self.addOnce(.contentType, "a playlist is served as \(type.isEmpty ? "no type" : type)", in: url)
        }
        if reply.headers["content-encoding"] != "gzip", reply.body.count > Self.worthCompressing {
            self.addOnce(.gzipMissing, "it is served without compression", in: url)
        }
        guard let control = reply.headers["cache-control"] else {
            return self.addOnce(.cachingMissing, "it has no Cache-Control", in: url)
        }
        if isLive, let target, let age = Self.maxAge(control), age > target {
            self.addOnce(.cachingLong, "it may be cached for \(age) s but changes every \(target) s", in: url)
        }
    }

    mutating func checkMediaHeaders(_ reply: LintReply, _ uri: String, _ index: Int) {
        guard !reply.isLocal, reply.isGood else { return }
        let allowed: Set<String> = [
            "video/mp4", "audio/mp4", "video/iso.segment", "audio/iso.segment", "video/mp2t", "audio/aac", "text/vtt",
        ]
        let type = Self.mediaType(reply)
        if !allowed.contains(type) {
            self.addOnce(.contentType, "media is served as \(type.isEmpty ? "no type" : type)", in: index)
        }
        if reply.headers["cache-control"] == nil {
            self.addOnce(.cachingMissing, "media has no Cache-Control", in: index)
        }
    }

    private static func mediaType(_ reply: LintReply) -> String {
        let type = (reply.headers["content-type"] ?? "").prefix { $0 != ";" }
        return type.filter { $0 != " " }.lowercased()
    }

    private static func maxAge(_ control: String) -> Int64? {
        for item in control.split(separator: ",") {
            let text = item.filter { $0 != " " }.lowercased()
            if text.hasPrefix("max-age=") { return PlaylistScalars.integer(text.dropFirst(8)) }
        }
        return nil
    }
}
