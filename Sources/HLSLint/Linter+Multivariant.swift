/// Checks of the multivariant playlist and of its attributes against the media. Spec: rfc8216bis §4.4.6, Apple's
/// authoring specification 1 and 9.
extension Linter {
    /// Duration of the received media, in nanoseconds, from which on `AVERAGE-BANDWIDTH` is compared with the measured
    /// average. A shorter run is not checked, because Apple's rule is about the long-term average.
    private static let longestRun: Int64 = 60_000_000_000

    mutating func checkMultivariant(_ list: MultivariantList) {
        func fault(_ rule: Rule, _ what: String) { self.addOnce(rule, what, in: self.url) }
        for entry in list.faults { fault(entry.rule, entry.what) }
        var names: Set<String> = []
        for rendition in list.renditions {
            let type = rendition.plain("TYPE") ?? ""
            let name = "\(type) \(rendition.quoted("GROUP-ID") ?? "") \(rendition.quoted("NAME") ?? "")"
            if !names.insert(name).inserted { fault(.groupNameRepeated, "\(name) is given twice") }
            if type != "VIDEO", rendition.quoted("LANGUAGE") == nil {
                fault(.languageMissing, "\(name) has no LANGUAGE")
            }
        }
        var (saysNone, withNone) = (0, 0)
        for variant in list.variants {
            let attributes = variant.attributes
            if attributes.members["AVERAGE-BANDWIDTH"] == nil {
                fault(.averageBandwidthMissing, "\(variant.uri) has no AVERAGE-BANDWIDTH")
            }
            if attributes.quoted("CODECS") == nil { fault(.codecsMissing, "\(variant.uri) has no CODECS") }
            for type in ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"] {
                guard let group = attributes.quoted(type) else { continue }
                let isThere = list.renditions.contains { $0.plain("TYPE") == type && $0.quoted("GROUP-ID") == group }
                if !isThere {
                    fault(.groupMissing, "\(variant.uri) names the \(type) group \"\(group)\", which does not exist")
                }
            }
            if attributes.plain("CLOSED-CAPTIONS") == "NONE" {
                saysNone += 1
                if !Self.isAudioOnly(attributes) { withNone += 1 }
            }
        }
        // Audio-only variants need no captions attribute.
        let withPictures = list.variants.count { !Self.isAudioOnly($0.attributes) }
        if saysNone > 0, withNone < withPictures {
            fault(.captionsMixed, "\(withNone) of \(withPictures) variants with video have CLOSED-CAPTIONS=NONE")
        }
    }

    private static func isAudioOnly(_ attributes: AttributeList) -> Bool {
        guard let codecs = attributes.quoted("CODECS") else { return false }
        let audio = ["mp4a", "opus", "flac", "ac-3", "ec-3"]
        return codecs.split(separator: ",").allSatisfy { codec in audio.contains { codec.lowercased().hasPrefix($0) } }
    }

    /// Runs the checks that need the data of the whole run; all of them are about a multivariant playlist.
    package mutating func finish(at now: Int64) {
        self.now = now
        guard let list = self.multivariant else { return }
        self.finishIFrames()
        for variant in list.variants {
            let url = Location.resolve(variant.uri, against: self.url)
            guard let history = self.histories.first(where: { $0.url == url }) else { continue }
            let groups = list.renditions.filter {
                $0.plain("TYPE") == "AUDIO" && $0.quoted("GROUP-ID") == variant.attributes.quoted("AUDIO")
                    && variant.attributes.quoted("AUDIO") != nil
            }
            let audio = groups.compactMap { $0.quoted("URI") }
                .compactMap { uri in
                    let url = Location.resolve(uri, against: self.url)
                    return self.histories.first { $0.url == url && $0.index != history.index }
                }
            self.checkCoding(variant, history, audio)
            self.checkBandwidth(variant, history, audio, isLive: !history.isEnded || history.reloads > 0)
        }
        for rendition in list.renditions where rendition.plain("TYPE") == "AUDIO" {
            self.checkChannels(rendition)
        }
    }

    /// Checks that CHANNELS of an audio rendition is the highest number of channels in its initialization segments.
    /// Spec: rfc8216bis §4.4.6.1.
    private mutating func checkChannels(_ rendition: AttributeList) {
        guard let text = rendition.quoted("CHANNELS"), let uri = rendition.quoted("URI") else { return }
        let url = Location.resolve(uri, against: self.url)
        guard let history = self.histories.first(where: { $0.url == url }), let most = history.channels.max() else {
            return
        }
        // The part after the slash describes the coding.
        guard let declared = text.split(separator: "/").first.flatMap({ PlaylistScalars.integer($0) }) else {
            return self.addOnce(
                .channelsWrong, "\(uri): CHANNELS is \"\(text)\", which is not a number of channels", in: self.url)
        }
        // Parametric stereo makes two channels from one, and may not be signaled.
        if declared == 2, most == 1, !history.isPlainAAC, history.codecs.contains(where: CodecCompatibility.isAAC) {
            return
        }
        if declared != most {
            self.addOnce(.channelsWrong, "\(uri): CHANNELS is \"\(text)\", the media has \(most)", in: self.url)
        }
    }

    private mutating func checkCoding(
        _ variant: MultivariantList.Variant, _ history: PlaylistHistory, _ audio: [PlaylistHistory]
    ) {
        func fault(_ rule: Rule, _ what: String) {
            self.addOnce(rule, "\(variant.uri): \(what)", in: self.url)
        }
        let attributes = variant.attributes
        if let text = attributes.quoted("CODECS") {
            let declared = Set(text.split(separator: ",").map { $0.lowercased() })
            let found = audio.reduce(history.codecs) { $0.union($1.codecs) }
            for codec in found.sorted() where !declared.contains(where: { Self.stands($0, for: codec.lowercased()) }) {
                fault(.codecsWrong, "CODECS is \"\(text)\" but the media is \(codec)")
            }
            for codec in declared.sorted() where !found.isEmpty && audio.allSatisfy({ !$0.codecs.isEmpty }) {
                // HE-AAC must not be declared for audio that is certainly AAC-LC.
                let isHighEfficiency = CodecCompatibility.isHighEfficiency(codec)
                let candidates = ([history] + audio).filter { !isHighEfficiency || !$0.isPlainAAC }.flatMap(\.codecs)
                if !candidates.contains(where: { Self.stands(codec, for: $0.lowercased()) }) {
                    fault(.codecsWrong, "CODECS names \(codec), which no media has")
                }
            }
        }
        guard history.hasVideo else { return }
        if let declared = attributes.resolution("RESOLUTION") {
            if declared != (history.width, history.height) {
                fault(
                    .resolutionWrong,
                    "RESOLUTION is \(declared.width)x\(declared.height), the frames are \(history.width)x\(history.height)"
                )
            }
        } else {
            fault(.resolutionMissing, "it has video but no RESOLUTION")
        }
        guard let rate = attributes.nanoseconds("FRAME-RATE") else {
            return fault(.frameRateMissing, "it has video but no FRAME-RATE")
        }
        guard history.frame > 0 else { return }
        // Frames per 1,000 seconds.
        let measured = (1_000_000_000_000 + history.frame / 2) / history.frame
        if (measured - rate / 1_000_000).magnitude > UInt64(measured / 50) {
            fault(
                .frameRateWrong, "FRAME-RATE is \(attributes.plain("FRAME-RATE") ?? ""), the media has \(measured)/1000"
            )
        }
    }

    /// Whether a declared codec is the same as the codec of the media or covers it.
    static func stands(_ declared: String, for found: String) -> Bool {
        self.matches(declared, found) || CodecCompatibility.covers(declared, found)
    }

    /// Whether two codec strings match. If only the sample entry of the media is known, the first four characters are
    /// compared.
    private static func matches(_ declared: String, _ found: String) -> Bool {
        declared == found || found.utf8.count == 4 && declared.hasPrefix(found)
    }

    /// Whether a measured bit rate is more than `percent` % of the declared one; cannot overflow.
    static func exceeds(_ measured: Int64, _ declared: Int64, percent: Int64) -> Bool {
        Int128(measured) * 100 > Int128(declared) * Int128(percent)
    }

    private mutating func checkBandwidth(
        _ variant: MultivariantList.Variant, _ history: PlaylistHistory, _ audio: [PlaylistHistory], isLive: Bool
    ) {
        let peak = history.meter.peak &+ (audio.map(\.meter.peak).max() ?? 0)
        let average = history.meter.average &+ (audio.map(\.meter.average).max() ?? 0)
        // AAS 1.28 for live lists, 1.26 for others.
        if let declared = variant.attributes.integer("BANDWIDTH"),
            Self.exceeds(peak, declared, percent: isLive ? 125 : 110)
        {
            self.addOnce(
                .bandwidthExceeded, "\(variant.uri): BANDWIDTH is \(declared), the peak segment bit rate is \(peak)",
                in: self.url)
        }
        guard history.meter.totalDuration >= Self.longestRun else { return }
        if let declared = variant.attributes.integer("AVERAGE-BANDWIDTH"),
            Self.exceeds(average, declared, percent: 110)
        {
            self.addOnce(
                .averageBandwidthExceeded,
                "\(variant.uri): AVERAGE-BANDWIDTH is \(declared), the average is \(average)",
                in: self.url)
        }
    }
}
