/// Parses the lines of a media playlist. After an error it continues and records the error.
struct MediaListReader {
    private var list = MediaList()
    private var seen: Set<Substring> = []
    private var key = ""
    private var map: MediaList.Map?
    private var discontinuities: Int64 = 0
    private var hasAnySegment = false
    private var dateRangeTexts: [String: [String: AttributeList.Value]] = [:]
    // The segment being read.
    private var next = MediaList.Segment(number: 0, uri: "", duration: 0)
    private var hasDuration = false
    private var mentionsMedia = false
    private var segmentRange = RangeEnd()
    private var partRange = RangeEnd()

    /// The end of the previous byte range, and the URI of its resource.
    private struct RangeEnd {
        var uri = ""
        var byte: Int64 = 0
    }

    /// Tags that may occur only once in a media playlist. Spec: §4.4.3.
    private static let once: Set<Substring> = [
        "EXT-X-VERSION", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE",
        "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY", "EXT-X-PART-INF", "EXT-X-SERVER-CONTROL",
        "EXT-X-INDEPENDENT-SEGMENTS", "EXT-X-START", "EXT-X-SKIP",
    ]

    static func read(_ text: PlaylistLines) -> MediaList {
        var reader = MediaListReader()
        reader.list.faults = text.faults
        for line in text.lines {
            if let (name, value) = PlaylistLines.tag(line) {
                if Self.once.contains(name), !reader.seen.insert(name).inserted {
                    reader.fault(.tagRepeated, "\(name) is given twice")
                }
                reader.take(name, value)
            } else {
                reader.close(line)
            }
        }
        return reader.finished()
    }

    private mutating func fault(_ rule: Rule, _ what: String) {
        let isPlaced = self.hasDuration || self.hasAnySegment
        let number = self.list.mediaSequence &+ self.list.skipped &+ Int64(self.list.segments.count)
        self.list.faults.append(PlaylistFault(rule, what, segment: isPlaced ? number : nil))
    }

    private mutating func need(_ version: Int64) { self.list.neededVersion = max(self.list.neededVersion, version) }

    private mutating func attributes(_ value: Substring, _ tag: Substring, required: [String]) -> AttributeList {
        let list = AttributeList(value)
        for fault in list.faults { self.fault(fault.rule, "\(tag): \(fault.what)") }
        for name in required where list.members[name] == nil { self.fault(.attributeMissing, "\(tag) has no \(name)") }
        return list
    }

    // MARK: Tags

    private mutating func take(_ name: Substring, _ value: Substring) {
        switch name {
        case "EXTM3U": break
        case "EXT-X-VERSION": self.list.version = self.integer(value, name) ?? 1
        case "EXT-X-TARGETDURATION": self.list.targetSeconds = self.integer(value, name)
        case "EXT-X-MEDIA-SEQUENCE":
            self.list.mediaSequence = self.integer(value, name) ?? 0
            self.mustPrecede(name)
        case "EXT-X-DISCONTINUITY-SEQUENCE":
            self.list.discontinuitySequence = self.integer(value, name) ?? 0
            self.list.hasDiscontinuitySequence = true
            self.mustPrecede(name)
        case "EXT-X-PLAYLIST-TYPE":
            self.list.type = String(value)
            if value != "EVENT", value != "VOD" { self.fault(.tagValue, "EXT-X-PLAYLIST-TYPE is \(value)") }
        case "EXT-X-ENDLIST": self.list.isEnded = true
        case "EXT-X-INDEPENDENT-SEGMENTS": self.list.isIndependent = true
        case "EXT-X-I-FRAMES-ONLY":
            self.list.isIFramesOnly = true
            self.need(4)
        case "EXT-X-SERVER-CONTROL":
            self.list.serverControl = String(value)
            self.list.control = self.attributes(value, name, required: [])
        case "EXT-X-PART-INF":
            self.list.partTarget = self.attributes(value, name, required: ["PART-TARGET"]).nanoseconds("PART-TARGET")
        case "EXT-X-SKIP": self.skip(value)
        case "EXTINF": self.duration(value)
        case "EXT-X-DISCONTINUITY":
            self.next.hasDiscontinuity = true
            self.discontinuities += 1
        case "EXT-X-PROGRAM-DATE-TIME":
            self.next.date = PlaylistScalars.date(String(value))
            if self.next.date == nil { self.fault(.tagValue, "EXT-X-PROGRAM-DATE-TIME is \(value)") }
        case "EXT-X-MAP": self.takeMap(value)
        case "EXT-X-KEY": self.takeKey(value)
        case "EXT-X-GAP": self.next.isGap = true
        case "EXT-X-BYTERANGE":
            self.next.byteRange = String(value)
            self.need(4)
        case "EXT-X-PART": self.part(value)
        case "EXT-X-PRELOAD-HINT": self.hint(value)
        case "EXT-X-RENDITION-REPORT": self.report(value)
        case "EXT-X-DATERANGE": self.dateRange(value)
        case "EXT-X-DEFINE": self.need(AttributeList(value).members["QUERYPARAM"] == nil ? 8 : 11)
        case "EXT-X-STREAM-INF", "EXT-X-MEDIA", "EXT-X-I-FRAME-STREAM-INF", "EXT-X-SESSION-DATA", "EXT-X-SESSION-KEY",
            "EXT-X-CONTENT-STEERING":
            self.fault(.tagLevel, "\(name) belongs in the multivariant playlist")
        default: break
        }
    }

