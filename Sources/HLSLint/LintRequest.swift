/// A request of the linter; the driver performs it and passes the reply back.
package struct LintRequest: Sendable, Hashable {
    enum Purpose: Sendable, Hashable {
        /// The URL from the command line: a multivariant or a media playlist.
        case entry
        case multivariant
        case playlist(Int)
        /// A request that the server must reject.
        case probe(Int, Rule)
        case map(Int, MediaList.Map)
        case key(Int, String)
        case segment(Int, Int64)
        case part(Int, Int64, Int)
        case hint(Int, String)
        case retainedSegment(Int, Int64)
        case retainedPart(Int, String, Int64, Int)
        /// Nothing is fetched: the driver decodes a segment.
        case decoding(Int, Int64)
    }

    let purpose: Purpose
    /// An http(s) URL or a local path.
    package let url: String
    /// HEAD instead of GET: only checks that the object exists.
    package var isHead = false
    /// First byte and number of bytes.
    package var range: (start: Int64, count: Int64)? {
        self.rangeStart.flatMap { start in self.rangeCount.map { (start, $0) } }
    }
    private var rangeStart: Int64?
    private var rangeCount: Int64?
    /// Earliest time of the request: nanoseconds of the driver's clock.
    package var notBefore: Int64 = 0
    /// Position that a blocking reload waits for.
    var asked: MediaList.Edge?
    var asksDelta = false
    /// Samples to decode instead of fetching something; the decoder reports damage in ``LintReply/failure``.
    package private(set) var samples: LintSamples?

    init(_ purpose: Purpose, _ url: String, samples: LintSamples) {
        self.purpose = purpose
        self.url = url
        self.samples = samples
    }

    init(_ purpose: Purpose, _ url: String, byteRange: String? = nil, notBefore: Int64 = 0) {
        self.purpose = purpose
        self.url = url
        self.notBefore = notBefore
        guard let byteRange, let range = Self.range(byteRange) else { return }
        (self.rangeStart, self.rangeCount) = (range.start, range.count)
    }

    /// First byte and number of bytes of an EXT-X-BYTERANGE.
    static func range(_ text: String) -> (start: Int64, count: Int64)? {
        let pieces = text.split(separator: "@")
        guard let count = pieces.first.flatMap({ PlaylistScalars.integer($0) }) else { return nil }
        guard pieces.count > 1 else { return (0, count) }
        return PlaylistScalars.integer(pieces[1]).map { ($0, count) }
    }

    /// Whether it polls a playlist. Polls are dropped at the end of the run, while listed media is still fetched.
    package var isPoll: Bool {
        switch self.purpose {
        case .multivariant, .playlist, .probe, .hint, .retainedSegment, .retainedPart: true
        case .entry, .map, .key, .segment, .part, .decoding: false
        }
    }
}

/// The reply to a request.
package struct LintReply: Sendable {
    /// HTTP status; 200 and 404 for local files; 0 without a reply.
    package var status: Int
    /// Why there was no reply.
    package var failure: String?
    /// Lower-case names.
    package var headers: [String: String]
    /// After decoding any content encoding.
    package var body: [UInt8]
    /// Nanoseconds of the driver's clock.
    package var sentAt: Int64
    package var receivedAt: Int64
    package var isLocal: Bool

    package init(
        status: Int, failure: String? = nil, headers: [String: String] = [:], body: [UInt8] = [], sentAt: Int64,
        receivedAt: Int64, isLocal: Bool = false
    ) {
        self.status = status
        self.failure = failure
        self.headers = headers
        self.body = body
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.isLocal = isLocal
    }

    var isGood: Bool { self.status == 200 || self.status == 206 }
    var reason: String { self.failure ?? "the status is \(self.status)" }
}
