/// The state that the linter stores for one media playlist: its last version, a digest of each segment that is listed
/// or must still be available, and measurements for the rules. Its size depends on the length of the playlist, not on
/// the duration of the run.
struct PlaylistHistory: Sendable {
    /// The state of one segment.
    struct Record: Sendable {
        var listed: MediaList.Segment
        /// Time at which the segment was first listed; for segments of the first playlist version, an estimate from the
        /// distance to the end.
        var seenAt: Int64
        /// Sum of EXTINF from the first segment that was ever listed to the start of this one, in nanoseconds.
        var position: Int64
        var digest: MediaDigest?
        /// Digests of the segment's parts, by index in the segment.
        var parts: [Int: MediaDigest] = [:]
        var isComparedWithParts = false
        var isGone = false
        /// For an entry of an I-frame playlist, the decoding time of its frame in nanoseconds.
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
    /// Whether the playlist is listed with EXT-X-I-FRAME-STREAM-INF.
    var isIFrames = false
    /// Whether the playlist is that of a rendition of type SUBTITLES.
    var isSubtitles = false
    /// The encryption keys by URI.
    var keys: [String: KeyState] = [:]
    /// Media sequence number of the segment of each event, by scheme and id.
    var events: [String: Int64] = [:]
    var list: MediaList?
    var records: [Int64: Record] = [:]
    /// Digests of parts of the incomplete segment, and of hinted parts, by URI with `@` and the byte range if there is
    /// one.
    var openParts: [String: MediaDigest] = [:]
    var maps: [MediaList.Map: MapState] = [:]
    /// Replies with segments and parts whose initialization segment or key has not arrived yet.
    var waiting: [(request: LintRequest, reply: LintReply)] = []
    var firstAt: Int64 = 0
    var segmentAt: Int64 = 0
    var edgeAt: Int64 = 0
    var isStalled = false
    var longest: Int64 = 0
    var reloads = 0
    var failures = 0
    var hintsAsked: Set<String> = []
    /// URIs of hinted parts that could not be fetched, with the reason.
    var hintFailures: [String: String] = [:]
    /// Positions of this playlist's end that other playlists reported, with the time and the name of the reporting
    /// playlist.
    var claims: [(edge: MediaList.Edge, at: Int64, by: String)] = []
    /// Position of the playlist's end in the last reply, and the time of the reply; `nil` at the start and after an
    /// outage.
    var known: (edge: MediaList.Edge, at: Int64)?
    var dateRanges: [String: (attributes: [String: AttributeList.Value], seenAt: Int64)] = [:]
    var meter = PeakMeter()
    var meteredNext: Int64?
    /// Lowest and highest difference of media time and the sum of EXTINF, with the discontinuity number for which they
    /// apply.
    var drift: (number: Int64, low: Int64, high: Int64)?
    /// Difference of date and media time, with the discontinuity number for which it applies.
    var dates: (number: Int64, offset: Int64)?
    var segmentCount = 0
    var partCount = 0
    var byteCount: Int64 = 0
    var hasVideo = false
    /// Shortest frame duration of the video so far, in nanoseconds; 0 before the first.
    var frame: Int64 = 0
    var width: Int64 = 0
    var height: Int64 = 0
    var codecs: Set<String> = []
    /// Channel counts of all initialization segments so far.
    var channels: Set<Int64> = []
    /// Whether an initialization segment of the playlist has audio that is certainly AAC-LC.
    var isPlainAAC = false

    /// Start of an outage; `nil` again after the first playlist version after it.
    var awaySince: Int64?
    /// Time at which the last playlist version arrived.
    var adoptedAt: Int64?

    /// Time at which EXT-X-ENDLIST was first read; after that the playlist must not change.
    var endedAt: Int64?
    /// Whether the playlist was read without EXT-X-ENDLIST before.
    var wasLive = false
    /// Media sequence number after the segments of the first playlist version.
    var joinedNext: Int64?
    /// Whether the ended playlist need not be read again: it was read for long enough to detect an end that is revoked,
    /// or it can no longer be read.
    var isSettled = false

    var isEnded: Bool { self.list?.isEnded == true }
    /// Whether no further reads are needed.
    var isOver: Bool { self.isEnded && self.isSettled || self.failures >= Linter.mostFailures }

    /// Times at which hinted parts were completely received, by URI.
    var hintTimes: [String: Int64] = [:]
    /// Delays in nanoseconds of the last blocking reloads after their parts were available.
    var holds: [Int64] = []
    /// The smallest difference of wall-clock time and the duration of the media listed so far, that duration, and the
    /// number of the next segment.
    var pace: (least: Int64, listed: Int64, next: Int64)?
    var isSlow = false
    /// Number of consecutive segments that took longer than their duration.
    var slowInRow = 0
    var name: String { Location.withoutQuery(self.url).split(separator: "/").last.map(String.init) ?? self.url }
}

/// Measures the peak segment bit rate as HLS defines it: the highest rate of any contiguous run of segments whose
/// duration is between 0.5 target durations and 1.5 target durations plus half a second. Spec: rfc8216bis §4.1,
/// §4.4.6.2.
struct PeakMeter: Sendable {
    private var recent: [(duration: Int64, bytes: Int64)] = []
    private(set) var totalDuration: Int64 = 0
    private(set) var totalBytes: Int64 = 0
    /// Peak segment bit rate in bits per second.
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