    private mutating func integer(_ value: Substring, _ tag: Substring) -> Int64? {
        let number = PlaylistScalars.integer(value)
        if number == nil { self.fault(.tagValue, "\(tag) is \(value.prefix(40))") }
        return number
    }

    private mutating func mustPrecede(_ name: Substring) {
        if self.hasAnySegment || self.mentionsMedia || self.seen.contains("EXT-X-SKIP") {
            self.fault(.tagOrder, "\(name) comes after EXT-X-SKIP or a segment")
        }
    }

    private mutating func skip(_ value: Substring) {
        let attributes = self.attributes(value, "EXT-X-SKIP", required: ["SKIPPED-SEGMENTS"])
        self.list.skipped = min(attributes.integer("SKIPPED-SEGMENTS") ?? 0, 1 << 40)
        if self.list.skipped == 0 { self.fault(.deltaWrong, "SKIPPED-SEGMENTS is 0") }
        if let removed = attributes.quoted("RECENTLY-REMOVED-DATERANGES") {
            self.list.removedDateRanges = removed.split(separator: "\t").map(String.init)
            self.need(10)
        }
        self.need(9)
    }

    private mutating func duration(_ value: Substring) {
        let text = value.prefix { $0 != "," }
        self.hasDuration = true
        self.mentionsMedia = true
        if text.contains(".") { self.need(3) }
        if let duration = PlaylistScalars.nanoseconds(text) {
            self.next.duration = duration
        } else {
            self.fault(.tagValue, "EXTINF is \(text.prefix(40))")
        }
    }

    private mutating func takeMap(_ value: Substring) {
        let attributes = self.attributes(value, "EXT-X-MAP", required: ["URI"])
        guard let uri = attributes.quoted("URI") else { return }
        self.map = MediaList.Map(uri: uri, byteRange: attributes.quoted("BYTERANGE"))
        self.need(self.list.isIFramesOnly ? 5 : 6)
    }

    private mutating func takeKey(_ value: Substring) {
        let attributes = self.attributes(value, "EXT-X-KEY", required: ["METHOD"])
        self.key = attributes.plain("METHOD") == "NONE" ? "" : String(value)
        if self.key.isEmpty, attributes.members.count > 1 {
            self.fault(.tagValue, "EXT-X-KEY has METHOD=NONE with other attributes")
        }
        if attributes.members["IV"] != nil { self.need(2) }
        let isOfSamples = attributes.plain("METHOD")?.hasPrefix("SAMPLE-AES") == true
        if isOfSamples || ["KEYFORMAT", "KEYFORMATVERSIONS"].contains(where: { attributes.members[$0] != nil }) {
            self.need(5)
        }
    }

    private mutating func part(_ value: Substring) {
        let attributes = self.attributes(value, "EXT-X-PART", required: ["URI", "DURATION"])
        self.mentionsMedia = true
        guard let uri = attributes.quoted("URI"), let duration = attributes.nanoseconds("DURATION") else {
            self.fault(.tagValue, "EXT-X-PART has no readable URI or DURATION")
            return
        }
        let range = Self.placed(attributes.quoted("BYTERANGE"), of: uri, behind: &self.partRange)
        self.next.parts.append(
            MediaList.Part(
                uri: uri, byteRange: range, duration: duration,
                isIndependent: attributes.isYes("INDEPENDENT"), isGap: attributes.isYes("GAP")))
    }

