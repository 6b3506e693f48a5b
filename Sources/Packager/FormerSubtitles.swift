/// Subtitle segments that no playlist lists any more: those of a rendition that the room no longer has, or those that follow
/// the segments of a track that the room no longer has. Players may still have their playlist, so a file stays until the
/// segment that it belongs to is deleted.
struct FormerSubtitles: Sendable, Hashable {
    /// Name of the rendition.
    var name: String
    /// Name of the track to whose segments they belong.
    var reference: String
    /// Media sequence number after that of the last one.
    var end: Int64

    /// The file that belongs to a segment; `nil` if `uri` is not the name of a segment that has one.
    func fileName(like uri: String) -> String? {
        guard let name = SubtitlePublication.segmentName(self.name, like: uri, of: self.reference),
            let number = uri.dropLast(4).split(separator: "-").last.flatMap({ Int64($0) }), number < self.end
        else { return nil }
        return name
    }

    /// The name of the segment to which a file belongs; `nil` for names of other files.
    func referenceName(like file: String) -> String? {
        guard let uri = SubtitlePublication.referenceName(self.name, like: file, of: self.reference),
            self.fileName(like: uri) == file
        else { return nil }
        return uri
    }
}

extension Publication {
    /// The files of former subtitle segments that belong to the segments among `names`.
    func formerSubtitleNames(like names: [String]) -> [String] {
        guard !self.formerSubtitles.isEmpty else { return [] }
        return names.flatMap { name in self.formerSubtitles.compactMap { $0.fileName(like: name) } }
    }

    /// Takes over the former subtitle segments of the previous worker, and adds those that become former with this one.
    ///
    /// - Parameters:
    ///   - reference: Name of the track whose segments the previous worker's subtitles follow.
    ///   - restarts: Whether the renditions that stay begin anew, too.
    mutating func restoreFormerSubtitles(_ state: StateFile, reference: String, restarts: Bool) {
        let names = Set(self.settings.subtitles.map(\.name))
        var ends: [FormerSubtitles: Int64] = [:]
        let new = state.subtitles.filter { restarts || !names.contains($0.name) }.map {
            FormerSubtitles(name: $0.name, reference: reference, end: state.nextMediaSequence)
        }
        for former in state.formerSubtitles + new {
            let key = FormerSubtitles(name: former.name, reference: former.reference, end: 0)
            ends[key] = max(ends[key] ?? 0, former.end)
        }
        guard !ends.isEmpty else { return }
        var uris = self.tracks.flatMap { $0.window.segments.map(\.uri) + $0.window.retired.map(\.uri) }
        if let archive = self.archive {
            uris += archive.tracks.indices.flatMap { archive.retired(ofTrack: $0, isWhole: false).map(\.uri) }
        }
        self.formerSubtitles = ends.map {
            FormerSubtitles(name: $0.key.name, reference: $0.key.reference, end: $0.value)
        }
        .filter { former in uris.contains { former.fileName(like: $0) != nil } }
        .sorted { ($0.name, $0.reference) < ($1.name, $1.reference) }
    }
}
