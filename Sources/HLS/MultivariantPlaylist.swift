import MediaTypes

/// The multivariant playlist: which renditions there are.
///
/// Spec: rfc8216bis §4.4.6.
package struct MultivariantPlaylist: Sendable, Hashable {
    /// An audio rendition, the only member of its group. Several bit rates of the same audio are separate groups whose
    /// members have the same name and language. Spec: §4.4.6.1 (`EXT-X-MEDIA`), §4.4.6.1.1.
    package struct Audio: Sendable, Hashable {
        /// `GROUP-ID`.
        package let group: String
        package let name: String
        package let uri: String
        /// Number of channels; 0 leaves the attribute out.
        package let channels: Int

        package init(group: String = "audio", name: String, uri: String, channels: Int) {
            self.group = group
            self.name = name
            self.uri = uri
            self.channels = channels
        }
    }

    /// One variant. Spec: §4.4.6.2 (`EXT-X-STREAM-INF`).
    package struct Variant: Sendable, Hashable {
        package let uri: String
        /// Peak and average bits per second, including the audio rendition.
        package let bandwidth: Int64
        package let averageBandwidth: Int64
        /// RFC 6381 strings of all codecs of the variant, including the audio codec.
        package let codecs: [String]
        /// Pixels; `nil` for an audio-only variant.
        package let resolution: (width: Int, height: Int)?
        /// Frames per 1,000 seconds; `nil` for an audio-only variant.
        package let frameRateMilli: Int64?
        /// The audio group of the variant; `nil` without one.
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

        /// The tag and the URI line below it.
        ///
        /// - Parameter hasPictures: Some variant of the playlist has video.
        func line(hasPictures: Bool = true) -> String {
            var attributes = ["BANDWIDTH=\(self.bandwidth)", "AVERAGE-BANDWIDTH=\(self.averageBandwidth)"]
            var seen: Set<String> = []
            let codecs = self.codecs.filter { seen.insert($0).inserted }
            if !codecs.isEmpty { attributes.append("CODECS=\(AttributeText.quoted(codecs.joined(separator: ",")))") }
            if let size = self.resolution { attributes.append("RESOLUTION=\(size.width)x\(size.height)") }
            if let rate = self.frameRateMilli {
                attributes.append("FRAME-RATE=\(rate.decimal(3))")
            }
            if let group = self.audioGroup { attributes.append("AUDIO=\(AttributeText.quoted(group))") }
            // On every variant or on none (§4.4.6.2): without it players offer captions that do not exist.
            if hasPictures { attributes.append("CLOSED-CAPTIONS=NONE") }
            return "#EXT-X-STREAM-INF:\(attributes.joined(separator: ","))\n\(self.uri)\n"
        }
    }

    /// The I-frame playlist of a rendition. Spec: §4.4.6.3 (`EXT-X-I-FRAME-STREAM-INF`).
    package struct IFrames: Sendable, Hashable {
        package let uri: String
        /// Peak bits per second.
        package let bandwidth: Int64
        /// RFC 6381 string of the video codec.
        package let codec: String
        /// Pixels.
        package let width: Int
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
    /// Identifies the program to players independently of its URL; `nil` leaves the tag out.
    package var contentID: String?
    package let audio: [Audio]
    /// Players start with the first one.
    package let variants: [Variant]
    package let iFrames: [IFrames]
    /// `EXT-X-VERSION`: 6 with fragmented MP4. Old devices refuse versions they do not know.
    package var version = 6

    /// `DATA-ID` of ``contentID``. Spec: §4.4.6.4, in reverse-DNS form.
    static let contentData = "live.tandem.content-id"

    package init(title: String? = nil, audio: [Audio], variants: [Variant], iFrames: [IFrames] = []) {
        self.iFrames = iFrames
        self.title = title
        self.audio = audio
        self.variants = variants
    }

    /// The text, each line ended by a line feed.
    package func rendered() -> String {
        var text = "#EXTM3U\n#EXT-X-VERSION:\(self.version)\n#EXT-X-INDEPENDENT-SEGMENTS\n"
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
        for variant in self.variants { text += variant.line(hasPictures: hasPictures) }
        for list in self.iFrames { text += list.line }
        return text
    }
}