    private mutating func hint(_ value: Substring) {
        let attributes = self.attributes(value, "EXT-X-PRELOAD-HINT", required: ["TYPE", "URI"])
        guard let type = attributes.plain("TYPE"), let uri = attributes.quoted("URI") else { return }
        self.list.hints.append(
            MediaList.Hint(type: type, uri: uri, isRange: attributes.members["BYTERANGE-START"] != nil))
    }

    private mutating func report(_ value: Substring) {
        let attributes = self.attributes(value, "EXT-X-RENDITION-REPORT", required: ["URI"])
        guard let uri = attributes.quoted("URI") else { return }
        self.list.reports.append(
            MediaList.Report(
                uri: uri, lastNumber: attributes.integer("LAST-MSN"), lastPart: attributes.integer("LAST-PART")))
    }

    private mutating func dateRange(_ value: Substring) {
        let attributes = self.attributes(value, "EXT-X-DATERANGE", required: [])
        guard let id = attributes.quoted("ID") else {
            return self.fault(.dateRangeIncomplete, "EXT-X-DATERANGE has no ID")
        }
        for (name, value) in attributes.members {
            if let known = self.dateRangeTexts[id]?[name], known != value {
                self.fault(.dateRangeChanged, "\(id): \(name) is \(known.text) in one tag and \(value.text) in another")
            }
        }
        let all = attributes.members.merging(self.dateRangeTexts[id] ?? [:]) { $1 }
        self.dateRangeTexts[id] = all
        if let index = self.list.dateRanges.firstIndex(where: { $0.id == id }) {
            self.list.dateRanges.remove(at: index)
        }
        self.list.dateRanges.append(MediaList.DateRange(id: id, attributes: all))
    }

    // MARK: Segments

    /// Handles a URI line, which completes the segment being read.
    private mutating func close(_ uri: String) {
        if !self.hasDuration { self.fault(.attributeMissing, "\(uri.prefix(80)) has no EXTINF") }
        self.next.byteRange = Self.placed(self.next.byteRange, of: uri, behind: &self.segmentRange)
        self.list.segments.append(self.placed(uri))
        self.next = MediaList.Segment(number: 0, uri: "", duration: 0)
        self.hasDuration = false
        self.hasAnySegment = true
    }

    /// Adds the offset to a byte range without one if the previous range is of the same resource: it follows that range.
    /// Spec: §4.4.4.2, §4.4.4.9.
    private static func placed(_ text: String?, of uri: String, behind last: inout RangeEnd) -> String? {
        guard let text, let range = LintRequest.range(text) else {
            last = RangeEnd()
            return text
        }
        let follows = !text.contains("@") && last.uri == uri
        let start = follows ? last.byte : range.start
        last = RangeEnd(uri: uri, byte: start &+ range.count)
        return follows ? "\(range.count)@\(start)" : text
    }

    private func placed(_ uri: String) -> MediaList.Segment {
        let place = self.list.mediaSequence &+ self.list.skipped &+ Int64(self.list.segments.count)
        var segment = MediaList.Segment(number: place, uri: uri, duration: self.next.duration)
        segment.hasDiscontinuity = self.next.hasDiscontinuity
        segment.discontinuityNumber = self.list.discontinuitySequence &+ self.discontinuities
        segment.date = self.next.date
        segment.map = self.map
        segment.key = self.key
        segment.isGap = self.next.isGap
        segment.byteRange = self.next.byteRange
        segment.parts = self.next.parts
        return segment
    }

    private mutating func finished() -> MediaList {
        if !self.next.parts.isEmpty { self.list.open = self.placed("") }
        if self.list.targetSeconds == nil { self.fault(.targetMissing, "there is no EXT-X-TARGETDURATION") }
        if self.discontinuities > 0, !self.list.hasDiscontinuitySequence {
            self.fault(.discontinuitySequenceMissing, "there is a discontinuity but no EXT-X-DISCONTINUITY-SEQUENCE")
        }
        return self.list
    }
}
