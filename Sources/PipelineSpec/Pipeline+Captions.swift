package import MediaTypes

extension Pipeline {
    /// Closed captions (CEA-608 and CEA-708) of the sources in the program's video.
    package struct Captions: Sendable, Equatable {
        /// The value of `from` for the source with the largest pane of the scene on air.
        package static let onAir = "onAir"

        /// User id of the source whose captions the program carries, or ``onAir``.
        package var from = Captions.onAir
        /// The caption channels that playlists name. Default CC1 alone.
        package var channels = [Channel(instreamID: "CC1")]

        package init() {}

        /// The source whose captions the program carries; `nil`: that with the largest pane.
        package var source: SourceID? { self.from == Self.onAir ? nil : SourceID(self.from) }

        /// A caption channel that playlists name.
        package struct Channel: Sendable, Equatable {
            /// `CC1` to `CC4` of CEA-608, or `SERVICE1` to `SERVICE63` of CEA-708.
            package var instreamID: String
            /// Language of the text as a BCP 47 tag; `nil`: not stated.
            package var language: String?
            /// Name for the players' menu; `nil`: ``instreamID``.
            package var name: String?

            package init(instreamID: String) { self.instreamID = instreamID }
        }
    }
}

extension Pipeline.Captions {
    static let rule = ObjectRule(
        "closed captions (CEA-608 and CEA-708) of the sources in the video of every rendition", Self(),
        [
            Field(
                required: "from", \.from, .uid,
                "uid of the source whose captions the program carries, also while no pane shows it; \"onAir\": the source with the largest pane of the scene on air"
            ),
            Field(
                "channels", \.channels,
                .list(of: .object(Channel.rule), 1...8, standIn: Channel(instreamID: "CC1")),
                "the caption channels that playlists name; default CC1"),
        ])
}

extension Pipeline.Captions.Channel {
    static let rule = ObjectRule(
        "a caption channel that playlists name", Self(instreamID: ""),
        [
            Field(
                required: "instreamId", \.instreamID,
                .text(
                    "CC1 to CC4, or SERVICE1 to SERVICE63",
                    pattern: "^(CC[1-4]|SERVICE([1-9]|[1-5][0-9]|6[0-3]))$", accepts: Self.isChannel),
                "CC1 to CC4 (CEA-608), or SERVICE1 to SERVICE63 (CEA-708)"),
            Field(
                optional: "language", \.language, .language, "language of the text as a BCP 47 tag"),
            Field(optional: "name", \.name, .title, "name for the players' menu; default instreamId"),
        ])

    private static func isChannel(_ text: String) -> Bool {
        if ["CC1", "CC2", "CC3", "CC4"].contains(text) { return true }
        guard text.hasPrefix("SERVICE") else { return false }
        let digits = String(text.dropFirst(7))
        return Int(digits).map { (1...63).contains($0) && String($0) == digits } ?? false
    }

}

extension PipelineRules {
    /// Reports captions of a source that does not exist, captions in a room without video, channels that are listed
    /// twice, and channels with the same name.
    func checkCaptions(_ log: inout SpecLog) {
        guard let captions = self.pipeline.captions else { return }
        if let id = captions.source, log.isValid("captions.from", "sources"), self.pipeline.source(id) == nil {
            let known = self.pipeline.sources.filter { $0.id.streamType == .main }.map(\.id.uid)
            log.mistake(
                "captions.from", "there is no source \(SpecText.quoted(captions.from))",
                fix: Self.advice(captions.from, among: known + [Pipeline.Captions.onAir]))
        }
        if self.pipeline.isAudioOnly, log.isValid("captions", "renditions") {
            log.mistake(
                "captions", "needs video, but no rendition has video",
                fix: "add a rendition with video, or remove captions")
        }
        var seen: [String: Int] = [:]
        var names: [String: Int] = [:]
        for (index, channel) in captions.channels.enumerated() {
            let path = "captions.channels[\(index)].instreamId"
            guard log.isValid(path) else { continue }
            if let first = seen[channel.instreamID] {
                log.mistake(
                    path, "\(channel.instreamID) is already channels[\(first)]", fix: "name each channel once")
                continue
            }
            seen[channel.instreamID] = index
            // RFC 8216bis §4.4.6.1.1: names are unique in a group.
            let name = channel.name ?? channel.instreamID
            if let first = names[name] {
                log.mistake(
                    channel.name == nil ? path : "captions.channels[\(index)].name",
                    "\(SpecText.quoted(name)) is already the name of channels[\(first)]",
                    fix: "give each channel its own name")
            } else {
                names[name] = index
            }
        }
    }
}
