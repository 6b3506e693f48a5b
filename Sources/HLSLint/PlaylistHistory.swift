/// What is remembered of one media playlist: its last text, a digest of each segment that is listed or must still be
/// there, and the extremes that rules need. Grows with the window, not with time.
struct PlaylistHistory: Sendable {
    struct Record: Sendable {
        var listed: MediaList.Segment
        /// When it was first listed, or an estimate from its distance to the end for what was there at first.
        var seenAt: Int64
        /// Sum of EXTINF from the first record to its start.
        var position: Int64
        var digest: MediaDigest?
        /// By index.
        var parts: [Int: MediaDigest] = [:]
        var isComparedWithParts = false
        var isGone = false
        /// Of an entry of an I-frame playlist: decoding time of its picture, in nanoseconds.
        var iFrameStart: Int64?
    }

    enum MapState: Sendable {
        case asked
        case known(InitializationFacts)
        case failed
    }

    enum KeyState: Sendable {
        case asked
        case known([UInt8])
        case failed
    }

    let index: Int
    var url: String
    /// EXT-X-I-FRAME-STREAM-INF names it.
    var isIFrames = false
    /// By URI.
    var keys: [String: KeyState] = [:]
    /// Which segment an event is in, by scheme and id.
    var events: [String: Int64] = [:]
    var list: MediaList?
    var records: [Int64: Record] = [:]
    /// Parts of the segment that is not whole, by URI.
    var openParts: [String: MediaDigest] = [:]
    var maps: [MediaList.Map: MapState] = [:]
    /// Segments and parts whose map has not come yet.
    var waiting: [(request: LintRequest, reply: LintReply)] = []
    var firstAt: Int64 = 0
    var segmentAt: Int64 = 0
    var edgeAt: Int64 = 0
    var isStalled = false
    var longest: Int64 = 0
    var reloads = 0
    var failures = 0
    var hintsAsked: Set<String> = []
    /// Hints that were not answered with a part, and why.
    var hintFailures: [String: String] = [:]
    /// What other playlists said this one has, and when.
    var claims: [(edge: MediaList.Edge, at: Int64, by: String)] = []
    /// Edge of the last reply, and when that reply came.
    var known: (edge: MediaList.Edge, at: Int64)?
    var dateRanges: [String: (attributes: [String: AttributeList.Value], seenAt: Int64)] = [:]
    var meter = PeakMeter()
    var meteredNext: Int64?
    /// Media time less listed time, and date less media time, with the discontinuity number they hold for.
    var drift: (number: Int64, low: Int64, high: Int64)?
    var dates: (number: Int64, offset: Int64)?
    var segmentCount = 0
    var partCount = 0
    var byteCount: Int64 = 0
    var hasVideo = false
    /// Of the pictures, in nanoseconds.
    var frame: Int64 = 0
    var width: Int64 = 0
    var height: Int64 = 0
    var codecs: Set<String> = []
    /// Audio channels, of all initialization segments so far.
    var channels: Set<Int64> = []
    /// Its audio is AAC-LC for certain.
    var isPlainAAC = false

    /// Nobody answers since, and no list has come yet.
    var awaySince: Int64?
    /// When the last list came.
    var adoptedAt: Int64?

    init(index: Int, url: String, isIFrames: Bool = false) {
        self.index = index
        self.url = url
        self.isIFrames = isIFrames
    }

    /// When EXT-X-ENDLIST was first seen; it must stay, and the list as it is.
    var endedAt: Int64?
    /// It was read without EXT-X-ENDLIST before.
    var wasLive = false
    /// The segment behind those that were listed when it was first read.
    var joinedNext: Int64?
    /// The end has been read again for as long as it can be taken back.
    var isSettled = false

    var isEnded: Bool { self.list?.isEnded == true }
    /// Nothing more is to be learned from it.
    var isOver: Bool { self.isEnded && self.isSettled || self.failures >= Linter.mostFailures }

    /// When a hinted part came whole, by URI.
    var hintTimes: [String: Int64] = [:]
    /// How much later than its part a blocking reload was answered, of the last replies in a row.
    var holds: [Int64] = []
    /// The least that wall time was ahead of the media listed since, and the number of the next segment.
    var pace: (least: Int64, listed: Int64, next: Int64)?
    var isSlow = false
    /// Segments in a row that took longer than they last.
    var slowInRow = 0
    var name: String { Location.withoutQuery(self.url).split(separator: "/").last.map(String.init) ?? self.url }
}

/// The peak segment bit rate by its definition: the highest rate of any contiguous run of segments whose duration lies
/// between half the target duration and one and a half of it plus half a second. Spec: rfc8216bis §4.1, §4.4.6.2.
struct PeakMeter: Sendable {
    private var recent: [(duration: Int64, bytes: Int64)] = []
    private(set) var totalDuration: Int64 = 0
    private(set) var totalBytes: Int64 = 0
    /// Bits per second.
    private(set) var peak: Int64 = 0

    var average: Int64 { Self.rate(self.totalBytes, self.totalDuration) }

    mutating func append(duration: Int64, bytes: Int64, target: Int64) {
        guard duration > 0 else { return }
        self.totalDuration &+= duration
        self.totalBytes &+= bytes
        self.recent.append((duration, bytes))
        let (shortest, longest) = (target / 2, target / 2 * 3 + 500_000_000)
        var run = (duration: Int64(0), bytes: Int64(0))
        var kept = 0
        for entry in self.recent.reversed() {
            run = (run.duration &+ entry.duration, run.bytes &+ entry.bytes)
            guard run.duration <= longest else { break }
            kept += 1
            if run.duration >= shortest { self.peak = max(self.peak, Self.rate(run.bytes, run.duration)) }
        }
        self.recent.removeFirst(self.recent.count - kept)
    }

    mutating func interrupt() { self.recent.removeAll() }

    private static func rate(_ bytes: Int64, _ duration: Int64) -> Int64 {
        duration > 0 ? Int64(clamping: Int128(bytes) * 8_000_000_000 / Int128(duration)) : 0
    }
}
