/// A request of the linter. The driver performs it and passes the reply back.
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
        /// The driver decodes a segment instead of fetching something.
        case decoding(Int, Int64)
    }

    let purpose: Purpose
    /// The HTTP or HTTPS URL or local path to fetch.
    package let url: String
    /// Whether to use HEAD instead of GET, to check only that the object exists.
    package var isHead = false
    /// First byte and number of bytes to request; `nil` for the whole object.
    package var range: (start: Int64, count: Int64)? {
        self.rangeStart.flatMap { start in self.rangeCount.map { (start, $0) } }
    }
    private var rangeStart: Int64?
    private var rangeCount: Int64?
    /// Earliest time of the request: nanoseconds of the driver's clock.
    package var notBefore: Int64 = 0
    /// Position that a blocking playlist reload waits for; `nil` for other requests.
    var asked: MediaList.Edge?
    /// Whether the request asks for a delta update.
    var asksDelta = false
    /// Samples to decode instead of fetching something; `nil` for a fetch. The decoder reports damage in
    /// ``LintReply/failure``.
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

    /// Parses an EXT-X-BYTERANGE value into its first byte, 0 without an offset, and number of bytes; `nil` if it is
    /// invalid.
    static func range(_ text: String) -> (start: Int64, count: Int64)? {
        let pieces = text.split(separator: "@")
        guard let count = pieces.first.flatMap({ PlaylistScalars.integer($0) }) else { return nil }
        guard pieces.count > 1 else { return (0, count) }
        return PlaylistScalars.integer(pieces[1]).map { ($0, count) }
    }

    /// Whether the request is dropped at the end of the run, such as a playlist reload. Requests for listed media are
    /// still performed.
    package var isPoll: Bool {
        switch self.purpose {
        case .multivariant, .playlist, .probe, .hint, .retainedSegment, .retainedPart: true
        case .entry, .map, .key, .segment, .part, .decoding: false
        }
    }
}

/// The reply to a request of the linter.
package struct LintReply: Sendable {
    /// HTTP status; 200 or 404 for local files; 0 if there was no reply; 200 for decoding.
    package var status: Int
    /// Reason why there was no reply or why a file could not be read, or the damage that a decoder found; otherwise
    /// `nil`.
    package var failure: String?
    /// Header fields, with names in lower case.
    package var headers: [String: String]
    /// The body after any content encoding is decoded.
    package var body: [UInt8]
    /// Time at which the request was sent: nanoseconds of the driver's clock.
    package var sentAt: Int64
    /// Time at which the reply was complete: nanoseconds of the driver's clock.
    package var receivedAt: Int64
    /// Whether the object is a local file.
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
