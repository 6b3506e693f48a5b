/// A parsed multivariant playlist. Spec: rfc8216bis §4.4.6.
struct MultivariantList: Sendable, Hashable {
    struct Variant: Sendable, Hashable {
        let uri: String
        let attributes: AttributeList
    }

    var version: Int64 = 1
    var isIndependent = false
    var variants: [Variant] = []
    /// The attributes of each EXT-X-MEDIA tag.
    var renditions: [AttributeList] = []
    var iFrameVariants: [AttributeList] = []
    var faults: [PlaylistFault] = []

    private static let mediaTags: Set<Substring> = [
        "EXTINF", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE", "EXT-X-ENDLIST",
        "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY", "EXT-X-PART-INF", "EXT-X-SERVER-CONTROL", "EXT-X-PART",
        "EXT-X-MAP", "EXT-X-KEY", "EXT-X-GAP", "EXT-X-SKIP", "EXT-X-PRELOAD-HINT", "EXT-X-RENDITION-REPORT",
        "EXT-X-DATERANGE", "EXT-X-DISCONTINUITY", "EXT-X-PROGRAM-DATE-TIME",
    ]

    init(_ text: PlaylistLines) {
        self.faults = text.faults
        var pending: AttributeList?
        for line in text.lines {
            guard let (name, value) = PlaylistLines.tag(line) else {
                if let attributes = pending { self.variants.append(Variant(uri: line, attributes: attributes)) }
                pending = nil
                continue
            }
            switch name {
            case "EXT-X-VERSION": self.version = PlaylistScalars.integer(value) ?? 1
            case "EXT-X-INDEPENDENT-SEGMENTS": self.isIndependent = true
            case "EXT-X-STREAM-INF": pending = self.attributes(value, name, ["BANDWIDTH"])
            case "EXT-X-MEDIA": self.renditions.append(self.attributes(value, name, ["TYPE", "GROUP-ID", "NAME"]))
            case "EXT-X-I-FRAME-STREAM-INF":
                self.iFrameVariants.append(self.attributes(value, name, ["URI", "BANDWIDTH"]))
            case "EXT-X-SESSION-DATA": _ = self.attributes(value, name, ["DATA-ID"])
            case _ where Self.mediaTags.contains(name):
                self.faults.append(PlaylistFault(.tagLevel, "\(name) belongs in a media playlist"))
            default: break
            }
        }
    }

    private mutating func attributes(_ value: Substring, _ tag: Substring, _ required: [String]) -> AttributeList {
        let list = AttributeList(value)
        for fault in list.faults { self.faults.append(PlaylistFault(fault.rule, "\(tag): \(fault.what)")) }
        for name in required where list.members[name] == nil {
            let rule: Rule = name == "BANDWIDTH" ? .bandwidthMissing : .attributeMissing
            self.faults.append(PlaylistFault(rule, "\(tag) has no \(name)"))
        }
        return list
    }
}
