/// A parsed media playlist. Durations and dates are nanoseconds. Spec: rfc8216bis §4.4.
struct MediaList: Sendable, Hashable {
    struct Map: Sendable, Hashable {
        let uri: String
        /// Value of the BYTERANGE attribute as written (`n[@o]`); `nil` without one.
        let byteRange: String?
    }

    struct Part: Sendable, Hashable {
        let uri: String
        let byteRange: String?
        let duration: Int64
        let isIndependent: Bool
        let isGap: Bool
    }

    struct Segment: Sendable, Hashable {
        /// Media sequence number.
        let number: Int64
        var uri: String
        var duration: Int64
        var hasDiscontinuity = false
        /// Discontinuity sequence number.
        var discontinuityNumber: Int64 = 0
        var date: Int64?
        /// The initialization segment; `nil` if there is none or, in a delta update, if it is that of the previous
        /// segment.
        var map: Map?
        /// The attributes of the EXT-X-KEY that applies to the segment; empty if it is not encrypted.
        var key = ""
        var isGap = false
        var byteRange: String?
        var parts: [Part] = []
    }

    struct Hint: Sendable, Hashable {
        let type: String
        let uri: String
        /// Whether the hint is a byte range of the URI.
        let isRange: Bool
    }

    struct Report: Sendable, Hashable {
        let uri: String
        let lastNumber: Int64?
        let lastPart: Int64?
    }

    struct DateRange: Sendable, Hashable {
        let id: String
        let attributes: [String: AttributeList.Value]
    }

    var version: Int64 = 1
    var neededVersion: Int64 = 1
    var targetSeconds: Int64?
    var mediaSequence: Int64 = 0
    var discontinuitySequence: Int64 = 0
    var hasDiscontinuitySequence = false
    var type: String?
    var isEnded = false
    var isIndependent = false
    var isIFramesOnly = false
    /// The text of the EXT-X-SERVER-CONTROL tag after the colon; `nil` without this tag.
    var serverControl: String?
    var control = AttributeList("")
    /// PART-TARGET in nanoseconds; `nil` without EXT-X-PART-INF.
    var partTarget: Int64?
    var skipped: Int64 = 0
    var segments: [Segment] = []
    /// The incomplete segment, whose URI is empty, with its parts; `nil` if no part of it is listed.
    var open: Segment?
    var hints: [Hint] = []
    var reports: [Report] = []
    var dateRanges: [DateRange] = []
    /// IDs of the date ranges that a delta update lists as removed.
    var removedDateRanges: [String] = []
    var faults: [PlaylistFault] = []

    var targetDuration: Int64 { min(self.targetSeconds ?? 1, 10_000_000) &* 1_000_000_000 }
    var nextNumber: Int64 { (self.segments.last?.number ?? self.mediaSequence &+ self.skipped &- 1) &+ 1 }
    var duration: Int64 { self.segments.reduce(0) { $0 &+ $1.duration } }
    var hasParts: Bool { self.open != nil || self.segments.contains { !$0.parts.isEmpty } }
    var blocksReload: Bool { self.control.isYes("CAN-BLOCK-RELOAD") }
    /// CAN-SKIP-UNTIL in nanoseconds; `nil` without this attribute.
    var skipBoundary: Int64? { self.control.nanoseconds("CAN-SKIP-UNTIL") }

    /// The position of the newest part, or of the newest segment if there are no parts.
    var edge: Edge {
        if let open { return Edge(number: open.number, part: Int64(open.parts.count) - 1) }
        return Edge(number: self.nextNumber &- 1, part: Int64(self.segments.last?.parts.count ?? 0) - 1)
    }

    /// A position in the playlist: a segment and a part of it. The part is -1 if the segment lists no parts.
    struct Edge: Sendable, Hashable, Comparable {
        var number: Int64
        var part: Int64

        static func < (left: Edge, right: Edge) -> Bool { (left.number, left.part) < (right.number, right.part) }
    }
}
