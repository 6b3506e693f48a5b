/// The remembered state of one media playlist: its last version, a digest of each segment that is listed or must still
/// be available, and the extremes that rules need. Its size depends on the window, not on the duration of the run.
struct PlaylistHistory: Sendable {
    struct Record: Sendable {
        var listed: MediaList.Segment
        /// When it was first listed; for segments of the first version, an estimate from the distance to the end.
        var seenAt: Int64
        /// Sum of EXTINF from the first record to the start of this segment.
        var position: Int64
        var digest: MediaDigest?
        /// By index in the segment.
        var parts: [Int: MediaDigest] = [:]
        var isComparedWithParts = false
        var isGone = false
        /// For an entry of an I-frame playlist: decoding time of its frame, in nanoseconds.
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
    /// Whether EXT-X-I-FRAME-STREAM-INF names it.
    var isIFrames = false
    /// By URI.
    var keys: [String: KeyState] = [:]
    /// The segment of each event, by scheme and id.
    var events: [String: Int64] = [:]
    var list: MediaList?
    var records: [Int64: Record] = [:]
    /// Parts of the incomplete segment, by URI.
    var openParts: [String: MediaDigest] = [:]
    var maps: [MediaList.Map: MapState] = [:]
    /// Replies with segments and parts whose map or key has not arrived yet.
    var waiting: [(request: LintRequest, reply: LintReply)] = []
    var firstAt: Int64 = 0
    var segmentAt: Int64 = 0
    var edgeAt: Int64 = 0
    var isStalled = false
    var longest: Int64 = 0
    var reloads = 0
    var failures = 0
    var hintsAsked: Set<String> = []
    /// Hints that were not answered with a part, and the reason.
    var hintFailures: [String: String] = [:]
    /// Edges of this playlist that other playlists reported, and when.
    var claims: [(edge: MediaList.Edge, at: Int64, by: String)] = []
    /// Edge of the last reply, and its time.
    var known: (edge: MediaList.Edge, at: Int64)?
    var dateRanges: [String: (attributes: [String: AttributeList.Value], seenAt: Int64)] = [:]
    var meter = PeakMeter()
    var meteredNext: Int64?
    /// Media time minus listed time, and date minus media time, with the discontinuity number for which they apply.
    var drift: (number: Int64, low: Int64, high: Int64)?
    var dates: (number: Int64, offset: Int64)?
    var segmentCount = 0
    var partCount = 0
    var byteCount: Int64 = 0
    var hasVideo = false
    /// Frame duration of the video, in nanoseconds.
    var frame: Int64 = 0
    var width: Int64 = 0
    var height: Int64 = 0
    var codecs: Set<String> = []
    /// Channel counts of all initialization segments so far.
    var channels: Set<Int64> = []
    /// Whether its audio is certainly AAC-LC.
    var isPlainAAC = false

    /// Start of an outage, until the first playlist version after it.
    var awaySince: Int64?
    /// When the last playlist version arrived.
    var adoptedAt: Int64?

    /// When EXT-X-ENDLIST was first seen; after that the playlist must not change.
    var endedAt: Int64?
    /// Whether it was read without EXT-X-ENDLIST before.
    var wasLive = false
    /// The segment after those that were listed at the first read.
    var joinedNext: Int64?
    /// The end has been re-read for as long as it could be revoked.
    var isSettled = false

    var isEnded: Bool { self.list?.isEnded == true }
    /// Whether no further reads are needed.
    var isOver: Bool { self.isEnded && self.isSettled || self.failures >= Linter.mostFailures }

    /// When a hinted part had fully arrived, by URI.
    var hintTimes: [String: Int64] = [:]
    /// Delays of the last consecutive blocking reloads after their parts were available.
    var holds: [Int64] = []
    /// The smallest lead of wall-clock time over the media listed since, and the number of the next segment.
    var pace: (least: Int64, listed: Int64, next: Int64)?
    var isSlow = false
    /// Number of consecutive segments that took longer than their duration.
    var slowInRow = 0
    var name: String { Location.withoutQuery(self.url).split(separator: "/").last.map(String.init) ?? self.url }
}

/// The peak segment bit rate by its definition: the highest rate of any contiguous run of segments whose duration is
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
