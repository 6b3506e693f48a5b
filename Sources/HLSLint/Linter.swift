/// Checks an HLS presentation as a client. It takes replies and returns findings and further requests; a driver
/// performs the requests and provides the clock.
///
/// ``begin(at:)`` returns the first request. Each reply is passed to ``received(_:for:)``, which returns the next
/// requests and their earliest times. ``finish(at:)`` runs the checks that need the whole run. All input is untrusted
/// and validated before use.
package struct Linter: Sendable {
    /// Tolerance for measured times in nanoseconds, since they are measured through a network and on a busy machine.
    static let timingSlack: Int64 = 500_000_000
    /// Tolerance for dates in nanoseconds, since dates are rounded to milliseconds and may be up to one AAC frame off.
    static let dateSlack: Int64 = 21_400_000
    /// Maximum number of replies per playlist that are kept until their initialization segment or key has arrived;
    /// further replies are dropped.
    static let longestWait = 64
    /// Number of consecutive failed reads after which a playlist is no longer read.
    static let mostFailures = 20

    let url: String
    /// Decrypts segments that are encrypted as a whole; `nil`: their content is not checked.
    let cipher: LintCipher?
    /// Whether the driver has a decoder, to which H.264 segments are passed if they begin with an IDR frame and have no
    /// damage that is found without decoding.
    let decodes: Bool
    var log = FindingLog()
    var histories: [PlaylistHistory] = []
    var multivariant: MultivariantList?
    private var multivariantBytes: [UInt8] = []
    /// Findings that are reported only once and have been reported.
    private var said: Set<String> = []
    /// Time at which the reply that is being checked was complete, in nanoseconds of the driver's clock; in
    /// ``finish(at:)``, the end of the run.
    var now: Int64 = 0
    package private(set) var startedAt: Int64 = 0
    /// Maximum time in nanoseconds for which the server may not reply at all without a finding.
    let longestOutage: Int64
    /// Start of the current outage; `nil` if the server replies.
    var silentSince: Int64?
    package internal(set) var outages: [Outage] = []

    /// Makes a linter for one presentation.
    ///
    /// - Parameters:
    ///   - url: URL of a multivariant or media playlist: http, https or a local path.
    ///   - longestOutage: Maximum time in nanoseconds for which the server may not reply at all, for example while a
    ///     worker is replaced; a longer outage is a finding.
    ///   - decodes: Whether to ask the driver to decode H.264 segments (``LintRequest/samples``).
    ///   - cipher: Decrypts segments that are encrypted as a whole; `nil`: their content is not checked.
    package init(
        url: String, longestOutage: Int64 = 5_000_000_000, decodes: Bool = false, cipher: LintCipher? = nil
    ) {
        self.url = url
        self.cipher = cipher
        self.decodes = decodes
        self.longestOutage = longestOutage
    }

    package var findings: [Finding] { self.log.findings }
    /// Number of findings, including those that are only counted.
    package var findingCount: Int { self.log.total }
    package var playlistCount: Int { self.histories.count }
    package var segmentCount: Int { self.histories.reduce(0) { $0 + $1.segmentCount } }
    package var partCount: Int { self.histories.reduce(0) { $0 + $1.partCount } }
    package var byteCount: Int64 { self.histories.reduce(0) { $0 &+ $1.byteCount } }
    /// Number of segments in memory. It depends on the length of the playlists, not on the duration of the run.
    package var recordCount: Int { self.histories.reduce(0) { $0 + $1.records.count } }
    /// Whether no playlist has to be read any more, because each has ended or is gone.
    package var isEnded: Bool { !self.histories.isEmpty && self.histories.allSatisfy(\.isOver) }
    /// Whether a playlist has not ended and can still change.
    package var isLive: Bool { self.histories.contains { !$0.isEnded } }
    /// Whether no playlist could be read.
    package var isEmpty: Bool { self.histories.allSatisfy { $0.list == nil } }

    /// The counters of each playlist; bit rates in bits per second.
    package var summary: [(playlist: String, segments: Int, parts: Int, peak: Int64, average: Int64)] {
        self.histories.map { ($0.name, $0.segmentCount, $0.partCount, $0.meter.peak, $0.meter.average) }
    }

    /// Starts the run and returns the first request.
    package mutating func begin(at now: Int64) -> [LintRequest] {
        self.startedAt = now
        return [LintRequest(.entry, self.url)]
    }

    /// Checks a reply and returns the next requests.
    package mutating func received(_ reply: LintReply, for request: LintRequest) -> [LintRequest] {
        self.now = reply.receivedAt
        if let retries = self.duringOutage(reply, request) { return retries }
        switch request.purpose {
        case .entry: return self.receivedEntry(reply)
        case .multivariant: return self.receivedAgain(reply)
        case .playlist(let index): return self.receivedPlaylist(reply, request, index)
        case .probe(let index, let rule):
            if reply.status != 400, !self.histories[index].isEnded, reply.failure == nil {
                self.add(rule, "\(Self.query(request.url)) returned status \(reply.status)", index)
            }
            return []
        case .map(let index, let map): return self.receivedMap(reply, index, map)
        case .key(let index, let uri): return self.receivedKey(reply, index, uri)
        case .segment, .part, .hint: return self.receivedMedia(reply, request)
        case .decoding(let index, let number):
            self.receivedDecoding(reply, index, number)
            return []
        case .retainedSegment(let index, let number):
            let record = self.histories[index].records.removeValue(forKey: number)
            if !reply.isGood, let record {
                self.add(
                    .segmentGone, "\(record.listed.uri): \(reply.reason) before the end of its retention time", index,
                    segment: number)
            }
            return []
        case .retainedPart(let index, let uri, let number, let part):
            if !reply.isGood {
                self.add(
                    .partGone, "\(uri): \(reply.reason) before the end of its retention time", index,
                    segment: number, part: part)
            }
            return []
        }
    }

    // MARK: Finding

    mutating func add(_ rule: Rule, _ what: String, _ index: Int, segment: Int64? = nil, part: Int? = nil) {
        self.log.add(rule, what, in: self.histories[index].url, segment: segment, part: part, at: self.now)
    }

    /// Adds a finding, unless this function has added one of the same rule, text and playlist before, or 10,000 findings.
    mutating func addOnce(_ rule: Rule, _ what: String, in playlist: String, segment: Int64? = nil) {
        guard self.said.count < 10_000, self.said.insert("\(rule.rawValue) \(playlist) \(what)").inserted else {
            return
        }
        self.log.add(rule, what, in: playlist, segment: segment, at: self.now)
    }

    mutating func addOnce(_ rule: Rule, _ what: String, in index: Int, segment: Int64? = nil) {
        self.addOnce(rule, what, in: self.histories[index].url, segment: segment)
    }

    static func query(_ url: String) -> String { url.split(separator: "?").last.map { "?\($0)" } ?? "" }

    // MARK: The entry

    private mutating func receivedEntry(_ reply: LintReply) -> [LintRequest] {
        guard reply.isGood else {
            if (300..<400).contains(reply.status), let target = reply.headers["location"] {
                self.addOnce(.redirected, "it redirects with status \(reply.status) to \(target)", in: self.url)
                return []
            }
            self.addOnce(.resourceMissing, reply.reason, in: self.url)
            return []
        }
        let lines = PlaylistLines(reply.body)
        guard lines.isMultivariant else {
            self.histories = [PlaylistHistory(index: 0, url: self.url)]
            return self.receivedPlaylist(reply, LintRequest(.playlist(0), self.url), 0)
        }
        let list = MultivariantList(lines)
        self.multivariant = list
        self.multivariantBytes = reply.body
        self.checkPlaylistHeaders(reply, self.url, target: nil, isLive: true)
        self.checkMultivariant(list)
        var urls: [String] = list.variants.map { Location.resolve($0.uri, against: self.url) }
        for rendition in list.renditions where ["AUDIO", "VIDEO"].contains(rendition.plain("TYPE")) {
            if let uri = rendition.quoted("URI") { urls.append(Location.resolve(uri, against: self.url)) }
        }
        var known: Set<String> = []
        self.histories = urls.filter { known.insert($0).inserted }.enumerated().map {
            PlaylistHistory(index: $0.offset, url: $0.element)
        }
        for uri in list.iFrameVariants.compactMap({ $0.quoted("URI") }) {
            let url = Location.resolve(uri, against: self.url)
            guard known.insert(url).inserted else { continue }
            self.histories.append(PlaylistHistory(index: self.histories.count, url: url, isIFrames: true))
        }
        for rendition in list.renditions where rendition.plain("TYPE") == "SUBTITLES" {
            guard let uri = rendition.quoted("URI"), case let url = Location.resolve(uri, against: self.url),
                known.insert(url).inserted
            else { continue }
            self.histories.append(PlaylistHistory(index: self.histories.count, url: url, isSubtitles: true))
        }
        return self.histories.map { LintRequest(.playlist($0.index), $0.url) }
            + [LintRequest(.multivariant, self.url, notBefore: self.now &+ 5_000_000_000)]
    }

    private mutating func receivedAgain(_ reply: LintReply) -> [LintRequest] {
        if reply.isGood, reply.body != self.multivariantBytes {
            self.addOnce(.multivariantChanged, "its text has changed since the start", in: self.url)
        }
        return self.isEnded ? [] : [LintRequest(.multivariant, self.url, notBefore: self.now &+ 10_000_000_000)]
    }

    // MARK: Playlists

    private mutating func receivedPlaylist(_ reply: LintReply, _ request: LintRequest, _ index: Int) -> [LintRequest] {
        guard reply.isGood else {
            // The files of an ended playlist may have been removed.
            if self.histories[index].isEnded, request.asked == nil {
                self.histories[index].isSettled = true
                return []
            }
            return self.failedPlaylist(reply, request, index)
        }
        self.histories[index].failures = 0
        self.resume(index, reply)
        let history = self.histories[index]
        var list = MediaListReader.read(PlaylistLines(reply.body))
        for fault in list.faults {
            self.addOnce(fault.rule, fault.what, in: history.url, segment: fault.segment)
        }
        let isDelta = list.skipped > 0
        if isDelta, !self.merge(&list, index) { return [self.nextReload(index, list, reply, isEarly: true)] }
        if request.asksDelta { self.checkDelta(list, wasDelta: isDelta, index) }
        if !isDelta, request.asked == nil {
            self.checkPlaylistHeaders(reply, history.url, target: list.targetSeconds, isLive: !list.isEnded)
        }
        let isEarly = request.asked.map { list.edge < $0 } ?? false
        if isEarly, !list.isEnded {
            self.add(
                .reloadTooEarly,
                "\(Self.query(request.url)) returned a playlist that ends at \(Self.text(list.edge))",
                index)
        }
        let isFirst = history.list == nil
        self.noteEnd(list, index)
        self.checkStatic(list, index)
        self.checkVersion(list, isDelta: isDelta, index)
        if let old = history.list { self.checkUpdate(from: old, to: list, index) }
        self.checkTiming(from: history.list, to: list, index, request, reply)
        self.checkIFrameList(list, index)
        self.checkDateRanges(list, index)
        self.checkHold(list, index, request, reply)
        self.checkReports(list, index, request, reply)
        self.checkAgainstOthers(list, index)
        var requests = self.adopt(list, index, reply)
        if isFirst, list.blocksReload, list.hasParts, !list.isEnded, !reply.isLocal {
            requests += self.probes(list, index)
        }
        if !self.histories[index].isOver { requests.append(self.nextReload(index, list, reply, isEarly: isEarly)) }
        return requests
    }

    static func text(_ edge: MediaList.Edge) -> String {
        edge.part >= 0 ? "segment \(edge.number) part \(edge.part)" : "segment \(edge.number)"
    }

    private mutating func failedPlaylist(_ reply: LintReply, _ request: LintRequest, _ index: Int) -> [LintRequest] {
        self.histories[index].failures += 1
        if request.asked != nil {
            self.add(.reloadUnanswered, "\(Self.query(request.url)): \(reply.reason)", index)
        } else if (300..<400).contains(reply.status) {
            self.addOnce(.redirected, "it redirects with status \(reply.status)", in: index)
        } else {
            self.addOnce(.resourceMissing, reply.reason, in: index)
        }
        guard self.histories[index].failures < Self.mostFailures else { return [] }
        return [LintRequest(.playlist(index), self.histories[index].url, notBefore: self.now &+ 1_000_000_000)]
    }

    /// Returns invalid requests, which every server must answer with status 400.
    private func probes(_ list: MediaList, _ index: Int) -> [LintRequest] {
        let url = self.histories[index].url
        return [
            LintRequest(.probe(index, .reloadPartAlone), Location.adding("_HLS_part=0", to: url)),
            LintRequest(
                .probe(index, .reloadTooFar), Location.adding("_HLS_msn=\(list.edge.number &+ 100)", to: url)),
        ]
    }

    private mutating func nextReload(_ index: Int, _ list: MediaList, _ reply: LintReply, isEarly: Bool) -> LintRequest
    {
        let history = self.histories[index]
        self.histories[index].reloads &+= 1
        guard list.blocksReload, list.hasParts, !list.isEnded, !reply.isLocal else {
            let pause = min(max(list.targetDuration / 3, 200_000_000), 2_000_000_000)
            return LintRequest(.playlist(index), history.url, notBefore: reply.receivedAt &+ pause)
        }
        // Every eighth request is a full reload without blocking: it checks the headers, and the full playlist
        // validates delta updates.
        if history.reloads % 8 == 7 { return LintRequest(.playlist(index), history.url) }
        let asked =
            list.open.map { MediaList.Edge(number: $0.number, part: Int64($0.parts.count)) }
            ?? MediaList.Edge(number: list.nextNumber, part: 0)
        var parameters = "_HLS_msn=\(asked.number)&_HLS_part=\(asked.part)"
        let asksDelta = list.skipBoundary != nil && history.reloads % 2 == 1
        if asksDelta { parameters += "&_HLS_skip=YES" }
        var request = LintRequest(.playlist(index), Location.adding(parameters, to: history.url))
        // A server that does not block is polled with a pause.
        if isEarly { request.notBefore = reply.receivedAt &+ 200_000_000 }
        request.asked = asked
        request.asksDelta = asksDelta
        return request
    }
}
