import MediaTypes

extension Pipeline {
    /// A subtitle rendition of the HLS output, whose cues come by commands.
    package struct SubtitleRendition: Sendable, Equatable {
        /// Name of the rendition and of its playlist: `[A-Za-z0-9_-]{1,32}`, unique among all renditions.
        package var name = ""
        /// Language of the text as a BCP 47 tag, unique among the subtitle renditions.
        package var language = ""
        /// Name for the players' menu; `nil`: ``name``.
        package var label: String?
        /// Whether players show the subtitles if the user has no other preference. Default false.
        package var isDefault = false
        /// Whether the texts of cues are WebVTT cue text with tags. Default false: they are plain text.
        package var markup = false

        package init() {}

        /// Name for the players' menu.
        package var title: String { self.label ?? self.name }
    }
}

extension Pipeline.SubtitleRendition {
    static let rule = ObjectRule(
        "a subtitle rendition, whose cues come by commands", Self(),
        [
            Field(
                required: "name", \.name, .name(32, marks: "_-"),
                "the rendition's name, unique among all renditions: POST /v1/subtitles/NAME:cue adds cues"),
            Field(
                required: "language", \.language, .language,
                "language of the text as a BCP 47 tag; each rendition has another one"),
            Field(optional: "label", \.label, .title, "name for the players' menu; default name"),
            Field(
                "default", \.isDefault, .boolean,
                "whether players show the subtitles if the user has no other preference; at most one rendition"),
            Field(
                "markup", \.markup, .boolean,
                "whether texts of cues may have WebVTT tags such as <i>; otherwise they are plain text, and < and & are escaped"
            ),
        ])

    /// Largest number of subtitle renditions of a room.
    static let limit = 8
}

extension ValueRule where Value == String {
    /// A rule for a language tag. Spec: BCP 47.
    static var language: ValueRule {
        self.text("a language tag such as en or zh-Hans", pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$") { text in
            let tags = text.split(separator: "-", omittingEmptySubsequences: false)
            guard (1...5).contains(tags.count), (2...8).contains(tags[0].utf8.count) else { return false }
            let isAlphabetic = tags[0].utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
            return isAlphabetic && tags.allSatisfy { (1...8).contains($0.utf8.count) && String($0).isPlain(marks: "") }
        }
    }
}

extension PipelineRules {
    /// Reports subtitle renditions that no output carries, names that belong to another playlist, languages and labels
    /// that are used twice, and more than one default.
    func checkSubtitles(_ log: inout SpecLog) {
        let renditions = self.pipeline.subtitles
        guard !renditions.isEmpty, log.isValid("subtitles") else { return }
        if self.pipeline.clock == .offline, log.isValid("clock") {
            log.mistake(
                "subtitles", "have no effect, because the clock is offline and cues come by commands",
                fix: "remove them")
            return
        }
        if self.pipeline.hls == nil, log.isValid("outputs") {
            log.mistake(
                "subtitles", "have no effect, because no output has type hls with fmp4 segments",
                fix: "add such an output, or remove them")
            return
        }
        var taken = self.playlistOwners
        var names: [String: String] = [:]
        var languages: [String: String] = [:]
        var labels: [String: String] = [:]
        var first: Int?
        for (index, rendition) in renditions.enumerated() {
            let path = "subtitles[\(index)]"
            log.checkUnique(rendition.name, "\(path).name", of: path, &names, fix: "use another name")
            let playlists = ["\(rendition.name).m3u8", "\(rendition.name)-dvr.m3u8"]
            if log.isValid("\(path).name", "renditions", "audioRenditions", "outputs") {
                if let playlist = playlists.first(where: { taken[$0] != nil }), let owner = taken[playlist] {
                    log.mistake(
                        "\(path).name", "its playlist \(SpecText.quoted(playlist)) would also be that of \(owner)",
                        fix: "use another name")
                } else {
                    for playlist in playlists { taken[playlist] = path }
                }
            }
            // RFC 8216bis §4.4.6.1.1: players choose by language, and names are unique in a group.
            log.checkUnique(
                rendition.language.lowercased(), "\(path).language", of: path, &languages,
                fix: "use another language; a private subtag such as en-x-large makes it different")
            let place = rendition.label == nil ? "\(path).name" : "\(path).label"
            log.checkUnique(rendition.title, place, of: path, &labels, fix: "use another label")
            guard rendition.isDefault, log.isValid("\(path).default") else { continue }
            if let first {
                log.mistake(
                    "\(path).default", "subtitles[\(first)] is already the default", fix: "set one of them to false")
            } else {
                first = index
            }
        }
    }

    /// The playlists in the directory of the HLS output and what each of them belongs to, without those of subtitle
    /// renditions.
    private var playlistOwners: [String: String] {
        var owners: [String: String] = [:]
        let videoNames = self.pipeline.videoRenditions.map(\.name)
        for name in self.pipeline.audioRenditions.map(\.name) + videoNames {
            for stem in [name, "\(name)-dvr"] { owners["\(stem).m3u8"] = "rendition \(SpecText.quoted(name))" }
        }
        for name in videoNames {
            for stem in [name, "\(name)-dvr"] { owners["\(stem)-iframes.m3u8"] = "rendition \(SpecText.quoted(name))" }
        }
        let end = ".m3u8"
        if let list = self.pipeline.hls?.multivariantPlaylist {
            let stem = list.hasSuffix(end) ? String(list.dropLast(end.count)) : list
            for name in [list, "\(stem)-dvr\(end)"] { owners[name] = "the multivariant playlist" }
        }
        return owners
    }
}
