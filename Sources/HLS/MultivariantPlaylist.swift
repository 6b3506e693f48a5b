import MediaTypes

/// The multivariant playlist, which lists the variants and renditions that players can choose from.
///
/// Spec: rfc8216bis §4.4.6.
package struct MultivariantPlaylist: Sendable, Hashable {
    /// An audio rendition, the only member of its rendition group. Several bit rates of the same audio are separate
    /// groups whose members have the same name and language. Spec: §4.4.6.1 (`EXT-X-MEDIA`), §4.4.6.1.1.
    package struct Audio: Sendable, Hashable {
        /// `GROUP-ID` of the rendition.
        package let group: String
        package let name: String
        package let uri: String
        /// Number of channels; 0 omits the attribute.
        package let channels: Int

        package init(group: String = "audio", name: String, uri: String, channels: Int) {
            self.group = group
            self.name = name
            self.uri = uri
            self.channels = channels
        }
    }

    /// A channel of closed captions in the video. Spec: §4.4.6.1 (`EXT-X-MEDIA` of type `CLOSED-CAPTIONS`).
    package struct Captions: Sendable, Hashable {
        /// `GROUP-ID` of all channels.
        static let group = "cc"

        /// `INSTREAM-ID`: `CC1` to `CC4`, or `SERVICE1` to `SERVICE63`.
        package let channel: String
        package let name: String
        /// Language as a BCP 47 tag; `nil` omits the attribute.
        package let language: String?

        package init(channel: String, name: String, language: String?) {
            self.channel = channel
            self.name = name
            self.language = language
        }

        /// Whether the channel is of CEA-708.
        var isDigital: Bool { self.channel.hasPrefix("SERVICE") }

        /// - Parameter isFirst: Whether players show the channel if the user has no other preference.
        func line(isFirst: Bool) -> String {
            var attributes = ["TYPE=CLOSED-CAPTIONS", "GROUP-ID=\(AttributeText.quoted(Self.group))"]
            if let language { attributes.append("LANGUAGE=\(AttributeText.quoted(language))") }
            attributes.append("NAME=\(AttributeText.quoted(self.name))")
            if isFirst { attributes.append("DEFAULT=YES") }
            attributes += ["AUTOSELECT=YES", "INSTREAM-ID=\(AttributeText.quoted(self.channel))"]
            return "#EXT-X-MEDIA:\(attributes.joined(separator: ","))\n"
        }
    }

    /// A subtitle rendition. Spec: §4.4.6.1 (`EXT-X-MEDIA` of type `SUBTITLES`).
    package struct Subtitles: Sendable, Hashable {
        /// `GROUP-ID` of all subtitle renditions.
        static let group = "subs"

        package let name: String
        /// Language as a BCP 47 tag.
        package let language: String
        /// Whether players show the rendition if the user has no other preference.
        package let isDefault: Bool
        package let uri: String

        package init(name: String, language: String, isDefault: Bool, uri: String) {
            self.name = name
            self.language = language
            self.isDefault = isDefault
            self.uri = uri
        }

        var line: String {
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\(AttributeText.quoted(Self.group)),"
                + "LANGUAGE=\(AttributeText.quoted(self.language)),NAME=\(AttributeText.quoted(self.name)),"
                + "DEFAULT=\(self.isDefault ? "YES" : "NO"),AUTOSELECT=YES,URI=\(AttributeText.quoted(self.uri))\n"
        }
    }

    /// A variant stream. Spec: §4.4.6.2 (`EXT-X-STREAM-INF`).
    package struct Variant: Sendable, Hashable {
        package let uri: String
        /// Peak bit rate in bits per second, including the audio rendition.
        package let bandwidth: Int64
        /// Average bit rate in bits per second, including the audio rendition.
        package let averageBandwidth: Int64
        /// RFC 6381 strings of all codecs of the variant, including the audio codec.
        package let codecs: [String]
        /// Frame size in pixels; `nil` for an audio-only variant.
        package let resolution: (width: Int, height: Int)?
        /// Frame rate in frames per 1,000 seconds; `nil` for an audio-only variant.
        package let frameRateMilli: Int64?
        /// `GROUP-ID` of the variant's audio rendition; `nil` if there is none.
        package let audioGroup: String?

        package init(
            uri: String, bandwidth: Int64, averageBandwidth: Int64, codecs: [String],
            resolution: (width: Int, height: Int)?, frameRateMilli: Int64?, audioGroup: String?
        ) {
            self.uri = uri
            self.bandwidth = bandwidth
            self.averageBandwidth = averageBandwidth
            self.codecs = codecs
            self.resolution = resolution
            self.frameRateMilli = frameRateMilli
            self.audioGroup = audioGroup
        }

        package static func == (left: Variant, right: Variant) -> Bool { left.line() == right.line() }
        package func hash(into hasher: inout Hasher) { hasher.combine(self.line()) }

        /// Returns the `EXT-X-STREAM-INF` tag and the URI line that follows it.
        ///
        /// - Parameters:
        ///   - hasPictures: Whether any variant of the playlist has video.
        ///   - hasCaptions: Whether the playlist has channels of closed captions.
        ///   - hasSubtitles: Whether the playlist has subtitle renditions.
        func line(hasPictures: Bool = true, hasCaptions: Bool = false, hasSubtitles: Bool = false) -> String {
            var attributes = ["BANDWIDTH=\(self.bandwidth)", "AVERAGE-BANDWIDTH=\(self.averageBandwidth)"]
            var seen: Set<String> = []
            let codecs = self.codecs.filter { seen.insert($0).inserted }
            if !codecs.isEmpty { attributes.append("CODECS=\(AttributeText.quoted(codecs.joined(separator: ",")))") }
            if let size = self.resolution { attributes.append("RESOLUTION=\(size.width)x\(size.height)") }
            if let rate = self.frameRateMilli {
                attributes.append("FRAME-RATE=\(rate.decimal(3))")
            }
            if let group = self.audioGroup { attributes.append("AUDIO=\(AttributeText.quoted(group))") }
            if hasSubtitles { attributes.append("SUBTITLES=\(AttributeText.quoted(Subtitles.group))") }
            // NONE must be on every variant or on none (§4.4.6.2): without it players offer captions that do not exist.
            if hasCaptions, self.resolution != nil {
                attributes.append("CLOSED-CAPTIONS=\(AttributeText.quoted(Captions.group))")
            } else if hasPictures, !hasCaptions {
                attributes.append("CLOSED-CAPTIONS=NONE")
            }
            return "#EXT-X-STREAM-INF:\(attributes.joined(separator: ","))\n\(self.uri)\n"
        }
    }

    /// The I-frame playlist of a rendition. Spec: §4.4.6.3 (`EXT-X-I-FRAME-STREAM-INF`).
    package struct IFrames: Sendable, Hashable {
        package let uri: String
        /// Peak bit rate in bits per second.
        package let bandwidth: Int64
        /// RFC 6381 string of the video codec.
        package let codec: String
        /// Frame width in pixels.
        package let width: Int
        /// Frame height in pixels.
        package let height: Int

        package init(uri: String, bandwidth: Int64, codec: String, width: Int, height: Int) {
            self.uri = uri
            self.bandwidth = bandwidth
            self.codec = codec
            self.width = width
            self.height = height
        }

        var line: String {
            "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=\(self.bandwidth),CODECS=\(AttributeText.quoted(self.codec)),"
                + "RESOLUTION=\(self.width)x\(self.height),URI=\(AttributeText.quoted(self.uri))\n"
        }
    }

    package let title: String?
    /// Content ID that identifies the program to players independently of its URL; `nil` omits the tag.
    package var contentID: String?
    package let audio: [Audio]
    /// The channels of closed captions; the first one is marked as the default (`DEFAULT=YES`).
    package var captions: [Captions] = []
    package var subtitles: [Subtitles] = []
    /// The variants in the order of the playlist; most players start with the first one.
    package let variants: [Variant]
    package let iFrames: [IFrames]
    /// `EXT-X-VERSION`: 6 for fragmented MP4, lower for MPEG-TS, since old devices refuse versions they do not know.
    /// Captions of CEA-708 make it at least 7 (§8).
    package var version = 6

    /// `DATA-ID` of the tag with ``contentID``, in reverse-DNS form. Spec: §4.4.6.4.
    package static let contentData = "live.tandem.content-id"

    package init(title: String? = nil, audio: [Audio], variants: [Variant], iFrames: [IFrames] = []) {
        self.iFrames = iFrames
        self.title = title
        self.audio = audio
        self.variants = variants
    }

    /// Returns the text of the playlist; each line ends with a line feed.
    package func rendered() -> String {
        let version = self.captions.contains(where: \.isDigital) ? max(self.version, 7) : self.version
        var text = "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        if let title = self.title {
            text += "#EXT-X-SESSION-DATA:DATA-ID=\"com.apple.hls.title\",VALUE=\(AttributeText.quoted(title))\n"
        }
        if let id = self.contentID {
            text += "#EXT-X-SESSION-DATA:DATA-ID=\"\(Self.contentData)\",VALUE=\(AttributeText.quoted(id))\n"
        }
        for audio in self.audio where self.variants.contains(where: { $0.audioGroup == audio.group }) {
            var attributes = [
                "TYPE=AUDIO", "GROUP-ID=\(AttributeText.quoted(audio.group))", "LANGUAGE=\"und\"",
                "NAME=\(AttributeText.quoted(audio.name))",
                "DEFAULT=YES", "AUTOSELECT=YES",
            ]
            if audio.channels > 0 { attributes.append("CHANNELS=\"\(audio.channels)\"") }
            attributes.append("URI=\(AttributeText.quoted(audio.uri))")
            text += "#EXT-X-MEDIA:\(attributes.joined(separator: ","))\n"
        }
        let hasPictures = self.variants.contains { $0.resolution != nil }
        for (index, channel) in self.captions.enumerated() where hasPictures {
            text += channel.line(isFirst: index == 0)
        }
        for rendition in self.subtitles { text += rendition.line }
        for variant in self.variants {
            text += variant.line(
                hasPictures: hasPictures, hasCaptions: !self.captions.isEmpty, hasSubtitles: !self.subtitles.isEmpty)
        }
        for list in self.iFrames { text += list.line }
        return text
    }
}

extension MultivariantPlaylist {
    /// Returns the text of a playlist that ``rendered()`` has made, without its subtitle renditions.
    package static func withoutSubtitles(_ text: String) -> String {
        let attribute = ",SUBTITLES=\(AttributeText.quoted(Subtitles.group))"
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("#EXT-X-MEDIA:TYPE=SUBTITLES,") }
            .map { $0.hasPrefix("#EXT-X-STREAM-INF:") ? $0.replacing(attribute, with: "", maxReplacements: 1) : $0 }
            .joined(separator: "\n")
    }

    /// The same playlist without its subtitle renditions.
    package var withoutSubtitles: MultivariantPlaylist {
        var playlist = self
        playlist.subtitles = []
        return playlist
    }

    /// Returns the same playlist with other URIs.
    package func renamed(_ name: (String) -> String) -> MultivariantPlaylist {
        var playlist = MultivariantPlaylist(
            title: self.title,
            audio: self.audio.map {
                Audio(group: $0.group, name: $0.name, uri: name($0.uri), channels: $0.channels)
            },
            variants: self.variants.map {
                Variant(
                    uri: name($0.uri), bandwidth: $0.bandwidth, averageBandwidth: $0.averageBandwidth,
                    codecs: $0.codecs, resolution: $0.resolution, frameRateMilli: $0.frameRateMilli,
                    audioGroup: $0.audioGroup)
            },
            iFrames: self.iFrames.map {
                IFrames(
                    uri: name($0.uri), bandwidth: $0.bandwidth, codec: $0.codec, width: $0.width, height: $0.height)
            })
        playlist.contentID = self.contentID
        playlist.captions = self.captions
        playlist.subtitles = self.subtitles.map {
            Subtitles(name: $0.name, language: $0.language, isDefault: $0.isDefault, uri: name($0.uri))
        }
        playlist.version = self.version
        return playlist
    }
}
